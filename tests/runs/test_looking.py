"""Looking again at what a call would do: before a decision, and for changed arguments."""

import pytest

from agentweb.engine.enums import CallStatus
from agentweb.engine.terms import Terms
from agentweb.runs import looking, workspaces
from agentweb.runs.decisions import decide
from agentweb.runs.errors import Conflict, Forbidden
from agentweb.runs.models import Approval
from agentweb.runs.selectors import approval_for
from agentweb.runs.transcripts import load
from agentweb.runs.votes import shown_digest
from agentweb.worker.terminal.deciding import shown
from tests.chat.views.person import browser, text_of
from tests.runs.replayed import replayed
from tests.runs.waiting_call import waiting_approvals

ARGUMENTS = {"path": "a.txt", "content": "one\n"}


@pytest.fixture
def approval(cast, workspaces_here):
    return waiting_approvals(cast, cast.builder_run(visibility="team"), arguments=ARGUMENTS, looked=True)[0]


@pytest.fixture
def workspaces_here(settings, tmp_path):
    settings.WORKSPACES_DIR = tmp_path


def write(approval, text):
    workspaces.of(approval.run.conversation).write_bytes("a.txt", text.encode())


def test_what_has_not_changed_is_only_newer(approval):
    Approval.objects.update(previewed_at=None)
    assert looking.look_again(approval=approval) is False
    now = Approval.objects.get()
    assert now.digest == approval.digest
    assert now.previewed_at is not None
    assert now.run.last_event == approval.run.last_event


def test_what_has_changed_is_recorded_and_an_older_card_counts_no_more(cast, approval):
    write(approval, "two\n")
    assert looking.look_again(approval=approval) is True
    now = approval_for(cast.owner, approval.public_id)
    assert now.effect == "Changes 1 line of a.txt"
    assert now.run.events.get(number=now.run.last_event).kind == "PreviewRenewed"
    entry = load(now.run)[0].calls[str(now.call.public_id)]
    assert (entry.approval_digest, entry.seen) == (now.digest, now.seen)
    assert replayed(now.run).calls[str(now.call.public_id)].approval_digest == now.digest

    with pytest.raises(Conflict, match="has changed since it was shown"):
        decide(user=cast.owner, approval=now, decision="approve", digest=approval.digest)
    decide(user=cast.owner, approval=now, decision="approve", digest=now.digest)
    assert load(now.run)[0].calls[str(now.call.public_id)].decision.seen == now.seen


def test_changed_arguments_are_bound_to_what_they_would_do(cast, approval):
    changed = {"path": "a.txt", "content": "one\ntwo\n"}
    look = looking.look_at(approval, changed)
    assert look.effect == "Creates a.txt (2 lines)"
    more = {"user": cast.owner, "approval": approval, "decision": "modify", "digest": approval.digest}

    write(approval, "there already\n")
    with pytest.raises(looking.Changed):
        decide(**more, arguments=changed, seen=look.seen)
    assert Approval.objects.get().status == "pending"

    now = looking.look_at(approval, changed)
    decide(**more, arguments=changed, seen=now.seen)
    entry = load(approval.run)[0].calls[str(approval.call.public_id)]
    assert (entry.status, entry.decision.seen) == (CallStatus.WAITING, now.seen)
    assert now.seen != look.seen


def test_nobody_looks_without_the_right_or_at_what_was_decided(cast, approval):
    foreign = approval_for(cast.reviewer, approval.public_id)
    with pytest.raises(Forbidden):
        looking.look_again(approval=foreign)
    decide(user=cast.owner, approval=approval, decision="reject", digest=approval.digest, comment="no")
    with pytest.raises(Conflict, match="no longer waits"):
        looking.look_again(approval=approval)


def test_a_tool_that_is_gone_is_a_failed_look(approval):
    approval.call.name = "no_such_tool"
    look = looking.look_at(approval, {})
    assert look.preview == {"kind": "failed", "data": {}}
    assert look.seen


# --- for arguments that one of several people wants instead ----------------------------------------------------------

OTHER = {"path": "a.txt", "content": "one\ntwo\n"}


@pytest.fixture
def proposed(cast, workspaces_here):
    run = cast.builder_run(visibility="team")
    (row,) = waiting_approvals(cast, run, arguments=ARGUMENTS, looked=True, terms=Terms(needed=2))
    decide(user=cast.owner, approval=row, decision="modify", digest=row.digest, arguments=OTHER)
    return row


def test_the_same_arguments_that_would_do_something_else_ask_the_others_anew(cast, proposed):
    write(proposed, "there already\n")
    mine = approval_for(cast.member, proposed.public_id)
    decide(user=cast.member, approval=mine, decision="modify", digest=shown_digest(mine), arguments=OTHER)
    now = Approval.objects.get()
    assert (now.status, now.final_seen) == ("pending", looking.look_at(now, OTHER).seen)
    assert list(now.votes.values_list("user__username", "void")) == [("owner", True), ("member", False)]


def test_the_same_arguments_that_would_do_the_same_complete_it(cast, proposed):
    mine = approval_for(cast.member, proposed.public_id)
    decide(user=cast.member, approval=mine, decision="modify", digest=shown_digest(mine), arguments=OTHER)
    assert (Approval.objects.get().status, Approval.objects.get().final_arguments) == ("modified", OTHER)


def test_looking_again_looks_at_what_people_vote_on(cast, proposed):
    mine = approval_for(cast.member, proposed.public_id)
    assert looking.look_again(approval=mine) is False
    assert "Creates a.txt (2 lines)" in shown(mine)
    card = text_of(browser(cast.member).get(f"/cards/call/{mine.call.public_id}"))
    assert card.count("Preview made") == 1
    assert card.index("has changed the arguments") < card.index("Preview made")
    write(proposed, "there already\n")
    assert looking.look_again(approval=mine) is True
    now = approval_for(cast.member, proposed.public_id)
    assert (now.seen, now.final_seen) == (proposed.seen, looking.look_at(now, OTHER).seen)
    assert not now.votes.filter(void=False).exists()
    with pytest.raises(Conflict, match="has changed since it was shown"):
        decide(user=cast.member, approval=now, decision="approve", digest=shown_digest(mine))
