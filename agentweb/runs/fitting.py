"""Results from outside as the text that is kept of them, held to the schema where the tool has said one."""

import json
from collections.abc import Sequence
from typing import Any, Protocol

from django.utils.translation import gettext as _

from agentweb.registry.problem_words import sentence
from agentweb.runs.errors import Invalid
from agentweb.runs.models import Call
from agentweb.runs.words import words_of
from agentweb.schema.json_text import JsonError, inspect, parse_json
from agentweb.schema.text import clean_json
from agentweb.schema.validate import validate

MAX_CONTENT = 100_000


class Result(Protocol):
    @property
    def content(self) -> Any: ...

    @property
    def is_error(self) -> bool: ...


def contents(calls: Sequence[Call], results: Sequence[Result]) -> list[str]:
    """The text of each result. Raises Invalid with every place named that is wrong in one of them."""
    return [
        text_of(call, given.content, failed=given.is_error, place=f"results[{number}].content")
        for number, (call, given) in enumerate(zip(calls, results, strict=True))
    ]


def text_of(call: Call, content: Any, *, failed: bool = False, place: str = "content") -> str:
    """What the model will read. Where the call wants a certain form, JSON; why it ``failed`` is always plain text."""
    if call.answer_schema is None or failed:
        return words_of(place, content, MAX_CONTENT)
    value = _value(content, place)
    if problems := validate(call.answer_schema, value):
        raise _unfit([(f"{place}.{each.path}" if each.path else place, sentence(each)) for each in problems])
    return words_of(place, json.dumps(clean_json(value), ensure_ascii=False), MAX_CONTENT)


def _value(content: Any, place: str) -> Any:
    """The value that was given, or that its text stands for."""
    try:
        if isinstance(content, str):
            return parse_json(content)
        inspect(content)
    except JsonError as error:
        raise _unfit([(place, error.message)]) from error
    return content


def _unfit(named: list[tuple[str, str]]) -> Invalid:
    """Says what is wrong first, for those who see one sentence only."""
    words = _("The answer does not have the form that the tool asked for: %(problem)s")
    return Invalid(words % {"problem": named[0][1]}, named)
