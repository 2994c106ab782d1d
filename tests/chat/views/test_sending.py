"""Sending messages, what waits in a run's inbox, and ending or repeating a run."""

from uuid import uuid4

import pytest

from agentweb.engine import enums, events
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.runs.models import Message, QueuedMessage, Run
from tests.cast import make_worker
from tests.chat.views.person import HTMX, browser, hidden_value, html_of, text_of


@pytest.fixture
def client(cast):
    return browser(cast.owner)


def send(client, conversation, text, headers=None, **more):
    return client.post(f"/c/{conversation.public_id}/send", {"text": text, **more}, headers=headers)


def failed(run: Run, text: str) -> None:
    holder = journal.claim(str(run.public_id), make_worker(f"w{run.pk}"))
    fault = events.ModelFault(enums.ErrorKind.CONNECTION, text, True)
    end = events.RunFinished(enums.Outcome.FAILED, enums.Reason.MODEL_ERROR, text, Usage(), fault)
    journal.append(holder, (end,))


def ended(run: Run, outcome: enums.Outcome, reason: enums.Reason) -> None:
    holder = journal.claim(str(run.public_id), make_worker(f"w{run.pk}"))
    journal.append(holder, (events.RunFinished(outcome, reason, "", Usage()),))


def test_without_scripts_a_message_leads_back_to_the_page(cast, client):
    conversation = cast.conversation()
    answer = send(client, conversation, "Hello")
    assert answer.url == f"/c/{conversation.public_id}/"
    assert Message.objects.get().text == "Hello"


def test_a_fragment_gets_the_run_a_new_key_and_the_title(cast, client):
    conversation = cast.conversation()
    html = html_of(send(client, conversation, "Hello <b>you</b>", HTMX))
    run = Run.objects.get()
    assert f'<section id="run-{run.public_id}"' in html
    assert '<hx-partial hx-target="#composer-key"' in html
    assert (
        '<hx-partial hx-target="#conversation-title" hx-swap="innerHTML"><bdi>Hello &lt;b&gt;you&lt;/b&gt;</bdi>'
        in html
    )


def test_the_same_form_sent_twice_counts_once(cast, client):
    conversation = cast.conversation()
    key = hidden_value(client.get(f"/c/{conversation.public_id}/"), "key")
    for _ in range(2):
        assert send(client, conversation, "Hello", HTMX, key=key).status_code == 200
    assert Message.objects.count() == 1
    assert hidden_value(client.get(f"/c/{conversation.public_id}/"), "key") != key


@pytest.mark.parametrize("text", ["", "  \r\n ", "x" * 100_001])
def test_a_message_that_cannot_be_taken_is_told_and_kept(cast, client, text):
    conversation = cast.conversation()
    fragment = send(client, conversation, text, HTMX)
    assert fragment.status_code == 422
    assert "error-text" in html_of(fragment)
    page = send(client, conversation, text)
    assert page.status_code == 422
    assert page.content.decode().count("x" * 100_001) == (1 if "x" in text else 0)
    assert not Message.objects.exists()


@pytest.mark.parametrize("text", ["a\x00b", "half \ud800", "‮right to left", "😀" * 100])
def test_any_character_that_people_can_send_is_taken(cast, client, text):
    answer = send(client, cast.conversation(), text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    assert answer.status_code == 302
    assert "\x00" not in Message.objects.get().text


@pytest.mark.parametrize(
    ("delivery", "kind"), [("auto", "steering"), ("steer", "steering"), ("follow_up", "follow_up")]
)
def test_a_message_to_a_live_run_waits_in_its_inbox(cast, client, delivery, kind):
    run = cast.run()
    answer = send(client, run.conversation, "one more thing", HTMX, delivery=delivery)
    assert QueuedMessage.objects.get().delivery == kind
    assert f'hx-target="#run-{run.public_id}-state"' in html_of(answer)
    assert "one more thing" in text_of(answer)
    assert "one more thing" in text_of(client.get(f"/c/{run.conversation.public_id}/"))


def test_an_unknown_delivery_is_refused(cast, client):
    assert send(client, cast.conversation(), "Hello", HTMX, delivery="pigeon").status_code == 422


def test_a_waiting_message_can_be_changed_and_taken_back(cast, client):
    run = cast.run()
    send(client, run.conversation, "frist")
    queued = QueuedMessage.objects.get()
    address = f"/runs/{run.public_id}/queue/{queued.public_id}"
    assert "first" in text_of(client.post(f"{address}/edit", {"text": "first"}, headers=HTMX))
    assert "first" not in text_of(client.post(f"{address}/remove", headers=HTMX))
    queued.refresh_from_db()
    assert (queued.text, queued.status) == ("first", "removed")
    late = client.post(f"{address}/edit", {"text": "too late"}, headers=HTMX)
    assert late.status_code == 409
    assert "no longer queued" in text_of(late)


def test_a_message_for_the_end_can_be_delivered_before_the_next_step(cast, client):
    run = cast.run()
    send(client, run.conversation, "one more thing", delivery="follow_up")
    queued = QueuedMessage.objects.get()
    address = f"/runs/{run.public_id}/queue/{queued.public_id}/next"
    shown = client.post(address, headers=HTMX)
    assert "Next, before the agent goes on" in text_of(shown)
    assert "Deliver now" not in text_of(shown)
    queued.refresh_from_db()
    assert (queued.delivery, queued.revision, queued.status) == ("steering", 1, "queued")
    QueuedMessage.objects.update(status="taken")
    assert client.post(address, headers=HTMX).status_code == 409


def test_a_message_that_was_not_delivered_is_offered_back_to_its_author(cast, client):
    run = cast.run()
    send(client, run.conversation, "never taken")
    failed(run, "no server")
    assert 'data-take-back="never taken"' in html_of(client.get(f"/cards/run/{run.public_id}"))


def test_a_queued_run_says_when_no_worker_takes_it(cast, client):
    run = cast.run()
    assert "Queued" in text_of(client.get(f"/cards/run/{run.public_id}"))
    Run.objects.filter(pk=run.pk).update(queued_at="2026-01-01T00:00:00Z")
    card = client.get(f"/cards/run/{run.public_id}")
    assert "Queued, waits for a free worker" in text_of(card)
    assert "every 3s" in html_of(card)


def test_cancel_is_shown_at_once_and_only_once(cast, client):
    run = cast.run()
    answer = client.post(f"/runs/{run.public_id}/cancel", headers=HTMX)
    assert "Stopping…" in text_of(answer)
    assert "/cancel" not in html_of(answer)
    assert client.post(f"/runs/{run.public_id}/cancel").url == f"/c/{run.conversation.public_id}/"


@pytest.mark.parametrize("after", ["reasoning", "acting"])
def test_a_run_can_be_stopped_at_a_seam(cast, client, after):
    run = cast.run()
    answer = client.post(f"/runs/{run.public_id}/stop", {"after": after}, headers=HTMX)
    assert "The run stops after" in text_of(answer)


def test_an_unknown_seam_is_refused_with_the_run_as_it_is(cast, client):
    run = cast.run()
    answer = client.post(f"/runs/{run.public_id}/stop", {"after": "lunch"}, headers=HTMX)
    assert answer.status_code == 409
    assert f'id="run-{run.public_id}-state"' in html_of(answer)


def test_after_a_failure_the_page_says_why_and_offers_to_try_again(cast, client):
    run = cast.run()
    failed(run, "The model server cannot be reached.")
    words = text_of(client.get(f"/c/{run.conversation.public_id}/"))
    assert "The model could not answer." in words
    assert "The model server cannot be reached." in words
    assert "Try again" in words


def test_try_again_starts_a_new_run_behind_the_old_one(cast, client):
    run = cast.run()
    failed(run, "no server")
    answer = client.post(f"/runs/{run.public_id}/retry", headers=HTMX)
    new = Run.objects.exclude(pk=run.pk).get()
    assert f'<section id="run-{new.public_id}"' in html_of(answer)
    assert html_of(answer).index(f"run-{run.public_id}-state") < html_of(answer).index(f"run-{new.public_id}")
    again = client.post(f"/runs/{run.public_id}/retry", headers=HTMX)
    assert again.status_code == 409
    assert "Try again" not in text_of(again)


def test_after_a_limit_the_page_offers_to_continue_with_more_turns(cast, client):
    run = cast.run()
    ended(run, enums.Outcome.LIMIT_REACHED, enums.Reason.TURNS)
    footer = client.get(f"/cards/run/{run.public_id}")
    assert "Continue with 10 more turns" in text_of(footer)
    assert "Try again" not in text_of(footer)
    answer = client.post(f"/runs/{run.public_id}/continue", {"turns": "10"}, headers=HTMX)
    new = Run.objects.exclude(pk=run.pk).get()
    assert f'<section id="run-{new.public_id}"' in html_of(answer)
    assert "Please go on. You have 10 more turns." in text_of(answer)
    assert client.post(f"/runs/{run.public_id}/continue", headers=HTMX).status_code == 409


def test_the_goals_of_a_run_are_a_checklist_and_the_note_to_the_agent_is_shown_apart(cast, client):
    run = cast.run()
    holder = journal.claim(str(run.public_id), make_worker("w"))
    results = (
        events.GoalResult("file", "a.md", "", False, "There is no file a.md."),
        events.GoalResult("json", "", "", True),
        events.GoalResult("text", "", "The title", True),
    )
    note = events.NoteAdded(str(uuid4()), 1, enums.NoteKind.GOALS, "Not finished yet: <b>a.md</b>")
    journal.append(holder, (events.GoalsChecked(1, results), note, events.TurnStarted(2)))
    words = text_of(client.get(f"/cards/run/{run.public_id}", {"part": "section"}))
    assert "The file a.md exists missed There is no file a.md." in words
    assert "The answer is JSON that fits the schema reached" in words
    assert "The title reached" in words
    card = client.get(f"/cards/message/{note.message}")
    assert "so the agent was told which. Not finished yet: <b>a.md</b>" in text_of(card)


def test_a_whole_run_can_be_fetched(cast, client):
    run = cast.run("What is the date?")
    section = client.get(f"/cards/run/{run.public_id}", {"part": "section"})
    assert html_of(section).strip().startswith(f'<section id="run-{run.public_id}"')
    assert "What is the date?" in text_of(section)


def test_others_in_the_team_see_who_said_what(cast, client):
    run = cast.run("My question", visibility="team")
    message = Message.objects.get()
    assert "owner said" in text_of(browser(cast.member).get(f"/cards/message/{message.public_id}"))
    assert "You said" in text_of(client.get(f"/cards/message/{message.public_id}"))
    assert run.conversation.visibility == "team"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("&".join(f"a{number}=1" for number in range(1100)), "application/x-www-form-urlencoded"),
        ("text=" + "x" * 7_000_000, "application/x-www-form-urlencoded"),
        ("x", "multipart/form-data; boundary="),
    ],
    ids=["too many fields", "too large", "no form"],
)
def test_what_cannot_be_read_at_all_is_told_on_a_page(cast, body, kind):
    conversation = cast.conversation()
    answer = browser(cast.owner).post(f"/c/{conversation.public_id}/send", body, content_type=kind)
    assert 400 <= answer.status_code < 500
    assert "The request could not be understood." in text_of(answer)


@pytest.mark.parametrize(
    ("language", "first", "recorded"),
    [("en", "Nothing answers at 127.0.0.1:9.", False), ("zh-hans", "无法连接模型服务器。", True)],
)
def test_what_went_wrong_with_a_model_is_said_in_the_language_of_the_page(cast, client, language, first, recorded):
    run = cast.run()
    failed(run, "Nothing answers at 127.0.0.1:9.")
    html = html_of(client.get(f"/cards/run/{run.public_id}", headers={"Accept-Language": language}))
    assert f'<p class="notice danger" dir="auto">{first}' in html
    assert ('<p class="notice" lang="en" dir="auto">Nothing answers at 127.0.0.1:9.</p>' in html) is recorded
