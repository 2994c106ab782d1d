"""Conversations are found by parts of what was said in them, by those who may see them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.runs.models import Conversation, Message
from agentweb.ui.listing import listing
from agentweb.ui.searching import cleaned, pieces
from tests.cast import Cast, make_cast


@pytest.fixture
def cast(db) -> Cast:
    return make_cast()


def said(cast: Cast, text: str, title: str = "A chat", **fields) -> Conversation:
    made = cast.conversation(fields.pop("visibility", "private"))
    Conversation.objects.filter(pk=made.pk).update(title=title)
    Message.objects.create(conversation=made, text=text, **({"role": "assistant"} | fields))
    return made


def found(user, query: str) -> list[str]:
    return [row.conversation.title for row in listing(user, query=query).rows]


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("invoice", ["Bills"]),
        ("VOIC", ["Bills"]),
        ("bill", ["Bills"]),
        ("march invoice", ["Bills"]),
        ("march nothing", []),
        ("预算", ["计划"]),
        ("今年预算", []),
        ("100%", ["Bills"]),
        ("1__", []),
        ("\0", ["计划", "Bills"]),
        ("   ", ["计划", "Bills"]),
    ],
)
def test_every_word_must_be_part_of_the_title_or_of_a_message(cast, query, titles):
    said(cast, "The invoice of March is paid to 100%.", "Bills")
    said(cast, "这是我们今年的预算表。", "计划")
    assert found(cast.owner, query) == titles


def test_what_the_system_told_the_agent_and_what_broke_off_is_not_searched(cast):
    said(cast, "a secret of the system", role="system")
    said(cast, "half a secret", status="interrupted")
    assert found(cast.owner, "secret") == []


def test_nobody_finds_what_they_may_not_see(cast):
    said(cast, "about the merger", "Own")
    said(cast, "about the merger", "Shared", visibility="team")
    assert found(cast.owner, "merger") == ["Shared", "Own"]
    assert found(cast.person("member"), "merger") == ["Shared"]
    assert found(cast.person("stranger"), "merger") == []


def test_a_find_shows_where_it_was_said(cast):
    said(cast, "x" * 5000 + " the needle in it " + "y" * 5000)
    (row,) = listing(cast.owner, query="Needle").rows
    assert ("needle", True) in row.found.pieces
    assert 40 < sum(len(text) for text, _found in row.found.pieces) <= 120


def test_finding_takes_as_many_queries_for_many_as_for_one(cast):
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as counted:
            listing(cast.owner, query="needle")
        return len(counted)

    said(cast, "needle")
    few = queries()
    for _ in range(5):
        said(cast, "needle")
    assert queries() == few


def test_a_query_is_cut_and_its_spaces_are_made_one():
    assert cleaned("  a\n b\0 " + "c" * 200) == "a b " + "c" * 93


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("A needle, a Needle", "needle", [("A ", False), ("needle", True), (", a ", False), ("Needle", True)]),
        ("It is **Mon`day`**", "monday", [("It is ", False), ("Monday", True)]),
        ("a.c abc", "a.c", [("a.c", True), (" abc", False)]),
        ("nothing", "x", [("nothing", False)]),
        (None, "x", []),
        ("text", "", []),
    ],
)
def test_what_was_searched_for_is_marked(text, query, expected):
    assert pieces(text, query) == expected
