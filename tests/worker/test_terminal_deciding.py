"""Deciding at a terminal: what a person types, and what happens where nobody can type."""

import pytest

from agentweb.engine.enums import Risk
from agentweb.runs import decisions, selectors, services
from agentweb.runs.models import Approval, Run
from agentweb.worker.terminal.deciding import Approve, Decider
from tests.runs.waiting_call import waiting_approvals
from tests.runs.waiting_question import waiting_question

NEW = '{"path": "b.txt", "content": "hi"}'


class Desk:
    """A person who answers from a list, and what was said to them."""

    def __init__(self, cast, approve: Approve, *lines: str | None, run: Run | None = None, **asked) -> None:
        self.run = run or cast.builder_run()
        self.approvals = waiting_approvals(cast, self.run, **asked)
        self.said: list[str] = []
        self._lines = list(lines)
        watched = selectors.run_for(cast.owner, self.run.public_id)
        self.decider = Decider(cast.owner, watched, approve, self.said.append, self._answer)

    def _answer(self, question: str) -> str | None:
        self.said.append(question)
        return self._lines.pop(0)

    def settle(self) -> list[Approval]:
        self.decider.settle()
        assert self._lines == [], "not everything was asked"
        return [Approval.objects.get(pk=approval.pk) for approval in self.approvals]


@pytest.mark.parametrize(
    ("lines", "status", "fields"),
    [
        (["y\n"], "approved", {"comment": ""}),
        (["YES\n"], "approved", {}),
        (["y looks fine\n"], "approved", {"comment": "looks fine"}),
        (["n too risky\n"], "rejected", {"comment": "too risky"}),
        (["n\n", "too risky\n"], "rejected", {"comment": "too risky"}),
        ([f"m {NEW}\n"], "modified", {"final_arguments": {"path": "b.txt", "content": "hi"}}),
        (["m\n", f"{NEW}\n"], "modified", {"final_arguments": {"path": "b.txt", "content": "hi"}}),
        (["r it is done\n"], "answered", {"response": "it is done"}),
        (["r\n", "it is done\n"], "answered", {"response": "it is done"}),
        ([None], "rejected", {"comment": "Nobody answered at the terminal."}),
        (["maybe\n", "\n", "y\n"], "approved", {}),
        (["r\n", "\n", "y\n"], "approved", {}),
    ],
)
def test_what_a_person_types_is_what_is_decided(cast, lines, status, fields):
    (approval,) = Desk(cast, Approve.ASK, *lines).settle()
    assert approval.status == status
    assert approval.decided_by == cast.owner
    assert {name: getattr(approval, name) for name in fields} == fields


@pytest.mark.parametrize("wrong", ["{", "[1]", '{"path": 5, "content": "x"}', '{"content": "x"}', "[" * 5000])
def test_wrong_arguments_are_explained_and_asked_for_again(cast, wrong):
    desk = Desk(cast, Approve.ASK, f"m {wrong}\n", "y\n")
    (approval,) = desk.settle()
    assert approval.status == "approved"
    assert any(line.startswith(("arguments:", "path:", "content:")) for line in desk.said)


def test_a_high_risk_wants_a_comment(cast):
    desk = Desk(cast, Approve.ASK, "y\n", "\n", "y\n", "I have read it\n", risk=Risk.HIGH, requires_comment=True)
    (approval,) = desk.settle()
    assert approval.comment == "I have read it"
    assert "comment: A comment is required at this risk level." in desk.said


def test_the_person_sees_the_arguments_in_full_before_the_question(cast):
    desk = Desk(cast, Approve.ASK, "n no\n", arguments={"path": "a\x1b.txt", "content": "x" * 500})
    desk.settle()
    shown, question = desk.said
    assert "x" * 500 in shown
    assert "\x1b" not in shown
    assert question == "y, n REASON, m JSON, r ANSWER: "


def test_several_calls_are_decided_in_the_order_in_which_they_were_asked(cast):
    first, second = Desk(cast, Approve.ASK, "y\n", "n no\n", count=2).settle()
    assert (first.status, second.status) == ("approved", "rejected")


@pytest.mark.parametrize(
    ("approve", "status", "comment"),
    [
        (Approve.ALL, "approved", "Approved on the command line."),
        (Approve.NONE, "rejected", "Rejected on the command line: nothing may be approved there."),
    ],
)
def test_without_a_person_all_or_none_run(cast, approve, status, comment):
    decided = Desk(cast, approve, count=2, risk=Risk.HIGH, requires_comment=True).settle()
    assert [(approval.status, approval.comment) for approval in decided] == [(status, comment)] * 2


def test_who_was_faster_elsewhere_wins(cast):
    desk = Desk(cast, Approve.ALL)
    waiting = list(selectors.approvals_for(cast.owner, status="pending"))
    decisions.decide(
        user=cast.owner, approval=desk.approvals[0], decision="reject", digest=waiting[0].digest, comment="no"
    )
    (approval,) = desk.settle()
    assert approval.status == "rejected"


def test_a_wait_that_nobody_here_can_end_is_cancelled_unless_somebody_sits_there(cast):
    desk = Desk(cast, Approve.NONE)
    Approval.objects.all().delete()
    desk.decider.settle()
    assert Run.objects.get().cancel_requested_at is not None
    assert "cannot be settled here" in desk.said[0]


def test_a_person_at_the_terminal_may_settle_such_a_wait_on_the_page(cast):
    desk = Desk(cast, Approve.ASK)
    Approval.objects.all().delete()
    desk.decider.settle()
    assert Run.objects.get().cancel_requested_at is None
    assert "Its page shows what" in desk.said[0]


def test_a_run_that_goes_on_already_is_left_alone(cast):
    desk = Desk(cast, Approve.NONE)
    run = selectors.run_for(cast.owner, desk.run.public_id)
    services.cancel_run(user=cast.owner, run=run)
    desk.decider.settle()
    assert desk.said == []


@pytest.mark.parametrize(
    ("approve", "lines", "status"),
    [(Approve.ASK, ["r 5\n", "y\n"], "approved"), (Approve.ALL, [], "approved"), (Approve.NONE, [], "rejected")],
)
def test_a_question_about_the_run_is_answered_with_yes_or_no(cast, approve, lines, status):
    run, said = cast.run(), []
    question = waiting_question(cast, run)

    def prompt(words: str) -> str:
        said.append(words)
        return lines.pop(0)

    Decider(cast.owner, selectors.run_for(cast.owner, run.public_id), approve, said.append, prompt).settle()
    question.refresh_from_db()
    assert (question.status, lines) == (status, [])
    assert (approve is Approve.ASK) == any("read_file" in words for words in said)
