"""What people are told who are asked once more about the same call."""

import pytest

from agentweb.engine.codec import encode
from agentweb.runs.models import Approval
from agentweb.toolbox import previews
from agentweb.ui.again import asked_again
from tests.cast import make_cast
from tests.runs.waiting_call import waiting_approvals


def approval(preview=None, seen="", before=None, **fields):
    shown = {"kind": preview.kind, "data": encode(preview.data)} if preview else None
    effect = preview.effect if preview else ""
    given = {"arguments": {"path": "a.txt"}, "rule": "files v1: *_file → ask", **fields}
    row = Approval(pk=2 if before else 1, effect=effect, preview=shown, seen=seen, **given)
    row.replaces = before
    return row


def test_the_first_ask_says_nothing_of_an_earlier_one():
    assert asked_again(approval()) is None


def test_an_ask_about_the_same_says_nothing():
    assert asked_again(approval(before=approval())) is None


def test_a_changed_preview_shows_both_and_where_they_differ():
    then = approval(previews.created("a.txt", "one\n"), "s1", status="approved")
    again = asked_again(approval(previews.changed("a.txt", "zero\n", "one\n"), "s2", then))
    assert again.words == ["The call would do something else now than was shown when it was approved."]
    assert again.effect == "Creates a.txt (1 line)"
    assert [(line.kind, line.text) for line in again.lines] == [("added", "− zero"), ("same", "+ one")]


def test_after_changes_it_is_compared_with_what_they_were_shown_to_do():
    then = approval(previews.created("a.txt", "one\n"), "s1", status="modified", final_seen="s2")
    assert asked_again(approval(seen="s2", before=then)) is None


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({"arguments": {"path": "b.txt"}}, "The arguments are no longer those that were approved."),
        ({"definition": "other"}, "The definition of the tool has changed."),
        ({"rule": "files v2"}, "Another rule asks, or another version of its policy. It was: files v1: *_file → ask"),
        ({"requires_comment": True}, "A comment is required now."),
    ],
)
def test_each_other_difference_is_named(now, words):
    again = asked_again(approval(before=approval(), **now))
    assert again.words == [words]
    assert [change.after for change in again.changes] == (["b.txt"] if "arguments" in now else [])


@pytest.mark.django_db
@pytest.mark.parametrize(("end", "differs"), [("files v2: *_file → ask", True), ("files v1: *_file → ask", False)])
def test_a_rule_that_is_too_long_for_its_row_is_compared_whole(end, differs):
    cast, long = make_cast(), f"{'files v1: *_file → ask; ' * 20}also "
    before, row = (
        waiting_approvals(cast, cast.builder_run(), rule=long + last)[0] for last in ("files v1: *_file → ask", end)
    )
    assert before.rule == row.rule
    row.replaces = before
    assert (asked_again(row) is not None) is differs
