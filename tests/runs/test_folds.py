"""What was folded stays in the record and on the page; the model is sent what stands for it, also in later runs."""

from uuid import uuid4

import pytest

from agentweb.audit.requests import rebuild
from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.usage import Usage
from agentweb.runs import decisions, journal, services, transcripts
from agentweb.runs.models import Message, Run
from agentweb.runs.selectors import conversation_for
from tests.cast import make_worker
from tests.chat.views.person import browser, html_of, text_of
from tests.runs.replayed import replayed
from tests.runs.waiting_question import waiting_question

pytestmark = pytest.mark.django_db

DONE = events.RunFinished(enums.Outcome.ANSWERED, enums.Reason.DONE, "Answered.", Usage())


def say(holder: journal.Claimed, turn: int, text: str, *before: events.Event) -> str:
    message = str(uuid4())
    asked = events.ModelRequested(message, turn, 1, "scripted", "d")
    journal.append(holder, (events.TurnStarted(turn), *before, asked))
    said = events.MessageFinished(AssistantMessage(message, text), Usage(input_tokens=5))
    journal.append(holder, (said, events.TurnFinished(turn)))
    return message


def hold(run: Run) -> journal.Claimed:
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    return holder


def again(cast, run: Run) -> Run:
    conversation = conversation_for(cast.owner, run.conversation.public_id)
    return services.send_message(user=cast.owner, conversation=conversation, text="And tomorrow?").run


def folded(run: Run, strategy: enums.Strategy = enums.Strategy.SUMMARY) -> tuple[str, list[str]]:
    """A run of three turns that folded the first before the last: the fold and the messages."""
    holder = hold(run)
    said = [say(holder, 1, "First words."), say(holder, 2, "Second words.")]
    fold = str(uuid4())
    spent = Usage(input_tokens=40, output_tokens=2)
    event = events.ContextFolded(
        fold, 3, strategy, (said[0],), (), 1, "In short: first.", 900, 100, spent, 0.5, None, "A: 1"
    )
    asked = events.SummaryRequested(fold, 3, 1, "scripted", "d", (said[0],), (), 1_000)
    said.append(say(holder, 3, "Third words.", asked, event))
    journal.append(holder, (DONE,))
    run.refresh_from_db()
    return fold, said


def test_the_rows_tell_what_the_events_tell(cast):
    run = cast.run()
    fold, said = folded(run)
    transcript, usage = transcripts.load(run)
    assert [one.message for one in transcript.folds] == [fold]
    assert transcript.folds[0].messages == (said[0],)
    assert transcript == replayed(run)
    texts = [message.text for message in transcript.history()]
    shown = "In short: first.\n\nWorking notes:\nA: 1"
    assert texts == ["What is the date today?", shown, "Second words.", "Third words."]
    assert (usage.model_calls, usage.input_tokens) == (4, 55)


def test_a_later_run_still_sends_what_stands_for_it(cast):
    run = cast.run()
    folded(run)
    later = again(cast, run)
    transcript, _usage = transcripts.load(later)
    assert [message.text for message in transcript.history()][1].startswith("In short: first.")
    assert transcript == replayed(later)


def test_a_worker_that_takes_over_knows_that_the_context_was_too_long(cast):
    run = cast.run()
    holder = hold(run)
    said = say(holder, 1, "First words.")
    fault = events.ModelFault(enums.ErrorKind.CONTEXT_LENGTH, "Too long.")
    message, fold = str(uuid4()), str(uuid4())
    journal.append(holder, (events.TurnStarted(2), events.ModelRequested(message, 2, 1, "scripted", "d")))
    journal.append(holder, (events.MessageInterrupted(message, "", "", fault),))
    run.refresh_from_db()
    transcript, _usage = transcripts.load(run)
    assert (transcript.overflows, transcript.must_fold) == (1, True)
    assert transcript == replayed(run)
    window = enums.Strategy.WINDOW
    journal.append(holder, (events.ContextFolded(fold, 2, window, (said,), (), 1, "(1 left out)", 9, 1),))
    run.refresh_from_db()
    transcript, _usage = transcripts.load(run)
    assert (transcript.overflows, transcript.must_fold) == (1, False)
    assert transcript == replayed(run)


def test_a_worker_that_takes_over_knows_that_people_wanted_it_folded(cast):
    run = cast.run()
    question = waiting_question(cast, run)
    decisions.decide(user=cast.owner, approval=question, decision="approve", digest=question.digest)
    said = (str(question.public_id), enums.Question.CIRCLES, enums.ApprovalStatus.MODIFIED, enums.DecisionKind.MODIFY)
    decided = events.QuestionDecided(*said, "owner", "", {"compact": True, "cheaper": True})
    holder, fold, first = hold(run), str(uuid4()), str(run.messages.filter(role="assistant").get().public_id)
    asked = events.SummaryRequested(fold, 2, 1, "scripted", "d", (first,), (), 1_000)
    journal.append(holder, (decided, events.TurnStarted(2), asked))
    run.refresh_from_db()
    assert transcripts.load(run)[0].must_fold and transcripts.load(run)[0].cheaper
    assert transcripts.load(run)[0] == replayed(run)
    summary = enums.Strategy.SUMMARY
    journal.append(holder, (events.ContextFolded(fold, 2, summary, (first,), (), 1, "In short.", 9, 1),))
    run.refresh_from_db()
    assert not transcripts.load(run)[0].must_fold
    assert transcripts.load(run)[0] == replayed(run)


def test_a_fold_that_takes_in_an_older_one_leads_to_the_first_original(cast):
    run = cast.run()
    older, said = folded(run)
    later = again(cast, run)
    fold = str(uuid4())
    event = events.ContextFolded(fold, 1, enums.Strategy.SUMMARY, (said[1],), (older,), 2, "In short: both.", 9, 1)
    journal.append(hold(later), (events.TurnStarted(1), event))
    later.refresh_from_db()
    transcript, _usage = transcripts.load(later)
    assert transcript == replayed(later)
    texts = [message.text for message in transcript.history()]
    assert texts == ["What is the date today?", "In short: both.", "Third words.", "And tomorrow?"]
    page = browser(cast.owner).get(f"/cards/message/{fold}")
    assert "2 older messages were summed up for the model." in text_of(page)
    assert f'href="/c/{run.conversation.public_id}/?at=message-{said[0]}#message-{said[0]}"' in html_of(page)


def test_the_exact_request_is_made_again_with_the_fold(cast):
    run = cast.run()
    folded(run)
    first, *_rest, last = run.events.filter(kind="ModelRequested").order_by("number")
    texts = [message["content"] for message in rebuild(run, last.number).body["messages"][1:]]
    assert texts == ["What is the date today?", "In short: first.\n\nWorking notes:\nA: 1", "Second words."]
    assert len(rebuild(run, first.number).body["messages"]) == 2


def test_the_page_says_so_in_one_line_that_leads_to_the_originals(cast):
    run = cast.run()
    fold, said = folded(run)
    for address in (f"/c/{run.conversation.public_id}/", f"/cards/message/{fold}"):
        page = browser(cast.owner).get(address)
        assert (
            "1 older message was summed up for the model. In short: first. Working notes A: 1 Show the originals"
            in text_of(page)
        )
        assert f'href="#message-{said[0]}"' in html_of(page)
    words = text_of(browser(cast.owner).get(f"/c/{run.conversation.public_id}/"))
    assert "First words." in words
    told = text_of(browser(cast.reviewer).get(f"/audit/runs/{run.public_id}/"))
    assert "scripted is asked to sum up older messages" in told
    assert "1 older message was summed up for the model" in told


def test_originals_of_an_older_run_are_one_click_away_too(cast):
    run = cast.run()
    _fold, said = folded(run)
    later = again(cast, run)
    fold = str(uuid4())
    event = events.ContextFolded(fold, 1, enums.Strategy.WINDOW, (said[1],), (), 1, "(1 left out)", 9, 1)
    journal.append(hold(later), (events.TurnStarted(1), event))
    page = browser(cast.owner).get(f"/cards/message/{fold}")
    assert "1 older message is no longer sent to the model." in text_of(page)
    place = f"/c/{run.conversation.public_id}/?at=message-{said[1]}"
    assert f'href="{place}#message-{said[1]}"' in html_of(page)
    assert "Second words." in text_of(browser(cast.owner).get(place))
    assert Message.objects.get(public_id=fold).role == Message.Role.SYSTEM
