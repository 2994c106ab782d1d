"""The pages of the audit: who and what they show, that each look is recorded, and what they cost."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agentweb.engine import events
from agentweb.engine.enums import ApprovalStatus, Question
from agentweb.engine.terms import Consent, Terms
from agentweb.runs import conversations, decisions, delegating, journal, services
from agentweb.runs.models import AccessLog, Run
from agentweb.runs.selectors import conversation_for
from tests.cast import Cast, make_worker
from tests.inline import inline_code
from tests.runs.waiting_call import waiting_approvals
from tests.runs.waiting_question import waiting_question


def browser(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def page(client: Client, address: str, **query: str) -> str:
    response = client.get(address, query)
    assert response.status_code == 200, address
    return response.content.decode()


def asked(cast: Cast, run: Run, number: int = 4) -> str:
    return reverse("audit_request", args=[run.public_id, number])


def shown_runs(html: str) -> list[str]:
    return re.findall(r'href="/audit/runs/([0-9a-f-]{36})/"', html)


def queries_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        page(client, address)
    return len(seen)


def test_reviewers_and_admins_find_the_way_and_members_do_not(cast):
    for person, linked in ((cast.reviewer, True), (cast.admin, True), (cast.owner, False), (cast.stranger, False)):
        assert ('href="/audit/"' in page(browser(person), "/")) == linked
        assert browser(person).get("/audit/").status_code == (200 if linked else 404)


def test_the_list_costs_the_same_for_one_run_and_for_thirty(cast):
    client = browser(cast.reviewer)
    cast.run()
    few = queries_of(client, "/audit/")
    for _ in range(29):
        cast.run()
    assert len(shown_runs(page(client, "/audit/"))) == 30
    assert queries_of(client, "/audit/") == few


def test_a_run_costs_the_same_with_one_call_and_with_thirty(cast):
    client, costs = browser(cast.reviewer), []
    for count in (1, 30):
        run = cast.builder_run()
        waiting_approvals(cast, run, count)
        address = reverse("audit_run", args=[run.public_id])
        page(client, address)  # the look is recorded, which is not done twice in a row
        costs.append(queries_of(client, address))
    assert costs[0] == costs[1]


def test_pages_join_without_a_gap_or_a_repetition(cast):
    made = [str(cast.run().public_id) for _ in range(120)]
    client, found, address = browser(cast.reviewer), [], "/audit/"
    for _ in range(5):
        html = page(client, address)
        found += shown_runs(html)
        more = re.search(r'href="(/audit/\?[^"]*before=[^"]*)"', html)
        if more is None:
            break
        address = more[1].replace("&amp;", "&")
        cast.run()  # what comes meanwhile is newer than every page that follows
    assert found == made[::-1]


def test_the_next_page_asks_the_same_question(cast):
    for _ in range(60):
        cast.run()
    waiting = cast.builder_run()
    waiting_approvals(cast, waiting)
    html = page(browser(cast.reviewer), "/audit/", state="queued", person="owner")
    assert re.search(r'href="/audit/\?person=owner&amp;state=queued&amp;before=', html)


def test_htmx_gets_the_list_alone(cast):
    cast.run()
    html = browser(cast.reviewer).get("/audit/", headers={"HX-Request": "true"}).content.decode()
    assert len(shown_runs(html)) == 1 and "<html" not in html and "<form" not in html


def test_runs_of_other_teams_are_not_there(cast):
    mine, elsewhere = cast.run(), cast.stranger.memberships.get().team
    conversation = services.create_conversation(user=cast.stranger, agent=cast.agent, team=elsewhere)
    other = services.send_message(
        user=cast.stranger, conversation=conversation_for(cast.stranger, conversation.public_id), text="Hello"
    ).run
    client = browser(cast.reviewer)
    assert shown_runs(page(client, "/audit/")) == [str(mine.public_id)]
    for address in (reverse("audit_run", args=[other.public_id]), asked(cast, other, 1)):
        assert client.get(address).status_code == 404


def test_each_look_is_recorded_and_the_owner_sees_it(cast):
    run = cast.run(visibility="team")
    conversation = reverse("conversation", args=[run.conversation.public_id])
    assert "Looked at by" not in page(browser(cast.owner), conversation)
    for person in (cast.reviewer, cast.admin):
        page(browser(person), reverse("audit_run", args=[run.public_id]))
    assert set(AccessLog.objects.values_list("user__username", flat=True)) == {"reviewer", "admin"}
    html = page(browser(cast.owner), conversation)
    looked = html[html.index("Looked at by") :][:600]
    assert "reviewer" in looked and "admin" in looked


def test_a_look_at_ones_own_conversation_is_none(cast):
    made = services.create_conversation(user=cast.admin, agent=cast.agent, team=cast.team)
    run = services.send_message(
        user=cast.admin, conversation=conversation_for(cast.admin, made.public_id), text="Hello"
    ).run
    page(browser(cast.admin), reverse("audit_run", args=[run.public_id]))
    assert not AccessLog.objects.exists()


def test_a_deleted_conversation_stays_in_the_audit(cast):
    run = cast.run()
    conversations.delete_conversation(
        user=cast.owner, conversation=conversation_for(cast.owner, run.conversation.public_id)
    )
    client = browser(cast.reviewer)
    assert shown_runs(page(client, "/audit/")) == [str(run.public_id)]
    html = page(client, reverse("audit_run", args=[run.public_id]))
    assert "deleted" in html and reverse("conversation", args=[run.conversation.public_id]) not in html


def test_a_run_shows_its_events_and_what_was_shown_for_the_decision_and_no_button(cast):
    run = cast.builder_run()
    waiting_approvals(cast, run, arguments={"path": "evil\u200b.txt", "content": "<script>x</script>"})
    html = page(browser(cast.admin), reverse("audit_run", args=[run.public_id]))
    main = html[html.index('<main class="main"') :]
    numbers = [int(each) for each in re.findall(r'id="event-(\d+)"', main)]
    assert numbers == list(range(1, run.events.count() + 1))
    assert "Approval wanted" in main and "U+200B" in main and "&lt;script&gt;" in main
    assert "<form" not in main and "<button" not in main
    assert "The record is whole" in main
    assert inline_code(html) == []


def test_a_run_shows_what_it_asked_about_itself_and_what_was_said(cast):
    run = cast.run()
    question = waiting_question(cast, run)
    told = page(browser(cast.reviewer), f"/audit/runs/{run.public_id}/")
    assert "The agent repeats itself: may it go on?" in told
    assert "read_file a.txt" in told
    assert "The run waits for a decision" in told
    said = events.QuestionDecided(str(question.public_id), Question.CIRCLES, ApprovalStatus.APPROVED, by="Ann")
    decisions.decide(user=cast.owner, approval=question, decision="approve", digest=question.digest)
    holder = journal.claim(str(run.public_id), make_worker("next"))
    journal.append(holder, (said,))
    assert "Goes on" in page(browser(cast.reviewer), f"/audit/runs/{run.public_id}/")


def test_a_run_shows_all_who_agreed_and_who_has_handed_over(cast):
    run = cast.builder_run("team")
    approval = waiting_approvals(cast, run, terms=Terms(needed=2))[0]
    delegating.hand_over(user=cast.owner, approval=approval, to="reviewer")
    agreed = (Consent("Ann", "2026-01-01T08:00:00+00:00", "looked twice"), Consent("Ben", "2026-01-01T09:00:00+00:00"))
    ids = (str(approval.public_id), str(approval.call.public_id))
    said = events.ApprovalDecided(*ids, ApprovalStatus.APPROVED, by="Ben", arguments={}, consents=agreed)
    journal.mark_queued(run)
    journal.append(journal.claim(str(run.public_id), make_worker("next")), (said,))
    told = page(browser(cast.admin), f"/audit/runs/{run.public_id}/")
    for words in (
        "It takes 2 approvals by whoever may write",
        "looked twice",
        "Ben",
        "owner has handed it over to reviewer",
    ):
        assert words in told


def test_a_changed_record_is_said_on_the_page_even_when_it_cannot_be_read(cast):
    run = cast.builder_run()
    waiting_approvals(cast, run)
    for payload in ('{"worker":"other","epoch":1}', "nonsense", "[]"):
        run.events.filter(number=2).update(payload=payload)
        html = page(browser(cast.reviewer), reverse("audit_run", args=[run.public_id]))
        assert "The record was changed" in html and "Event 2 (RunClaimed) was changed" in html


def test_a_request_is_a_fragment_a_page_and_a_download(cast):
    run = cast.builder_run()
    waiting_approvals(cast, run)
    client, address = browser(cast.reviewer), asked(cast, run)
    fragment = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "Differs from the record" in fragment and "<html" not in fragment  # this run was not moved by a worker
    assert "Differs from the record" in page(client, address)
    kept = client.get(address, {"download": ""})
    assert (
        kept["Content-Disposition"].startswith("attachment") and kept.json()["messages"][1]["content"] == "Write a file"
    )


@pytest.mark.parametrize("number", [1, 99])
def test_what_is_no_model_call_has_no_request(cast, number):
    assert browser(cast.reviewer).get(asked(cast, cast.run(), number)).status_code == 404
