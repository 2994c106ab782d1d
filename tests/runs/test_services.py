"""What people do to conversations and runs, and what stays impossible."""

import json
import threading
from uuid import uuid4

import pytest
from django.db import connection

from agentweb.engine import events
from agentweb.engine.enums import Finish, Outcome, Reason
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.usage import Usage
from agentweb.runs import conversations, journal, selectors, services, transcripts
from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound
from agentweb.runs.models import Conversation, Message, QueuedMessage, Run
from tests.cast import make_cast, make_worker


def send(cast, conversation, text="Hello", user=None, **fields):
    user = user or cast.owner
    return services.send_message(
        user=user, conversation=selectors.conversation_for(user, conversation.public_id), text=text, **fields
    )


def test_the_first_message_starts_a_run_and_names_the_conversation(cast):
    conversation = cast.conversation()
    sent = send(cast, conversation, "  What is the date\n today? ")
    assert sent.delivered == "now"
    assert sent.run.status == Run.Status.QUEUED
    message = Message.objects.get(public_id=sent.message)
    assert (message.run, message.author, message.text) == (sent.run, cast.owner, "  What is the date\n today? ")
    assert Conversation.objects.get().title == "What is the date today?"
    assert sent.run.events.get().kind == "RunStarted"


@pytest.mark.parametrize(
    ("delivery", "delivered"), [("auto", "steering"), ("steer", "steering"), ("follow_up", "follow_up")]
)
def test_a_message_to_a_live_run_waits_in_its_inbox(cast, delivery, delivered):
    conversation = cast.conversation()
    first = send(cast, conversation)
    second = send(cast, conversation, "more", delivery=delivery)
    assert (second.delivered, second.run) == (delivered, first.run)
    assert QueuedMessage.objects.get().text == "more"
    assert Message.objects.count() == 1


@pytest.mark.parametrize("delivery", ["auto", "steer", "follow_up"])
def test_without_a_live_run_every_delivery_starts_one(cast, delivery):
    assert send(cast, cast.conversation(), delivery=delivery).delivered == "now"


def test_the_same_key_gets_the_same_answer_and_no_second_message(cast):
    conversation = cast.conversation()
    first, again = send(cast, conversation, key="k1"), send(cast, conversation, key="k1")
    assert (first.message, first.run, first.delivered) == (again.message, again.run, again.delivered)
    assert Message.objects.count() == 1
    assert QueuedMessage.objects.count() == 0


def test_a_key_that_was_used_for_other_words_is_refused(cast):
    conversation = cast.conversation()
    send(cast, conversation, key="k1")
    with pytest.raises(Invalid):
        send(cast, conversation, "other words", key="k1")


@pytest.mark.parametrize("text", ["", "  \n", "\x00", None, 5, "x" * 100_001])
def test_a_message_that_says_nothing_or_too_much_is_refused(cast, text):
    with pytest.raises(Invalid) as refused:
        send(cast, cast.conversation(), text)
    assert refused.value.errors[0][0] == "text"
    assert Message.objects.count() == 0


def test_the_longest_message_is_taken(cast):
    assert send(cast, cast.conversation(), "x" * 100_000).delivered == "now"


def test_characters_that_no_database_takes_are_cleaned(cast):
    send(cast, cast.conversation(), "a\x00b\ud800c")
    assert Message.objects.get().text == "ab�c"


@pytest.mark.parametrize(
    ("visibility", "who", "error"),
    [
        ("private", "member", NotFound),
        ("private", "stranger", NotFound),
        ("team", "stranger", NotFound),
        ("private", "reviewer", Forbidden),
        ("team", "reviewer", Forbidden),
        ("private", "admin", Forbidden),
    ],
)
def test_people_write_only_where_they_chat(cast, visibility, who, error):
    conversation = cast.conversation(visibility)
    with pytest.raises(error):
        send(cast, conversation, user=cast.person(who))
    assert Message.objects.count() == 0


@pytest.mark.parametrize("who", ["owner", "member", "admin"])
def test_everyone_who_chats_writes_in_a_shared_conversation(cast, who):
    assert send(cast, cast.conversation("team"), user=cast.person(who)).delivered == "now"


def test_a_look_by_office_is_logged_once_and_the_owners_own_never(cast):
    conversation = cast.conversation("team")
    for person in (cast.owner, cast.member, cast.reviewer, cast.reviewer):
        selectors.conversation_for(person, conversation.public_id)
    assert [look.user for look in conversation.looks.all()] == [cast.reviewer]


def test_a_cancel_counts_once_and_is_only_for_owner_and_admin(cast):
    run = cast.run(visibility="team")
    with pytest.raises(Forbidden):
        services.cancel_run(user=cast.member, run=selectors.run_for(cast.member, run.public_id))
    assert services.cancel_run(user=cast.admin, run=selectors.run_for(cast.admin, run.public_id))
    assert not services.cancel_run(user=cast.owner, run=selectors.run_for(cast.owner, run.public_id))
    run.refresh_from_db()
    assert run.cancel_requested_by == cast.admin


def test_a_queued_message_can_be_changed_until_it_is_taken(cast):
    conversation = cast.conversation()
    run = selectors.run_for(cast.owner, send(cast, conversation).run.public_id)
    queued = selectors.queued_for(cast.owner, run, send(cast, conversation, "more").message)
    assert services.edit_queued(user=cast.owner, queued=queued, text="less").text == "less"
    assert services.remove_queued(user=cast.owner, queued=queued).status == QueuedMessage.Status.REMOVED
    with pytest.raises(Conflict) as refused:
        services.edit_queued(user=cast.owner, queued=queued, text="again")
    assert refused.value.state["status"] == "removed"


def test_a_deleted_conversation_is_gone_for_everyone_and_its_run_is_cancelled(cast):
    conversation = cast.conversation()
    run = send(cast, conversation).run
    conversations.delete_conversation(user=cast.owner, conversation=conversation)
    with pytest.raises(NotFound):
        selectors.conversation_for(cast.owner, conversation.public_id)
    assert Run.objects.get(pk=run.pk).cancel_requested_at is not None
    assert conversation not in selectors.conversations_for(cast.owner)


def test_a_message_takes_back_no_name_that_someone_gives_meanwhile(cast):
    conversation = cast.conversation()
    conversations.rename_conversation(
        user=cast.owner, conversation=selectors.conversation_for(cast.owner, conversation.public_id), title="My name"
    )
    services.send_message(user=cast.owner, conversation=conversation, text="Hello")
    assert Conversation.objects.get().title == "My name"


def test_no_run_begins_in_a_conversation_that_was_deleted_meanwhile(cast):
    conversation = cast.conversation()
    conversations.delete_conversation(
        user=cast.owner, conversation=selectors.conversation_for(cast.owner, conversation.public_id)
    )
    with pytest.raises(NotFound):
        services.send_message(user=cast.owner, conversation=conversation, text="Hello")
    assert not Run.objects.exists() and not Message.objects.exists()


def test_a_person_who_left_the_team_sees_nothing_of_it(cast):
    conversation = cast.conversation()
    cast.owner.memberships.all().delete()
    with pytest.raises(NotFound):
        selectors.conversation_for(cast.owner, conversation.public_id)


def test_an_answered_run_cannot_be_tried_again(cast):
    run = cast.run()
    with pytest.raises(Conflict):
        services.retry_run(user=cast.owner, run=selectors.run_for(cast.owner, run.public_id))


def end_with_words(run: Run, worker, outcome: Outcome, reason: Reason) -> None:
    """The run says something and ends without having answered."""
    holder = journal.claim(str(run.public_id), worker)
    said = AssistantMessage(str(uuid4()), "Half an ans", finish=Finish.CANCELLED)
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(said.id, 1, 1, "scripted", "d")))
    end = events.RunFinished(outcome, reason, "", Usage())
    journal.append(holder, (events.MessageFinished(said, Usage()), events.TurnFinished(1), end))


@pytest.mark.parametrize(
    ("outcome", "reason"), [(Outcome.CANCELLED, Reason.BY_PERSON), (Outcome.LIMIT_REACHED, Reason.TURNS)]
)
def test_trying_again_asks_the_model_anew_whatever_it_had_said(cast, worker, outcome, reason):
    first = cast.run("Tell me a story")
    end_with_words(first, worker, outcome, reason)

    second = services.retry_run(user=cast.owner, run=selectors.run_for(cast.owner, first.public_id))

    transcript, _usage = transcripts.load(second)
    assert [message.text for message in transcript.messages] == ["Tell me a story"]
    end_with_words(second, worker, Outcome.ANSWERED, Reason.DONE)
    third = send(cast, first.conversation, "And now?").run
    transcript, _usage = transcripts.load(third)
    assert [message.text for message in transcript.messages] == ["Tell me a story", "Half an ans", "And now?"]


def test_a_page_of_the_list_costs_the_same_with_one_and_with_thirty(cast, django_assert_num_queries):
    def titles():
        return [(row.title, row.agent.name, row.owner.username) for row in selectors.conversations_for(cast.owner)[:50]]

    cast.conversation()
    with django_assert_num_queries(1):
        titles()
    for _ in range(29):
        cast.conversation()
    with django_assert_num_queries(1):
        assert len(titles()) == 30


@pytest.mark.django_db(transaction=True)
def test_messages_sent_in_the_same_moment_make_one_run_and_none_is_lost():
    cast = make_cast()
    conversation = cast.conversation()
    barrier = threading.Barrier(4)
    failures = []

    def one(number: int) -> None:
        try:
            barrier.wait()
            send(cast, conversation, f"message {number}")
        except Exception as error:  # shown by the assertion below
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    assert Run.objects.count() == 1
    assert Message.objects.count() + QueuedMessage.objects.count() == 4


def test_a_released_run_can_be_claimed_by_another_worker_at_once(cast, worker):
    run = cast.run()
    holder = journal.claim(str(run.public_id), worker)
    journal.release(holder)
    again = journal.claim(str(run.public_id), make_worker("other"))
    assert again is not None
    assert (again.epoch, again.recovered) == (2, False)


# --- going on after a limit ---------------------------------------------------------------------------------------


@pytest.fixture
def limited(cast, worker) -> Run:
    run = cast.run("Tell me a story")
    end_with_words(run, worker, Outcome.LIMIT_REACHED, Reason.TURNS)
    return selectors.run_for(cast.owner, run.public_id)


@pytest.mark.parametrize(("turns", "limit"), [(None, 10), (3, 3)])
def test_a_run_that_ended_at_a_limit_goes_on_with_all_that_was_said(cast, limited, turns, limit):
    second = services.continue_run(user=cast.owner, run=limited, turns=turns)

    transcript, usage = transcripts.load(second)
    said = ["Tell me a story", "Half an ans", f"Please go on. You have {limit} more turns."]
    assert [message.text for message in transcript.messages] == said
    assert not transcript.answered and usage.turns == 0
    assert json.loads(second.snapshot.data)["max_turns"] == limit
    assert json.loads(second.events.get(kind="RunStarted").payload)["max_turns"] == limit


def test_only_the_latest_run_that_ended_at_a_limit_can_be_continued(cast, limited, worker):
    answered = cast.run()
    end_with_words(answered, worker, Outcome.ANSWERED, Reason.DONE)
    with pytest.raises(Conflict) as refused:
        services.continue_run(user=cast.owner, run=selectors.run_for(cast.owner, answered.public_id))
    assert refused.value.state == {"status": "finished", "outcome": "answered"}
    services.continue_run(user=cast.owner, run=limited)
    with pytest.raises(Conflict):
        services.continue_run(user=cast.owner, run=limited)


@pytest.mark.parametrize("turns", [0, -1, 201, "5", 2.5, True])
def test_the_turns_are_a_whole_number_within_bounds(cast, limited, turns):
    with pytest.raises(Invalid) as refused:
        services.continue_run(user=cast.owner, run=limited, turns=turns)
    assert [field for field, _words in refused.value.errors] == ["turns"]


def test_a_reader_does_not_continue(cast, limited):
    with pytest.raises(Forbidden):
        services.continue_run(user=cast.reviewer, run=selectors.run_for(cast.reviewer, limited.public_id))
