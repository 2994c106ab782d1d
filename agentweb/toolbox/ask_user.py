"""Ask a person a question, and wait for the answer however long that takes."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NoReturn

from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json
from agentweb.engine.ports import ToolSuspension
from agentweb.toolbox.parameters import Length
from agentweb.toolbox.tool import tool

FIELDS = ("answer", "choice", "choices")
LONGEST_ANSWER = 10_000  # characters


def check(arguments: Mapping[str, Json]) -> Iterator[str]:
    """Choices that a person can tell apart, and nothing said about choices where there are none."""
    if not arguments["question"].strip():
        yield "question: Must not be empty."
    choices = arguments.get("choices")
    if choices is None:
        if arguments.get("several"):
            yield "several: There are no choices to take several of."
        if arguments.get("own_words") is False:
            yield "own_words: Without choices an answer is always in the person's own words."
        return
    plain = [" ".join(each.split()).casefold() for each in choices]
    if not all(plain):
        yield "choices: None of them may be empty."
    if len(set(plain)) < len(plain):
        yield "choices: Two of them are the same."


@tool(label="Ask a person", category="people", reads=True, repeatable=True, risk=Risk.LOW, timeout_s=10, check=check)
def ask_user(
    question: Annotated[str, Length(1, 4000)],
    choices: Annotated[list[Annotated[str, Length(1, 200)]] | None, Length(2, 20)] = None,
    several: bool = False,
    own_words: bool = True,
) -> NoReturn:
    """Ask the people of this conversation a question, and wait for the answer: when only they can know or decide.

    The answer comes as JSON: "answer" in their own words; with choices, what they took as "choice" or "choices".

    Args:
        question: One clear question, with all that is needed to answer it.
        choices: Answers to choose from, if there are some; short and distinct.
        several: Whether more than one of the choices may be taken.
        own_words: Whether an answer beside the choices may be given.
    """
    raise ToolSuspension(question.strip(), form_of(choices, several=several, own_words=own_words))


def form_of(choices: list[str] | None, *, several: bool, own_words: bool) -> dict[str, Json]:
    """What an answer must be, as JSON Schema: something of what is asked for, and nothing else."""
    answer: dict[str, Any] = {"answer": {"type": "string", "minLength": 1, "maxLength": LONGEST_ANSWER}}
    properties, required = answer, ["answer"]
    if choices is not None:
        one: dict[str, Any] = {"type": "string", "enum": choices}
        many: dict[str, Any] = {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}
        picked = {"choices": many} if several else {"choice": one}
        properties = {**picked, **answer} if own_words else picked
        required = [] if own_words else list(picked)
    form = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return form if required else {**form, "minProperties": 1}
