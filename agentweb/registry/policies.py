"""The policy that the loop asks: risk levels and rules as they are now, in one query for all calls of a judgement."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol

from django.db.models import BigAutoField, Case, CharField, Field, Value, When
from django.db.models.functions import Concat

from agentweb.engine.enums import Risk
from agentweb.engine.events import Passage
from agentweb.engine.messages import ToolCall
from agentweb.engine.ports import Allow, Ask, Deny, ToolSpec, Verdict
from agentweb.policy import stored
from agentweb.policy.grants import Grant, wants_grant, with_grants
from agentweb.policy.judging import judge
from agentweb.policy.rules import Facts, Rule
from agentweb.registry.models import Policy, PolicyVersion, Tool
from agentweb.teams import fixed
from agentweb.teams.models import Membership

OFF = Deny("tool switched off", "an admin has switched this tool off")
GONE = Deny("tool not set up", "this tool is not set up here any more")
DRAFT = Deny("tool is a draft", "no admin has released this tool yet")
HELD = Deny("tool on hold", "this tool is on hold: its source changed it or offers it no more; an admin must look")
CHANGED = Deny("tool changed", "this tool was changed a moment ago; as it is now it can be called in the next run")
UNSEEN = "the call was only found in the text of an answer, which a person must see, and nobody attends this run"
NOBODY_ID = 0  # no row has it
TOOL, POLICY, ROLE = "tool", "policy", "role"
UNTRUSTED, OUTBOUND = "u", "o"
REFUSED = {"-": OFF, "d": DRAFT, "h": HELD}  # by mark, the weightiest first


@dataclass(frozen=True, slots=True)
class Who:
    """For whom a call is judged: row ids of the agent, the team, and the person who asked for it. None: unknown."""

    agent: int | None = None
    team: int | None = None
    user: int | None = None


Row = tuple[str, str, str, str]
"""What the query gives: the kind, the name (or the role itself), the risk level or digest, and a tool's marks."""


@dataclass(frozen=True, slots=True)
class Basis:
    """On what a judgement rests: the ``rows`` that stood for the calls of these ``tools`` for ``who``, and whether
    untrusted text had been read, None where that did not matter. With the same, the same would be judged."""

    tools: tuple[str, ...]
    who: Who
    rows: frozenset[Row]
    tainted: bool | None

    @property
    def slots(self) -> dict[str, Any]:
        return slots(self.tools, self.who)


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts at this moment: the risk level of each tool that may be used, the rules, and the person's role; of
    the tools, those that return ``untrusted`` text and those that send something ``outbound``, which ones may not be
    used and why (``refused``), and of those from outside the ``digests`` of their definitions. ``rows``: all of it."""

    risks: dict[str, Risk]
    rules: tuple[Rule, ...]
    role: str | None
    untrusted: frozenset[str] = frozenset()
    outbound: frozenset[str] = frozenset()
    rows: frozenset[Row] = frozenset()
    refused: Mapping[str, Deny] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, spec: ToolSpec) -> Deny | None:
        """Why the tool may not be used at all, as the loop found it."""
        if spec.name not in self.risks:
            return self.refused.get(spec.name, GONE)
        return None if self.digests.get(spec.name, spec.digest) == spec.digest else CHANGED

    @property
    def asks_for_taint(self) -> bool:
        return any(rule.tainted is not None for rule in self.rules)


class Surroundings(Protocol):
    """What else is known where a call is judged; looked up when it matters."""

    @property
    def attended(self) -> bool:
        """Whether somebody is there who could be asked."""
        ...

    def passages(self) -> tuple[Passage, ...]:
        """Texts from untrusted sources that were read before, as far as people should see them."""
        ...

    def grants(self, tools: Sequence[str]) -> Sequence[Grant]:
        """What people have agreed to beforehand for calls of these tools."""
        ...


class Nothing:
    """Nothing else is known."""

    attended = True

    def passages(self) -> tuple[Passage, ...]:
        return ()

    def grants(self, tools: Sequence[str]) -> Sequence[Grant]:
        return ()


NOTHING = Nothing()


class LivePolicy:
    """Rules and risk levels count from the next call on, so they are looked up at each judgement.

    ``basis``: on what the last judgement rests, None before the first."""

    def __init__(
        self,
        in_thread: Callable[[Callable[[], tuple[Verdict, ...]]], Awaitable[tuple[Verdict, ...]]],
        who: Who = Who(),
        around: Surroundings = NOTHING,
    ) -> None:
        self._in_thread = in_thread
        self._who = who
        self._around = around
        self.basis: Basis | None = None

    async def judge(self, calls: tuple[tuple[ToolCall, ToolSpec], ...]) -> tuple[Verdict, ...]:
        return await self._in_thread(lambda: self._judge(calls))

    def _judge(self, calls: tuple[tuple[ToolCall, ToolSpec], ...]) -> tuple[Verdict, ...]:
        tools = {spec.name for _call, spec in calls}
        now = standing(tools, self._who)
        acting = {spec.name for _call, spec in calls if not spec.reads or spec.name in now.outbound}
        looks = bool(acting) or now.asks_for_taint
        read = self._around.passages() if looks else ()
        self.basis = Basis(tuple(sorted(tools)), self._who, now.rows, bool(read) if looks else None)
        judged = [(self._one(now, call, spec, read, acts=spec.name in acting), call, spec) for call, spec in calls]
        asked = sorted({spec.name for verdict, call, spec in judged if wants_grant(verdict, call)})
        grants = self._around.grants(asked) if asked else ()
        return tuple(with_grants(verdict, call, spec, grants) for verdict, call, spec in judged)

    def _one(self, now: Standing, call: ToolCall, spec: ToolSpec, read: tuple[Passage, ...], *, acts: bool) -> Verdict:
        more = {"tainted": bool(read), "attended": self._around.attended, "acts": acts}
        refusal = now.refusal(spec)
        known = None if refusal else facts(now, self._who, spec.name, call.arguments, **more)
        if known is None:
            return refusal or OFF
        verdict, untrusted = judge(now.rules, known).verdict, spec.name in now.untrusted
        match verdict:
            case Ask():
                return replace(verdict, untrusted=untrusted, passages=read)
            case Allow(rule=rule) if call.recovered and not known.attended:
                return Deny(rule, UNSEEN)
            case Allow():
                return replace(verdict, untrusted=untrusted)
            case _:
                return verdict


def facts(now: Standing, who: Who, tool: str, arguments: Any, **more: bool) -> Facts | None:
    """What is known of a call; None for a tool that may not be used at all."""
    risk = now.risks.get(tool)
    if risk is None:
        return None
    return Facts(tool, risk, arguments, who.agent, who.team, who.user, now.role, **more)


def standing(tools: set[str], who: Who) -> Standing:
    """What counts now for these tools. One query; one more for each version of a policy that is new to this process."""
    names = tuple(sorted(tools))
    rows = _look(len(names)).all(**slots(names, who))
    policies = sorted((name, digest) for kind, name, digest, _flags in rows if kind == POLICY)
    found = [(name, risk, *flags.split("|")) for kind, name, risk, flags in rows if kind == TOOL]
    refused = {name: why for name, _risk, flags, _digest in found if (why := _why_not(flags))}
    return Standing(
        risks={name: Risk(risk) for name, risk, *_more in found if name not in refused},
        untrusted=frozenset(name for name, _risk, flags, _digest in found if UNTRUSTED in flags),
        outbound=frozenset(name for name, _risk, flags, _digest in found if OUTBOUND in flags),
        refused=refused,
        digests={name: digest for name, _risk, _flags, digest in found if digest},
        rules=tuple(rule for name, digest in policies for rule in _rules(name, digest)),
        role=next((role for kind, role, *_empty in rows if kind == ROLE), None),
        rows=frozenset(rows),
    )


def slots(tools: Sequence[str], who: Who) -> dict[str, Any]:
    """The values of ``fields`` for these tools and this person."""
    named = {f"tool{place}": name for place, name in enumerate(tools)}
    return {**named, "team": who.team or NOBODY_ID, "user": who.user or NOBODY_ID}


def fields(number: int) -> dict[str, Field]:
    """What the query of what stands is given, for so many tools."""
    named: dict[str, Field] = {f"tool{place}": CharField() for place in range(number)}
    return {**named, "team": BigAutoField(), "user": BigAutoField()}


@lru_cache(maxsize=32)
def _look(number: int) -> fixed.Query:
    """The query for so many tools."""
    return fixed.Query(standing_rows, **fields(number))


def standing_rows(*more: Any, team: Any, user: Any, **tools: Any) -> Any:
    """All that stands for these tools and this person, as rows, and ``more`` queries of such rows in the same one. A
    tool's marks have the digest of its definition behind them."""
    found = Tool.objects.filter(name__in=list(tools.values())).order_by()
    policies = Policy.objects.filter(enabled=True).order_by()
    roles = Membership.objects.filter(team=team, user=user).order_by()
    marks = Concat(
        _mark(UNTRUSTED, untrusted=True),
        _mark(OUTBOUND, outbound=True),
        _mark("-", enabled=False),
        _mark("d", state=Tool.State.DRAFT),
        _mark("h", state=Tool.State.HELD),
        text("|"),
        "digest",
        output_field=CharField(),
    )
    return found.values_list(text(TOOL), "name", "risk", marks).union(
        policies.values_list(text(POLICY), "name", "digest", text("")),
        roles.values_list(text(ROLE), "role", text(""), text("")),
        *more,
        all=True,
    )


def _mark(letter: str, **holds: Any) -> Case:
    return Case(When(**holds, then=text(letter)), default=text(""), output_field=CharField())


def _why_not(marks: str) -> Deny | None:
    return next((why for mark, why in REFUSED.items() if mark in marks), None)


def text(value: str) -> Value:
    return Value(value, output_field=CharField())


def _rules(name: str, digest: str) -> tuple[Rule, ...]:
    try:
        return _version(digest)
    except (LookupError, ValueError):  # a policy that nobody can read must not be one that says nothing
        return (stored.broken(name, 0),)


@lru_cache(maxsize=128)
def _version(digest: str) -> tuple[Rule, ...]:
    """The rules of a version, read once in the life of a process: what has this digest never changes.

    Raises LookupError where there is no such version, ValueError where it holds no JSON."""
    row = PolicyVersion.objects.filter(digest=digest).order_by().first() if digest else None
    if row is None:
        raise LookupError(digest)
    return rules_in(row)


def rules_in(row: PolicyVersion) -> tuple[Rule, ...]:
    """The rules of a version. Raises ValueError where it holds no JSON."""
    return stored.read(row.name, row.version, json.loads(row.rules))
