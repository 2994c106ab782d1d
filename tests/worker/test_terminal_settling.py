"""Saying at a terminal what became of a call, and giving results from outside."""

import pytest

from agentweb.runs import answers, selectors
from agentweb.runs.models import CallAnswer, Run
from agentweb.worker.terminal.deciding import Approve, Decider
from tests.runs.lost_call import suspended_calls, unknown_call


@pytest.fixture
def lost(cast):
    return unknown_call(cast, cast.builder_run())


def settle(cast, run: Run, *lines: str | None, approve: Approve = Approve.ASK) -> list[str]:
    """What was said to the person who types the lines, all of them."""
    said, left = [], list(lines)

    def prompt(words: str) -> str | None:
        said.append(words)
        return left.pop(0)

    Decider(cast.owner, selectors.run_for(cast.owner, run.public_id), approve, said.append, prompt).settle()
    assert left == [], "not everything was asked"
    return said


@pytest.mark.parametrize(
    ("lines", "outcome", "content", "comment"),
    [
        (["d\n"], "done", "", ""),
        (["done 5 rows\n"], "done", "5 rows", ""),
        (["n looked at the folder\n"], "not_done", "", "looked at the folder"),
        (["u\n"], "tell_model", "", ""),
        (["maybe\n", "\n", "U\n"], "tell_model", "", ""),
        ([None], "tell_model", "", "Nobody answered at the terminal."),
    ],
)
def test_a_person_says_what_became_of_a_call(cast, lost, lines, outcome, content, comment):
    said = settle(cast, lost.run, *lines)
    assert "nobody knows whether it took effect" in said[0] and '"a.txt"' in said[0]
    answer = CallAnswer.objects.get()
    assert (answer.outcome, answer.content, answer.comment) == (outcome, content, comment)
    assert Run.objects.get().status == Run.Status.QUEUED


@pytest.mark.parametrize(
    ("line", "content", "is_error"),
    [("Paris\n", "Paris", False), ("e nobody knows\n", "nobody knows", True), ("e\n", "e", False)],
)
def test_a_person_gives_the_result_that_a_call_waits_for(cast, line, content, is_error):
    (call,) = suspended_calls(cast, cast.builder_run())
    said = settle(cast, call.run, line)
    assert "Which city?" in said[0]
    answer = CallAnswer.objects.get()
    assert (answer.content, answer.is_error) == (content, is_error)


def test_what_an_answer_must_look_like_is_said_and_another_one_is_asked_for_again(cast):
    wanted = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    (call,) = suspended_calls(cast, cast.builder_run(), schema=wanted)
    said = settle(cast, call.run, "{}\n", '{"city": "Rome"}\n')
    assert '"city"' in said[0] and any("is required" in words for words in said)
    assert CallAnswer.objects.get().content == '{"city": "Rome"}'


@pytest.mark.parametrize("line", ["\n", None])
def test_a_result_may_be_left_to_come_from_elsewhere(cast, line):
    first, second = suspended_calls(cast, cast.builder_run(), 2)
    said = settle(cast, first.run, line, "Rome\n")
    assert any("waits on" in words for words in said)
    assert [answer.call for answer in CallAnswer.objects.all()] == [second]


def test_who_was_faster_elsewhere_is_named(cast, lost):
    said = []

    def prompt(words: str) -> str:
        answers.resolve(user=cast.owner, call=selectors.call_for(cast.owner, lost.public_id), outcome="done")
        return "n\n"

    Decider(cast.owner, selectors.run_for(cast.owner, lost.run.public_id), Approve.ASK, said.append, prompt).settle()
    assert said[-1] == "owner was faster: It was done."


@pytest.mark.parametrize("approve", [Approve.ALL, Approve.NONE])
def test_where_nobody_sits_nothing_is_made_up(cast, lost, approve):
    settle(cast, lost.run, approve=approve)
    assert not CallAnswer.objects.exists()
    assert Run.objects.get().cancel_requested_at is not None
