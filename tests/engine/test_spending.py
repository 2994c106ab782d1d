"""A run within budgets: it pauses at the soft limit, goes on with what people grant, and sums up at the hard one."""

from dataclasses import dataclass, replace
from decimal import Decimal

import pytest

from agentweb.engine.budgets import Budget, Grant, amount
from agentweb.engine.enums import DecisionKind, Outcome, Purpose, Reason, Unit
from agentweb.engine.events import QuestionAsked, QuestionDecided, Queued, RunFinished
from agentweb.engine.usage import Limits, Usage
from tests.engine.fakes import Shell, tool
from tests.engine.scripted_model import Says, call

TURN = Usage(input_tokens=90, output_tokens=10, cost=Decimal("0.5"))


@dataclass
class Pot:
    """One budget over what the shell has recorded, with what others have spent, and the grants in the record."""

    shell: Shell
    unit: Unit
    limit: int
    share: str | None = "0.5"
    others: Decimal = Decimal(0)

    async def current(self) -> tuple[Budget, ...]:
        share = Decimal(self.share) if self.share else None
        spent = self.others + amount(self.shell.usage, self.unit)
        return (Budget("b1", "p1", self.unit, Decimal(self.limit), share, spent, tuple(self._grants())),)

    def _grants(self) -> list[Grant]:
        asked = {event.approval: event for event in self.shell.events if isinstance(event, QuestionAsked)}
        said = [event for event in self.shell.events if isinstance(event, QuestionDecided) and event.arguments]
        return [
            Grant(Decimal(str(one.arguments["amount"])), Decimal(asked[one.approval].facts["spent"])) for one in said
        ]


def shell(turns: int, limit: int, unit: Unit = Unit.TOKENS, **pot) -> Shell:
    """A model that calls a tool in so many turns, for 100 tokens and half a unit of money each, then answers."""
    script = [Says("", (call(f"c{n}", x=n),), usage=TURN) for n in range(turns)]
    made = Shell(*script, Says("Done", usage=TURN), tools=(tool("write"),), limits=Limits(max_turns=30))
    made.setup = replace(made.setup, budgets=Pot(made, unit, limit, **pot))
    return made


def end(run: Shell) -> RunFinished:
    last = run.events[-1]
    assert isinstance(last, RunFinished)
    return last


def asked(run: Shell) -> list[QuestionAsked]:
    return [event for event in run.events if isinstance(event, QuestionAsked)]


@pytest.mark.parametrize(
    ("unit", "limit", "reason"),
    [(Unit.TOKENS, 200, Reason.TOKENS), (Unit.COST, 1, Reason.COST), (Unit.SECONDS, 3, Reason.TIME)],
)
async def test_a_used_up_budget_lets_the_model_sum_up_and_ends_the_run(unit: Unit, limit: int, reason: Reason) -> None:
    run = shell(3, limit, unit, share=None)
    run.model.script[2:] = [Says("This much is done", usage=TURN)]
    await run.go()

    assert [request.purpose for request in run.model.requests] == [Purpose.TURN, Purpose.TURN, Purpose.WRAP_UP]
    assert (end(run).outcome, end(run).reason) == (Outcome.LIMIT_REACHED, reason)
    assert asked(run) == []


async def test_a_run_that_begins_without_anything_left_asks_no_model() -> None:
    run = shell(0, 100, share=None, others=Decimal(100))
    await run.go()
    assert run.kinds == ["RunFinished"]
    assert end(run).reason is Reason.TOKENS
    assert run.model.requests == []


async def test_at_the_soft_limit_it_tells_how_things_stand_and_asks() -> None:
    run = await shell(9, 600).go()

    (question,) = asked(run)
    assert run.kinds[-1] == "ToolFinished TurnFinished QuestionAsked RunPaused"
    assert question.facts == {
        "budget": "b1",
        "pot": "p1",
        "unit": "tokens",
        "limit": "600",
        "spent": "300",
        "next": "100",
        "turns": 3,
    }
    assert question.offer == {"amount": 150, "compact": False}
    assert question.admins


@pytest.mark.parametrize(("kind", "given", "until"), [("approve", None, 525), ("modify", 1000, 950), ("modify", 0, 0)])
async def test_it_goes_on_with_what_people_grant_until_half_of_that_is_gone(kind, given, until) -> None:
    run = await shell(20, 600).go()
    run.say(DecisionKind(kind), arguments=None if given is None else {"amount": given})
    await run.resume()

    if given == 0:  # nobody is asked again: what is left is used up
        assert len(asked(run)) == 1
        assert end(run).reason is Reason.TOKENS
        assert run.usage.input_tokens + run.usage.output_tokens == 700  # the last call summed up
    else:
        assert len(asked(run)) == 2
        assert Decimal(asked(run)[1].facts["spent"]) >= until > Decimal(asked(run)[1].facts["spent"]) - 100


async def test_a_person_may_have_it_finish_now() -> None:
    run = await shell(9, 600).go()
    run.model.script = [Says("This much is done", usage=TURN)]
    run.say(DecisionKind.REJECT)
    await run.resume()

    assert run.model.requests[-1].purpose is Purpose.WRAP_UP
    assert (end(run).outcome, end(run).reason) == (Outcome.LIMIT_REACHED, Reason.TOKENS)


async def test_what_others_spend_meanwhile_counts() -> None:
    run = shell(9, 600, share=None)
    pot = run.setup.budgets
    assert isinstance(pot, Pot)
    run.model.script[2:] = [Says("This much is done", usage=TURN)]

    def spend(step: object) -> None:
        if len(run.model.requests) == 2:
            pot.others = Decimal(500)

    await run.go(spend)
    assert len(run.model.requests) == 3
    assert end(run).reason is Reason.TOKENS


async def test_a_lost_worker_forgets_nothing_that_was_spent() -> None:
    run = shell(3, 300, share=None)
    run.model.script[3:] = [Says("This much is done", usage=TURN)]
    await run.crash(lambda step: len(run.model.requests) == 2)
    await run.resume()
    assert end(run).reason is Reason.TOKENS
    assert run.usage.input_tokens <= 90 * 4


async def test_follow_ups_go_back_when_nothing_is_left_for_them() -> None:
    run = shell(0, 100, share=None)
    run.inbox.follow.append(Queued("q", "And this?"))
    await run.go()
    assert [request.purpose for request in run.model.requests] == [Purpose.TURN]
    assert (end(run).outcome, end(run).reason) == (Outcome.LIMIT_REACHED, Reason.TOKENS)
