"""Which calls can be taken back, by whom, and what stands in the way."""

import pytest

from agentweb.runs import undoing
from agentweb.runs.errors import Conflict, Forbidden
from agentweb.runs.models import Call, Run
from agentweb.runs.selectors import call_for
from agentweb.runs.workspaces import folder
from agentweb.toolbox.former import Former
from tests.runs.lost_call import unknown_call


@pytest.fixture
def done(cast) -> Call:
    """A call that has written a file, in a run that is over."""
    call = unknown_call(cast, cast.builder_run("team"))
    Call.objects.update(status="finished", result_kind="ok", result="Wrote a.txt.")
    Run.objects.update(status="finished", outcome="answered")
    Former(folder(str(call.run.conversation.public_id))).keeping(str(call.public_id), "a.txt")(None, b"hello")
    return call_for(cast.owner, call.public_id)


def test_the_reverse_call_is_the_only_thing_that_its_run_may_do(cast, done):
    run = undoing.undo(user=cast.owner, call=done)
    assert run.undoes == done and run.requested_by == cast.owner
    reverse = undoing.reverse_of(done)
    assert (reverse.tool, reverse.arguments) == ("restore_file", {"path": "a.txt", "change": str(done.public_id)})


@pytest.mark.parametrize(
    "change", [{"status": "cancelled"}, {"result_kind": "error"}, {"name": "read_file"}, {"arguments": None}]
)
def test_a_call_that_did_nothing_cannot_be_undone(cast, done, change):
    Call.objects.update(**change)
    with pytest.raises(Conflict, match="cannot be undone"):
        undoing.undo(user=cast.owner, call=call_for(cast.owner, done.public_id))


def test_a_call_is_undone_once_and_not_while_a_run_is_at_work(cast, done):
    undoing.undo(user=cast.owner, call=done)
    with pytest.raises(Conflict, match="is at work"):
        undoing.undo(user=cast.owner, call=done)
    Call.objects.update(undone_at=done.run.created_at)
    with pytest.raises(Conflict, match="undone already"):
        undoing.undo(user=cast.owner, call=done)  # as it was read before


def test_who_may_not_write_may_not_undo(cast, done):
    with pytest.raises(Forbidden):
        undoing.undo(user=cast.reviewer, call=call_for(cast.reviewer, done.public_id))
