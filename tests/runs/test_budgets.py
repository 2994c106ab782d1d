"""Budgets in force: whose they are, what was spent of them, and what people granted."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.engine import enums, events
from agentweb.engine.budgets import Grant
from agentweb.engine.messages import AssistantMessage, ToolCall
from agentweb.engine.usage import Usage
from agentweb.registry.models import Budget
from agentweb.runs import decisions, journal, spending, transcripts
from agentweb.runs.budgets import Share, current
from agentweb.runs.errors import Forbidden, Invalid
from agentweb.runs.models import Approval, Run, Spending, TopUp
from agentweb.runs.selectors import approval_for
from agentweb.runs.waiting import approvals_waiting_for
from tests.cast import make_worker
from tests.runs.replayed import replayed
from tests.runs.waiting_question import waiting_question

pytestmark = pytest.mark.django_db

SPENT = Usage(input_tokens=90, output_tokens=10, cost=Decimal("0.25"), seconds=1.5)
LAST_MONTH = datetime(2020, 1, 31, 23, 30, tzinfo=UTC)


def works(run: Run, usage: Usage = SPENT) -> journal.Claimed:
    """The run says something that costs so much."""
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    message, call = str(uuid4()), ToolCall(str(uuid4()), "weather", {})
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    said = events.MessageFinished(AssistantMessage(message, "Hm.", calls=(call,)), usage)
    journal.append(holder, (said, events.ToolStarted(call.id, "weather", {})))
    return holder


def share(run: Run) -> Share:
    return Share(run.pk, run.conversation.team_id, run.agent_id, run.requested_by_id)


def budget(name: str = "b", **fields) -> Budget:
    return Budget.objects.create(name=name, limit=1000, **fields)


def spent(run: Run) -> dict[str, Decimal]:
    return {dict(one.names)["name"]: one.spent for one in current(share(run))}


def test_what_a_run_spends_is_stored_as_it_goes_and_counted_once_a_month_and_combination(cast):
    first, second = cast.run(), cast.run()
    works(first)
    works(second)
    first.refresh_from_db()
    assert (first.input_tokens, first.cost, first.seconds) == (90, Decimal("0.25"), 1.5)
    assert (first.turns, first.model_calls, first.tool_calls) == (1, 1, 1)
    account = Spending.objects.get()
    assert (account.tokens, account.cost, account.seconds) == (200, Decimal("0.5"), Decimal(3))
    assert (account.team, account.agent, account.user) == (cast.team, cast.agent, cast.owner)
    transcript, usage = transcripts.load(first)
    assert transcript == replayed(first)
    assert list(transcript.usages.values()) == [SPENT]
    assert usage == Usage(1, 1, 1, 90, 0, 10, 0, Decimal("0.25"), 1.5)


def test_a_month_ends_in_utc():
    assert spending.month_of(LAST_MONTH).isoformat() == "2020-01-01"
    assert spending.month_of(datetime.fromisoformat("2020-02-01T01:00+02:00")).isoformat() == "2020-01-01"


def test_each_scope_counts_what_is_its_own(cast):
    run, other = cast.run(), cast.builder_run()
    works(run)
    works(other)
    spending.add(team=cast.team.pk, agent=cast.agent.pk, user=cast.member.pk, usage=SPENT, moment=datetime.now(UTC))
    spending.add(team=cast.team.pk, agent=cast.agent.pk, user=cast.owner.pk, usage=SPENT, moment=LAST_MONTH)
    elsewhere = cast.stranger.memberships.get().team_id
    spending.add(team=elsewhere, agent=cast.agent.pk, user=cast.stranger.pk, usage=SPENT, moment=datetime.now(UTC))
    for scope in Budget.Scope.values:
        budget(f"{scope} a month", scope=scope)
    budget("money", scope="user", unit="cost")
    budget("one run", period="run", unit="seconds")
    assert spent(run) == {
        "all a month": 400,
        "team a month": 300,
        "agent a month": 300,
        "user a month": 200,
        "money": Decimal("0.5"),
        "one run": Decimal("1.5"),
    }


def test_only_budgets_that_speak_of_the_run_count(cast):
    run = cast.run()
    budget("everyone's")
    budget("this team's", scope="team", team=cast.team)
    budget("each person's", scope="user")
    budget("switched off", enabled=False)
    budget("another agent's", scope="agent", agent=cast.builder)
    budget("another person's", scope="user", user=cast.member)
    assert set(spent(run)) == {"everyone's", "this team's", "each person's"}


def test_the_number_of_queries_is_small_and_does_not_grow(cast):
    run = cast.run()
    works(run)

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            current(share(run))
        return len(seen)

    assert queries() == 1
    for number in range(9):
        budget(f"b{number}", scope=Budget.Scope.values[number % 4], period=Budget.Period.values[number % 2])
    assert queries() == 4


def asked(cast, run: Run, row: Budget) -> Approval:
    """The run asks about the budget, as the engine would."""
    (one,) = [one for one in current(share(run)) if one.id == str(row.pk)]
    facts = {"budget": one.id, "pot": one.pot, "unit": one.unit.value, "limit": "1000", "spent": "800", "next": "100"}
    facts |= {"turns": 2, **dict(one.names)}
    return waiting_question(cast, run, enums.Question.BUDGET, facts, {"amount": 250}, admins=one.admins)


def granted(cast, run: Run, question: Approval, decision: str, amount: float | None) -> None:
    """An admin says yes, and the run takes it up."""
    arguments = None if amount is None else {"amount": amount}
    mine = approval_for(cast.admin, question.public_id)
    decisions.decide(user=cast.admin, approval=mine, decision=decision, digest=question.digest, arguments=arguments)
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    final = {"amount": 250} if amount is None else arguments
    kind, status = enums.DecisionKind(decision), enums.ApprovalStatus(Approval.objects.get(pk=question.pk).status)
    said = events.QuestionDecided(str(question.public_id), enums.Question.BUDGET, status, kind, "admin", "", final)
    journal.append(holder, (said,))


@pytest.mark.parametrize(("decision", "amount", "more"), [("approve", None, 250), ("modify", 0.5, Decimal("0.5"))])
def test_a_grant_raises_the_budget_for_all_who_share_in_it_and_for_this_month(cast, decision, amount, more):
    run, other, row = cast.run(), cast.run(), budget(scope="team")
    granted(cast, run, asked(cast, run, row), decision, amount)
    for one in (run, other):
        (found,) = current(share(one))
        assert found.grants == (Grant(Decimal(more), Decimal(800)),)
        assert found.ceiling == 1000 + more
    TopUp.objects.update(pot="2020-01 team 1")
    assert current(share(run))[0].grants == ()
    assert transcripts.load(run)[0].question is None


def test_a_grant_to_one_run_is_for_that_run_alone(cast):
    run, other, row = cast.run(), cast.run(), budget(period="run")
    granted(cast, run, asked(cast, run, row), "approve", None)
    assert [len(current(share(one))[0].grants) for one in (run, other)] == [1, 0]


def test_admins_decide_unless_the_budget_says_otherwise(cast):
    run, row = cast.run(), budget(scope="user")
    question = asked(cast, run, row)
    mine = approval_for(cast.owner, question.public_id)
    assert not mine.may_decide
    assert list(approvals_waiting_for(cast.owner)) == []
    assert list(approvals_waiting_for(cast.admin)) == [question]
    with pytest.raises(Forbidden):
        decisions.decide(user=cast.owner, approval=mine, decision="approve", digest=question.digest)

    other = cast.run()
    question = asked(cast, other, budget("mild", deciders="chats"))
    assert list(approvals_waiting_for(cast.owner)) == [question]


@pytest.mark.parametrize("amount", [-1, "5", None, 10**13])
def test_a_grant_must_be_an_amount(cast, amount):
    run, row = cast.run(), budget()
    question = approval_for(cast.admin, asked(cast, run, row).public_id)
    with pytest.raises(Invalid):
        decisions.decide(
            user=cast.admin,
            approval=question,
            decision="modify",
            digest=question.digest,
            arguments={"amount": amount},
        )


def test_a_budget_that_was_deleted_meanwhile_asks_nobody_any_more(cast):
    run, row = cast.run(), budget()
    question = asked(cast, run, row)
    row.delete()
    granted(cast, run, question, "approve", None)
    assert TopUp.objects.count() == 0
