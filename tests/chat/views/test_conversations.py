"""The list, the page of a conversation, and what may be done with it."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage, ToolCall
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.runs.models import Conversation, Message, Run
from tests.cast import make_worker
from tests.chat.views.person import HTMX, browser, hidden_value, html_of, text_of
from tests.runs.waiting_call import waiting_approvals


def answered(run: Run, text: str, thinking: str = "") -> None:
    """The run answers, as a worker would have it recorded."""
    holder = journal.claim(str(run.public_id), make_worker(f"w{run.pk}"))
    message = f"00000000-0000-4000-8000-{run.pk:012d}"
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    said = AssistantMessage(message, text, thinking)
    usage = Usage(input_tokens=1200, cached_tokens=200, output_tokens=34, seconds=1.5)
    end = events.RunFinished(enums.Outcome.ANSWERED, enums.Reason.DONE, "done", usage)
    journal.append(holder, (events.MessageFinished(said, usage), events.TurnFinished(1), end))


def test_a_first_message_starts_a_conversation(cast):
    client = browser(cast.owner)
    answer = client.post("/c/", {"agent": str(cast.agent.public_id), "text": "What is\r\nthe date?"})
    made = Conversation.objects.get()
    assert answer.url == f"/c/{made.public_id}/"
    assert (made.owner, made.visibility) == (cast.owner, "private")
    assert Message.objects.get().text == "What is\nthe date?"
    assert "What is the date?" in text_of(client.get(answer.url))


def test_a_form_that_is_sent_twice_starts_one_conversation(cast):
    client = browser(cast.owner)
    form = {
        "agent": str(cast.agent.public_id),
        "text": "What is the date?",
        "key": hidden_value(client.get("/"), "key"),
    }
    first, second = (client.post("/c/", form) for _ in range(2))
    assert first.url == second.url
    assert (Conversation.objects.count(), Message.objects.count()) == (1, 1)
    other = client.post("/c/", {**form, "text": "And the time?"})
    assert other.status_code == 422
    assert "key was used for another request" in text_of(other)
    assert hidden_value(other, "key") != form["key"]


def test_it_can_be_shared_from_the_start_or_begin_empty(cast):
    client = browser(cast.owner)
    client.post("/c/", {"agent": str(cast.agent.public_id), "text": " ", "visibility": "team"})
    made = Conversation.objects.get()
    assert made.visibility == "team"
    assert "Nothing has been said yet." in text_of(client.get(f"/c/{made.public_id}/"))


@pytest.mark.parametrize("agent", ["", "nonsense", "00000000-0000-4000-8000-000000000000"])
def test_an_unknown_agent_is_told_and_what_was_typed_stays(cast, agent):
    answer = browser(cast.owner).post("/c/", {"agent": agent, "text": "my words"})
    assert answer.status_code == 422
    assert "There is no such agent" in text_of(answer)
    assert ">my words</textarea>" in html_of(answer)
    assert not Conversation.objects.exists()


def test_a_first_message_that_is_too_long_leaves_no_empty_conversation(cast):
    answer = browser(cast.owner).post("/c/", {"agent": str(cast.agent.public_id), "text": "x" * 100_001})
    assert answer.status_code == 422
    assert not Conversation.objects.exists()


def test_a_reviewer_is_told_that_they_only_read(cast):
    page = browser(cast.reviewer).get("/")
    assert "you do not chat in any" in text_of(page)
    assert "<textarea" not in html_of(page)


def test_the_scripted_model_is_announced(cast):
    assert "scripted, not an AI" in text_of(browser(cast.owner).get("/"))
    conversation = cast.conversation()
    assert "scripted, not an AI" in text_of(browser(cast.owner).get(f"/c/{conversation.public_id}/"))


def test_an_answered_run_shows_text_thoughts_and_totals(cast):
    run = cast.run("What is the date?")
    answered(run, "It is **Monday**.", "I asked the clock.")
    page = browser(cast.owner).get(f"/c/{run.conversation.public_id}/")
    assert "<strong>Monday</strong>" in html_of(page)
    words = text_of(page)
    assert "I asked the clock." in words
    assert "1 turn 1 model call 0 tool calls tokens: 1,200 in (200 cached), 34 out cost 0 1.5 s" in words
    assert "Cancel" not in words.split("1.5 s")[1]


def test_what_happens_while_a_page_is_made_is_on_it_or_comes_after_its_cursor(cast):
    """A turn ends behind every single query of the page."""
    run = cast.run()
    holder = journal.claim(str(run.public_id), make_worker())
    told: dict[str, int] = {}

    def one_turn() -> None:
        turn = len(told) + 1
        message = f"00000000-0000-4000-8000-{turn:012d}"
        journal.append(holder, (events.TurnStarted(turn), events.ModelRequested(message, turn, 1, "scripted", "d")))
        said = events.MessageFinished(AssistantMessage(message, f"turn {turn}"), Usage())
        told[message] = journal.append(holder, (said, events.TurnFinished(turn))).last

    def busy(execute, sql, params, many, context):
        answer = execute(sql, params, many, context)
        if not journaling:
            journaling.append(True)
            one_turn()
            journaling.clear()
        return answer

    journaling: list[bool] = []
    client = browser(cast.owner)
    with connection.execute_wrapper(busy):
        page = html_of(client.get(f"/c/{run.conversation.public_id}/"))
    shown = re.search(r'data-after="(\d+)-0"', page)
    missing = [number for message, number in told.items() if f"message-{message}" not in page]
    assert shown and missing and int(shown[1]) < min(missing)


def test_what_the_system_says_to_the_agent_stands_where_it_was_said(cast):
    run = cast.run()
    holder = journal.claim(str(run.public_id), make_worker())
    note = "00000000-0000-4000-8000-00000000000a"
    told = events.NoteAdded(note, 1, enums.NoteKind.CIRCLES, "Do <b>not</b> repeat this.")
    journal.append(holder, (events.TurnStarted(1), told))
    for address in (f"/c/{run.conversation.public_id}/", f"/cards/message/{note}"):
        page = browser(cast.owner).get(address)
        assert "The agent repeated itself, so it was told to try another way. Do <b>not</b> repeat" in text_of(page)


def test_html_is_rendered_once_and_kept(cast):
    run = cast.run()
    answered(run, "# Title")
    client = browser(cast.owner)
    address = f"/c/{run.conversation.public_id}/"
    first = client.get(address)
    stored = Message.objects.get(role="assistant")
    assert stored.html_version > 0
    assert stored.html in html_of(first)
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    assert [query["sql"] for query in queries if query["sql"].startswith("UPDATE") and "html" in query["sql"]] == []


HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> ![p](https://evil.example/?q=1) [x](javascript:alert(1))"
)


def test_what_models_and_people_write_is_never_markup(cast):
    run = cast.run(f"{HOSTILE} </textarea><hx-partial hx-target='#log'>")
    answered(run, HOSTILE, HOSTILE)
    html = html_of(browser(cast.owner).get(f"/c/{run.conversation.public_id}/"))
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "<hx-partial" not in html
    assert 'href="javascript' not in html


def test_the_number_of_queries_does_not_grow_with_the_conversation(cast):
    run = cast.run()
    answered(run, "one")
    client = browser(cast.owner)
    address = f"/c/{run.conversation.public_id}/"
    client.get(address)
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    for number in range(6):
        answer = client.post(f"{address}send", {"text": f"again {number}"})
        assert answer.status_code == 302
        answered(Run.objects.order_by("-pk").first(), "more")
    client.get(address)
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) <= len(few) + 1


def test_the_list_tells_how_each_conversation_stands(cast):
    run = cast.run("a finished one")
    answered(run, "done")
    cast.run("a queued one")
    words = text_of(browser(cast.owner).get("/c/list"))
    assert "a finished one Answered Assistant" in words
    assert "a queued one Queued Assistant" in words


@pytest.mark.parametrize(("show", "seen"), [("all", ["shared"]), ("mine", []), ("team", ["shared"]), ("waiting", [])])
def test_the_list_can_be_filtered(cast, show, seen):
    cast.run("secret")
    cast.run("shared", visibility="team")
    words = text_of(browser(cast.member).get("/c/list", {"show": show})).split()
    assert [name for name in ("secret", "shared") if name in words] == seen


def test_the_list_comes_in_pages(cast):
    for number in range(45):
        conversation = cast.conversation()
        Conversation.objects.filter(pk=conversation.pk).update(title=f"number {number:02d}")
    client = browser(cast.owner)
    first = html_of(client.get("/c/list"))
    assert ("number 05" in first, "number 04" in first) == (True, False)
    address = first.split('hx-target="#more-side"')[0].rsplit('hx-get="', 1)[1].split('"')[0].replace("&amp;", "&")
    second = html_of(client.get(address))
    assert ("number 05" in second, "number 04" in second, "number 00" in second) == (False, True, True)


@pytest.mark.parametrize("cursor", ["x", "2026-13-40~1", "2026-01-01T00:00:00~1", "2026-01-01T00:00:00+00:00~-1", "~"])
def test_a_broken_cursor_of_the_list_is_ignored(cast, cursor):
    cast.run("still here")
    assert "still here" in text_of(browser(cast.owner).get("/c/list", {"before": cursor}))


def test_the_owner_renames_shares_and_deletes(cast):
    conversation = cast.conversation()
    client, address = browser(cast.owner), f"/c/{conversation.public_id}"
    client.post(f"{address}/rename", {"title": "  A better   name "})
    client.post(f"{address}/share", {"visibility": "team"})
    conversation.refresh_from_db()
    assert (conversation.title, conversation.visibility) == ("A better name", "team")
    assert client.post(f"{address}/delete").url == "/"
    assert client.get(f"{address}/").status_code == 404


def test_a_title_that_is_too_long_is_told_on_the_page(cast):
    conversation = cast.conversation()
    answer = browser(cast.owner).post(f"/c/{conversation.public_id}/rename", {"title": "x" * 201}, follow=True)
    assert "The title is longer than 200 characters." in text_of(answer)


def test_someone_elses_conversation_does_not_exist(cast):
    conversation = cast.conversation()
    answer = browser(cast.stranger).get(f"/c/{conversation.public_id}/")
    assert answer.status_code == 404
    assert "it is not yours to see" in text_of(answer)


def test_a_reviewer_sees_that_they_look_by_office(cast):
    page = browser(cast.reviewer).get(f"/c/{cast.conversation().public_id}/")
    assert "You see this conversation by your office" in text_of(page)
    assert 'id="composer"' not in html_of(page)


def test_pages_are_for_this_person_only(cast):
    answer = browser(cast.owner).get("/")
    assert "no-store" in answer["Cache-Control"]
    policy = answer["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "yesterday"])
def test_a_place_in_the_list_that_nobody_gave_out_is_ignored(cast, moment):
    cast.conversation()
    rows = browser(cast.owner).get("/c/list", {"before": f"{moment}~1"})
    assert rows.status_code == 200
    assert "New conversation" in text_of(rows)


def test_what_a_model_made_up_is_shown_as_left_out(cast):
    run = cast.run()
    holder = journal.claim(str(run.public_id), make_worker())
    message, call = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    broken = ToolCall(call, "unreadable_reply", None, "Thought: hm", invalid=enums.Invalid.FORM, detail="No form.")
    said = AssistantMessage(message, calls=(broken,), extra={"invented": {"text": "26 <b>°C</b>", "length": 12}})
    journal.append(holder, (events.MessageFinished(said, Usage()),))
    client = browser(cast.owner)
    card = client.get(f"/cards/message/{message}")
    assert "made up in place of a result" in text_of(card) and "26 &lt;b&gt;" in html_of(card)
    assert " hidden>" not in html_of(card).split("<h2")[0]
    assert "Unreadable reply" in text_of(client.get(f"/cards/call/{call}"))


def listed(client, **query) -> list[str]:
    """Which conversations the list shows, by their ids."""
    return re.findall(r'href="/c/([0-9a-f-]{36})/[?"]', html_of(client.get("/c/list", query, **HTMX)))


def test_an_archived_conversation_is_in_its_own_group_until_somebody_writes_in_it(cast):
    client = browser(cast.owner)
    shown, other = (str(cast.conversation().public_id) for _ in range(2))
    assert client.post(f"/c/{shown}/archive").url == "/"
    assert (listed(client), listed(client, show="archived")) == ([other], [shown])
    assert listed(client, show="mine") == [other]
    assert "Take it out of the archive" in text_of(client.get(f"/c/{shown}/"))
    assert client.post(f"/c/{shown}/archive", {"back": "yes"}).url == f"/c/{shown}/"
    assert sorted(listed(client)) == sorted([shown, other])
    client.post(f"/c/{shown}/archive")
    client.post(f"/c/{shown}/send", {"text": "What is the date?", "key": "k1"})
    assert sorted(listed(client)) == sorted([shown, other])


def test_an_archived_conversation_is_found_and_does_not_hide_what_waits(cast):
    run = cast.builder_run()
    waiting_approvals(cast, run)
    client, shown = browser(cast.owner), str(run.conversation.public_id)
    title = Conversation.objects.get().title
    client.post(f"/c/{shown}/archive")
    assert listed(client) == []
    assert listed(client, q=title[:5]) == [shown]
    assert listed(client, show="waiting") == [shown]


def test_a_search_shows_what_was_said_and_keeps_its_words_in_every_link(cast):
    answered(cast.run("Who won?"), "The <b>winner</b> is Zoe.")
    client = browser(cast.owner)
    page = html_of(client.get("/c/list", {"q": "WINNER", "show": "mine"}, **HTMX))
    assert "&lt;b&gt;<mark>winner</mark>&lt;/b&gt;" in page
    assert "show=team&amp;q=WINNER" in page
    assert "Nothing says that." in html_of(client.get("/c/list", {"q": "a&b=c\0"}, **HTMX))
    whole = client.get("/", {"q": "winner"})
    assert 'value="winner"' in html_of(whole)
    assert "<mark>winner</mark>" in html_of(whole)
