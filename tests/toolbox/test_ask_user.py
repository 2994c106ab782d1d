"""A question to people says what an answer must be: one choice, several, own words, or either."""

from pathlib import Path
from typing import Any

import pytest

from agentweb.engine.ports import ToolSuspension
from agentweb.schema.validate import validate
from agentweb.toolbox.ask_user import ask_user
from tests.toolbox.calling import context_in, run

COLOURS = ["red", "blue"]


@pytest.mark.parametrize(
    ("asked", "taken", "refused"),
    [
        ({}, [{"answer": "yes"}], [{}, {"answer": ""}, {"choice": "red"}, {"answer": 1}]),
        ({"choices": COLOURS}, [{"choice": "red"}, {"answer": "both"}], [{}, {"choice": "green"}]),
        ({"choices": COLOURS, "own_words": False}, [{"choice": "red"}], [{}, {"answer": "both"}]),
        (
            {"choices": COLOURS, "several": True},
            [{"choices": COLOURS}, {"answer": "none"}, {"choices": ["red"], "answer": "rather"}],
            [{}, {"choices": []}, {"choices": ["red", "red"]}, {"choices": "red"}],
        ),
        ({"choices": COLOURS, "several": True, "own_words": False}, [{"choices": ["blue"]}], [{}, {"answer": "x"}]),
    ],
)
def test_the_question_waits_for_an_answer_of_the_form_that_was_asked_for(
    tmp_path: Path, asked: dict[str, Any], taken: list[Any], refused: list[Any]
) -> None:
    with pytest.raises(ToolSuspension) as suspended:
        run(ask_user, {"question": " Which colour? ", **asked}, context_in(tmp_path))
    assert suspended.value.prompt == "Which colour?"
    assert [answer for answer in taken if validate(suspended.value.schema, answer)] == []
    assert [answer for answer in refused if not validate(suspended.value.schema, answer)] == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "question: “question” is required."),
        ({"question": " "}, "question: Must not be empty."),
        ({"question": ""}, "question: Must not be empty."),
        ({"question": "?", "several": True}, "several: There are no choices to take several of."),
        ({"question": "?", "own_words": False}, "own_words: Without choices"),
        ({"question": "?", "choices": ["a"]}, "choices: "),
        ({"question": "?", "choices": ["a", " "]}, "choices: None of them may be empty."),
        ({"question": "?", "choices": ["a", " A "]}, "choices: Two of them are the same."),
        ({"question": "?", "choices": "a, b"}, "choices: "),
    ],
)
def test_a_question_that_nobody_could_answer_is_not_asked(arguments: dict[str, Any], problem: str) -> None:
    (found,) = ask_user.problems(arguments)
    assert found.startswith(problem)
