"""The record in the admin: complete, unchangeable, and every look at other people's words is noted."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agentweb.runs import services
from agentweb.runs.models import AccessLog, Approval, Call, Conversation, Event, Message, Run
from agentweb.teams.models import Membership
from tests.inline import inline_code
from tests.runs.waiting_call import waiting_approvals

ROWS = {
    "conversation": Conversation,
    "run": Run,
    "message": Message,
    "call": Call,
    "approval": Approval,
    "event": Event,
}
WORDS = "What is <b>the</b> date \u202e today?"


@pytest.fixture
def record(cast):
    """A private conversation of the owner whose run waits for a decision."""
    conversation = cast.conversation()
    run = services.send_message(user=cast.owner, conversation=conversation, text=WORDS).run
    waiting_approvals(cast, run, 2, arguments={"path": "a.txt", "content": "secret plans"})
    return run


@pytest.fixture
def site(cast, client):
    client.force_login(cast.admin)
    return client


def page(name: str, *ids) -> str:
    return reverse(f"admin:runs_{name}", args=ids)


def one(name: str) -> str:
    return page(f"{name}_change", ROWS[name].objects.order_by("pk").last().pk)


@pytest.mark.parametrize("name", ROWS)
def test_lists_and_entries_can_be_looked_at(site, record, name):
    for address in (page(f"{name}_changelist"), one(name)):
        response = site.get(address)
        assert response.status_code == 200
        assert inline_code(response.content.decode()) == []
        assert "<b>the</b>" not in response.content.decode()


@pytest.mark.parametrize("name", ROWS)
def test_nothing_can_be_added_changed_or_deleted(site, record, name):
    last = ROWS[name].objects.order_by("pk").last()
    before = ROWS[name].objects.order_by("pk").values()
    kept = list(before)
    assert site.get(page(f"{name}_add")).status_code == 403
    assert site.post(page(f"{name}_change", last.pk), {"text": "x", "status": "finished"}).status_code == 403
    assert site.post(page(f"{name}_delete", last.pk), {"post": "yes"}).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [last.pk], "post": "yes"}
    site.post(page(f"{name}_changelist"), action)
    assert list(before.all()) == kept


@pytest.mark.parametrize("name", ROWS)
def test_a_longer_list_takes_no_more_queries(site, cast, record, name):
    def more(count: int) -> None:
        for _ in range(count):
            waiting_approvals(cast, cast.run(), 1)

    more(1)
    site.get(page(f"{name}_changelist"))
    with CaptureQueriesContext(connection) as few:
        site.get(page(f"{name}_changelist"))
    more(4)
    with CaptureQueriesContext(connection) as many:
        site.get(page(f"{name}_changelist"))
    assert len(many) == len(few)


@pytest.mark.parametrize(
    ("name", "search"),
    [
        ("conversation", "owner"),
        ("run", "owner"),
        ("message", "owner"),
        ("call", "write_file"),
        ("approval", "write_file"),
    ],
)
def test_a_list_can_be_searched(site, record, name, search):
    assert site.get(page(f"{name}_changelist"), {"q": search}).context["cl"].result_count > 0
    assert site.get(page(f"{name}_changelist"), {"q": "nothing like this"}).context["cl"].result_count == 0


@pytest.mark.parametrize("name", ["run", "message", "call", "approval", "event"])
def test_a_run_is_found_by_its_id_everywhere(site, record, name):
    assert site.get(page(f"{name}_changelist"), {"q": str(record.public_id)}).context["cl"].result_count > 0


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("event", {"kind": "ApprovalRequested"}),
        ("call", {"status__exact": "waiting"}),
        ("approval", {"risk__exact": "medium"}),
        ("message", {"role__exact": "user"}),
        ("run", {"status__exact": "waiting"}),
        ("conversation", {"visibility__exact": "private"}),
    ],
)
def test_a_list_can_be_filtered(site, record, name, query):
    found = site.get(page(f"{name}_changelist"), query).context["cl"]
    assert 0 < found.result_count <= ROWS[name].objects.count()


@pytest.mark.parametrize("name", ROWS)
def test_lists_show_no_words_and_are_no_look(site, record, name):
    html = site.get(page(f"{name}_changelist")).content.decode()
    assert "the</b>" not in html
    assert "What is" not in html
    assert "secret plans" not in html
    assert not AccessLog.objects.exists()


@pytest.mark.parametrize("name", ROWS)
def test_opening_an_entry_of_somebody_else_is_a_look_that_is_noted(site, cast, record, name):
    for _ in range(2):
        site.get(one(name))
    look = AccessLog.objects.get()
    assert (look.user, look.conversation) == (cast.admin, record.conversation)


def test_a_superuser_outside_the_team_leaves_a_note_too(site, cast, record):
    Membership.objects.filter(user=cast.admin).delete()
    site.get(one("message"))
    assert AccessLog.objects.get().user == cast.admin


def test_what_the_team_shares_is_seen_without_a_note(site, cast, record):
    Conversation.objects.update(visibility="team")
    site.get(one("message"))
    assert not AccessLog.objects.exists()


def test_who_may_not_look_leaves_no_note(client, cast, record):
    cast.stranger.is_staff = True
    cast.stranger.save()
    client.force_login(cast.stranger)
    assert client.get(one("message")).status_code == 403
    assert not AccessLog.objects.exists()
