"""What a browser posts from a form, read back as arguments."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentweb.schema.form import FALSE, TRUE, Field, Kind, form, properties
from agentweb.schema.json_text import JsonError, parse_json
from agentweb.schema.problems import Problem, problem
from agentweb.schema.validate import validate

_INTEGER = re.compile(r"[+-]?\d{1,1000}(\.0+)?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d{1,1000}(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_TRUE = (TRUE, "on", "1")
_FALSE = (FALSE, "off", "0", "")


@dataclass(frozen=True)
class Parsed:
    """The arguments, and all that is wrong with them: text that cannot be read, then what breaks the schema.

    With problems the arguments are not for use; a field that could not be read is missing in them.
    """

    arguments: dict[str, Any]
    problems: tuple[Problem, ...]


class _Absent:
    """The mark of a field that is left out."""


_ABSENT = _Absent()


class _Unreadable(Exception):
    def __init__(self, found: Problem) -> None:
        self.problem = found


def parse(schema: Any, posted: Mapping[str, Sequence[str]], original: Mapping[str, Any]) -> Parsed:
    """Arguments from posted texts by field name; `original` are the arguments that the form was made for.

    A box that still shows what `form` put there gives the original, whatever it was: absent, null, "", 30 or 30.0, and
    its line breaks. So does one that was not posted, except tick boxes and multiple choices, of which browsers post
    nothing when none is ticked. An emptied text is "" if the schema takes that, other emptied boxes leave the field
    out. Spaces stay. Line breaks of browsers (CR LF) become LF where the original had no CR LF.
    """
    described = properties(schema)
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for field in form(schema, original):
        try:
            if field.rest:
                values.update(_rest(field, posted, original, described))
                continue
            value = _value(field, posted, original, described[field.name])
            if value is not _ABSENT:
                values[field.name] = value
        except _Unreadable as error:
            problems.append(error.problem)
    known = [name for name in original if name in values]
    arguments = {name: values[name] for name in (*known, *(name for name in values if name not in original))}
    return Parsed(arguments, (*problems, *_breaches(schema, arguments, problems, described)))


def _breaches(
    schema: Any, arguments: dict[str, Any], unread: Sequence[Problem], described: Mapping[str, Any]
) -> list[Problem]:
    """What breaks the schema, without the consequences of fields that could not be read."""
    failed = {str(each.at[0]) for each in unread}
    found = validate(schema, arguments)
    rest_failed = any(name not in described for name in failed)
    return [
        each
        for each in found
        if not (each.at and (each.at[0] in failed or (rest_failed and each.at[0] not in described)))
    ]


def _value(field: Field, posted: Mapping[str, Sequence[str]], original: Mapping[str, Any], schema: Any) -> Any:
    before = original.get(field.name, _ABSENT)
    texts = list(posted.get(field.name, ()))
    if field.read_only:
        return before
    if field.kind is Kind.BOOLEAN:
        return _boolean(field, texts[-1] if texts else FALSE)
    if field.kind is Kind.MULTICHOICE:
        return before if set(texts) == set(field.value) else _chosen(field, texts, before)
    if not texts or _one_break(texts[-1]) == _one_break(str(field.value)):
        return before
    text = texts[-1]
    if text == "":
        return _emptied(field, schema)
    match field.kind:
        case Kind.TEXT | Kind.TEXTAREA:
            return text if isinstance(before, str) and "\r\n" in before else text.replace("\r\n", "\n")
        case Kind.INTEGER:
            return _integer(field, text.strip())
        case Kind.NUMBER:
            return _number(field, text.strip())
        case Kind.CHOICE:
            return _chosen(field, [text], before)[0]
        case Kind.LINES:
            return [line for line in _one_break(text).split("\n") if line]
    return _json(field, text)


def _one_break(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _emptied(field: Field, schema: Any) -> Any:
    if field.kind in (Kind.TEXT, Kind.TEXTAREA) and (field.required or not validate(schema, "")):
        return ""
    if field.kind is Kind.LINES:
        return []
    return None if field.required and field.nullable else _ABSENT


def _boolean(field: Field, text: str) -> bool:
    if text.lower() not in (*_TRUE, *_FALSE):
        raise _Unreadable(problem("form.boolean", (field.name,)))
    return text.lower() in _TRUE


def _chosen(field: Field, texts: list[str], before: Any) -> list[Any]:
    """The values of choices; of those that were there the order stays, new ones follow in the order of the form."""
    values = {choice.value: choice.json for choice in field.choices if choice.value}
    if not values.keys() >= set(texts):
        raise _Unreadable(problem("form.choice", (field.name,)))
    kept = [text for text in field.value if text in texts] if field.kind is Kind.MULTICHOICE else []
    return [values[text] for text in (*kept, *(text for text in values if text in texts and text not in kept))]


def _integer(field: Field, text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise _Unreadable(problem("form.integer", (field.name,)))
    return int(text.partition(".")[0])


def _number(field: Field, text: str) -> int | float:
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise _Unreadable(problem("form.number", (field.name,)))
    return float(text) if set(text) & set(".eE") else int(text)


def _json(field: Field, text: str) -> Any:
    try:
        return parse_json(text)
    except JsonError as error:
        raise _Unreadable(problem(error.keyword, (field.name,), **error.params)) from None


def _rest(
    field: Field, posted: Mapping[str, Sequence[str]], original: Mapping[str, Any], described: Mapping[str, Any]
) -> dict[str, Any]:
    texts = posted.get(field.name, ())
    if field.read_only or not texts or _one_break(texts[-1]) == _one_break(str(field.value)):
        return {name: value for name, value in original.items() if name not in described}
    if not texts[-1].strip():
        return {}
    value = _json(field, texts[-1])
    if not isinstance(value, dict):
        raise _Unreadable(problem("form.object", (field.name,)))
    for name in value:
        if name in described:
            raise _Unreadable(problem("form.described", (field.name,), name=name[:100]))
    return value
