"""Commits and rows of a run with k tool calls, however many tokens it says.

Counted from outside, on a PostgreSQL of its own, from the posted message to the end of the run: its log tells how
many transactions wrote something, its tables how many rows there are more than before. Each call is asked for in a
turn of its own, which is the costliest way. The worker neither beats nor sweeps meanwhile.
"""

from dataclasses import dataclass

import psycopg

from benchmarks.figure import Figure, Options, exactly
from benchmarks.site import ECHO, site
from tests import databases
from tests.e2e.program import Program

CALLS = (0, 1, 3, 10, 30)
TOKENS = (10, 2_000)
STILL = {"LEASE_SECONDS": "3600", "BEAT_SECONDS": "1800", "SWEEP_SECONDS": "3600"}
CALL = '[[call calculator {{"expression": "6*{number}"}}]]'
"""Each one different: a run that repeats itself is told so, and stopped."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run wrote. ``tokens``: of its answer."""

    calls: int
    tokens: int
    commits: int
    rows: int

    @property
    def commits_over(self) -> int:
        return self.commits - (4 + 3 * self.calls)

    @property
    def rows_over(self) -> int:
        return self.rows - (12 + 8 * self.calls)

    def line(self) -> str:
        return (
            f"{self.calls:4} calls, {self.tokens:5,} tokens: {self.commits:3} commits (≤ {4 + 3 * self.calls}), "
            f"{self.rows:3} rows (≤ {12 + 8 * self.calls})"
        )


class Database:
    """How much has been written to a PostgreSQL so far."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        names = self._all("SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'")
        self._count = " + ".join(f"(SELECT count(*) FROM {name})" for (name,) in names)

    def log_end(self) -> str:
        """Where the log ends now, all of it written out."""
        self._connection.execute("CHECKPOINT")
        return str(self._all("SELECT pg_current_wal_flush_lsn()")[0][0])

    def commits(self, since: str) -> int:
        """How many transactions that wrote something were committed behind this place of the log."""
        question = (
            f"SELECT count(*) FROM pg_get_wal_records_info('{since}', '{self.log_end()}') "
            "WHERE resource_manager = 'Transaction' AND record_type LIKE 'COMMIT%'"
        )
        return int(self._all(question)[0][0])

    def rows(self) -> int:
        return int(self._all(f"SELECT {self._count}")[0][0])

    def note_tokens_as_used(self) -> None:
        """When a token of the API was used is written once a minute, which belongs to no run."""
        self._connection.execute("UPDATE teams_apitoken SET used_at = now()")

    def _all(self, question: str) -> list[tuple]:
        return self._connection.execute(question).fetchall()


def measure(options: Options) -> list[Figure]:
    with (
        site(database=databases.POSTGRES, **STILL) as place,
        psycopg.connect(str(place.stack.settings.database_url), autocommit=True) as connection,
    ):
        connection.execute("CREATE EXTENSION pg_walinspect")
        connection.execute("ALTER SYSTEM SET autovacuum = off")
        connection.execute("SELECT pg_reload_conf()")
        costs = _costs(place.program(), Database(connection), options.runs or max(CALLS))
    return [
        exactly("B13 tokens", _by_tokens(costs), "commits and rows that depend on tokens", 0),
        _not_over("B13 commits", max(cost.commits_over for cost in costs), "commits over 4 + 3k"),
        _not_over("B13 rows", max(cost.rows_over for cost in costs), "rows over 12 + 8k"),
    ]


def _not_over(id: str, over: int, unit: str) -> Figure:
    return Figure(id, over, unit, "≤ 0", "", over <= 0)


def _costs(program: Program, database: Database, most: int) -> list[Cost]:
    conversation = program.converse(ECHO)
    _play(program, conversation, calls=1, tokens=5)  # the agent's first run also makes its snapshot
    return [_cost(program, database, calls, tokens) for calls in CALLS if calls <= most for tokens in TOKENS]


def _cost(program: Program, database: Database, calls: int, tokens: int) -> Cost:
    conversation = program.converse(ECHO)
    database.note_tokens_as_used()
    before, rows = database.log_end(), database.rows()
    _play(program, conversation, calls, tokens)
    cost = Cost(calls, tokens, database.commits(before), database.rows() - rows)
    print(cost.line(), flush=True)
    return cost


def _play(program: Program, conversation: str, calls: int, tokens: int) -> None:
    asked = [CALL.format(number=number) for number in range(calls)]
    text = " ".join([*asked, f"[[tokens={tokens} rate=0 ttft=0]]"])
    run = program.finish(program.send(conversation, text))
    assert (run["outcome"], run["usage"]["tool_calls"]) == ("answered", calls), run


def _by_tokens(costs: list[Cost]) -> int:
    """How far runs with the same calls differ."""
    return sum(
        abs(few.commits - many.commits) + abs(few.rows - many.rows)
        for few, many in zip(costs[::2], costs[1::2], strict=True)
    )
