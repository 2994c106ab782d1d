"""An admin's words for a call, filled with its arguments."""

import pytest

from agentweb.engine.events import ApprovalRequested
from agentweb.engine.facts import filled, places, unclosed
from agentweb.engine.messages import Json, ToolCall
from tests.engine.fakes import ASK, FakePolicy, Shell, tool
from tests.engine.scripted_model import Says


@pytest.mark.parametrize(
    ("template", "arguments", "words"),
    [
        ("Sends {{ subject }} to {{to}}", {"subject": "Hi", "to": "ann"}, "Sends Hi to ann"),
        ("Sends {{ subject }}", {}, "Sends –"),
        ("Sends {{ subject }}", {"subject": None}, "Sends –"),
        ("Pays {{ sum }} to {{ all }}", {"sum": 5.0, "all": ["a", {"b": True}]}, 'Pays 5 to ["a",{"b":true}]'),
        ("Says {{ a }}", {"a": "{{ b }} <b>", "b": "no"}, "Says {{ b }} <b>"),
        ("Says {{ a }}", {"a": "one\n\ttwo"}, "Says one two"),
        ("Says {{ a }}", {"a": "x" * 300}, f"Says {'x' * 199}…"),
        ("", {"a": 1}, ""),
    ],
)
def test_the_places_are_filled_once_and_a_missing_argument_does_no_harm(
    template: str, arguments: dict[str, Json], words: str
) -> None:
    assert filled(template, arguments) == words


def test_places_are_found_and_open_ones_told() -> None:
    assert places("{{ a }} and {{b}}") == ["a", "b"]
    assert unclosed("{{ a }} and {{ b") and not unclosed("{{ a }}")


async def test_people_are_asked_with_the_words_of_the_admin() -> None:
    used = tool("write", fact="Writes {{ path }}")
    call = ToolCall("a", "write", {"path": "a.txt"})
    shell = await Shell(Says("Trust me.", (call,)), tools=(used,), policy=FakePolicy({"write": ASK})).go()
    (asked,) = (event for event in shell.events if isinstance(event, ApprovalRequested))
    assert asked.fact == "Writes a.txt"
