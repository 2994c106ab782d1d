"""A long conversation is read page by page, from its end or from any part of it."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.runs.models import Call, Message
from tests.chat.views.person import HTMX, browser, html_of
from tests.chat.views.talked import talked

pytestmark = pytest.mark.django_db


def asked(response) -> list[int]:
    """Which questions are on the page, in its order."""
    return [int(number) for number in re.findall(r"hx-ignore>question (\d+)!", html_of(response))]


def cursor(response, name: str) -> str:
    found = re.search(rf'hx-get="[^"]*/messages\?{name}=([^"]*)"', html_of(response))
    return found[1] if found else ""


def page(client, conversation, part: str = "", **query):
    headers = HTMX if part else {}
    return client.get(f"/c/{conversation.public_id}/{part}", query, headers=headers)


def test_the_page_begins_with_the_last_messages_and_older_ones_are_fetched(cast):
    client, conversation = browser(cast.owner), talked(cast, 35)
    first = page(client, conversation)
    assert asked(first) == list(range(20, 35))
    second = page(client, conversation, "messages", before=cursor(first, "before"))
    assert asked(second) == list(range(5, 20))
    assert cursor(second, "after") == "", "what is below is on the page already"
    third = page(client, conversation, "messages", before=cursor(second, "before"))
    assert asked(third) == list(range(5))
    assert cursor(third, "before") == ""


def test_runs_of_many_messages_are_shown_whole_and_few_at_once(cast):
    client, conversation = browser(cast.owner), talked(cast, 6, answers=19)
    shown = page(client, conversation)
    assert asked(shown) == [4, 5]
    assert html_of(shown).count("answer 4!") >= 19


def test_a_link_to_an_older_message_shows_it_with_what_follows(cast):
    client, conversation = browser(cast.owner), talked(cast, 60)
    message = Message.objects.get(conversation=conversation, text="answer 7!")
    shown = page(client, conversation, at=f"message-{message.public_id}")
    assert asked(shown) == list(range(7, 22))
    assert f'id="message-{message.public_id}"' in html_of(shown)
    assert "You are reading older messages." in html_of(shown)
    assert "<chat-stream" not in html_of(shown), "what happens now would stand behind what was long ago"
    below = page(client, conversation, "messages", after=cursor(shown, "after"))
    assert asked(below) == list(range(22, 37))
    assert cursor(below, "before") == ""
    assert asked(page(client, conversation, before=cursor(shown, "before"))) == list(range(7))


def test_a_link_to_one_of_the_last_messages_shows_the_usual_page(cast):
    client, conversation = browser(cast.owner), talked(cast, 20)
    run = conversation.runs.order_by("-pk")[2]
    call = Call.objects.create(run=run, message=run.messages.last(), position=0, name="weather")
    shown = page(client, conversation, at=f"call-{call.public_id}")
    assert asked(shown) == list(range(5, 20))
    assert "<chat-stream" in html_of(shown)


@pytest.mark.parametrize("name", ["before", "after", "at"])
@pytest.mark.parametrize("value", ["nonsense", "00000000-0000-4000-8000-000000000000", "\x00", "run-", "page-1"])
def test_a_place_that_is_none_is_not_found(cast, name, value):
    assert page(browser(cast.owner), cast.conversation(), **{name: value}).status_code == 404


def test_a_place_in_another_conversation_is_not_found(cast):
    other = talked(cast, 1)
    message = other.messages.first()
    assert page(browser(cast.owner), cast.conversation(), at=f"message-{message.public_id}").status_code == 404


def test_every_page_takes_the_same_queries_however_long_the_conversation_is(cast):
    client, conversation = browser(cast.owner), talked(cast, 80)

    def queries(**query) -> int:
        page(client, conversation, "messages", **query)  # the HTML of messages is kept when it is first made
        with CaptureQueriesContext(connection) as counted:
            page(client, conversation, "messages", **query)
        return len(counted)

    runs = list(conversation.runs.order_by("pk").values_list("public_id", flat=True))
    assert queries(before=runs[75]) == queries(before=runs[20])
    assert queries(after=runs[5]) == queries(after=runs[40])


def test_what_is_found_by_its_words_is_linked_where_it_was_said(cast):
    client, conversation = browser(cast.owner), talked(cast, 60)
    message = Message.objects.get(conversation=conversation, text="answer 7!")
    Message.objects.filter(pk=message.pk).update(text="The harbour is closed.")
    listed = client.get("/c/list", {"q": "HARBOUR"})
    address = f"/c/{conversation.public_id}/?at=message-{message.public_id}#message-{message.public_id}"
    assert f'href="{address}"' in html_of(listed)
