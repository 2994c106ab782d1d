"""The validator's errors as problems in our own words."""

from collections.abc import Iterator
from typing import Any

from jsonschema.exceptions import ValidationError

from agentweb.schema.json_text import brief
from agentweb.schema.problems import FORMAT_WORDS, MESSAGES, Problem, problem

MAX_SHOWN = 12

_LENGTHS = frozenset(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"))
_LIMITS = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minContains", "maxContains")
)


def explained(error: ValidationError, before: tuple[str | int, ...] = ()) -> Iterator[Problem]:
    """One error as problems; a choice of forms gives the problems of the form that was clearly meant."""
    at = (*before, *error.relative_path)
    keyword = str(error.validator) if error.validator is not None else "false"
    setting: Any = error.validator_value
    if keyword in ("anyOf", "oneOf"):
        yield from _choice(keyword, error, at)
    elif keyword == "type":
        expected = (setting,) if isinstance(setting, str) else tuple(setting)
        yield problem("type", at, expected=expected, actual=json_type(error.instance))
    elif keyword in ("required", "additionalProperties"):
        yield problem(keyword, at, name=_short(at[-1]))
    elif keyword == "dependentRequired":
        yield problem(keyword, at, name=_short(at[-1]), other=_short(error.message))
    elif keyword == "enum":
        yield problem("enum", at, allowed=tuple(brief(each) for each in setting[: MAX_SHOWN + 1]))
    elif keyword == "const":
        yield problem("const", at, allowed=brief(setting))
    elif keyword in _LENGTHS:
        yield problem(keyword, at, limit=setting, actual=_length(error.instance))
    elif keyword in _LIMITS:
        yield problem(keyword, at, limit=brief(setting))
    else:
        yield _other(keyword, setting, at, error.message)


def _other(keyword: str, setting: Any, at: tuple[str | int, ...], detail: str) -> Problem:
    if keyword == "format":
        return problem("format" if setting in FORMAT_WORDS else "format.other", at, format=setting)
    if keyword == "format.length":
        return problem(keyword, at, format=detail, limit=setting)
    if keyword == "pattern":
        return problem(keyword, at, pattern=_short(setting, 200))
    if keyword == "pattern.length":
        return problem(keyword, at, limit=setting)
    if keyword in MESSAGES:
        return problem(keyword, at)
    return problem("other", at, keyword=_short(keyword))


def _choice(keyword: str, error: ValidationError, at: tuple[str | int, ...]) -> Iterator[Problem]:
    branches: dict[Any, list[ValidationError]] = {}
    for each in error.context or ():
        branches.setdefault(each.relative_schema_path[0], []).append(each)
    if not branches:
        yield problem("oneOf.many" if keyword == "oneOf" else keyword, at)
        return
    # A branch that refuses the whole value by its type or kind was not meant; the rest may have been.
    meant = [errors for errors in branches.values() if not any(_refuses_all(each) for each in errors)]
    if len(meant) == 1:
        for each in meant[0]:
            yield from explained(each, at)
    elif all(len(errors) == 1 and _is_type(errors[0]) for errors in branches.values()):
        names = [name for errors in branches.values() for name in _names(errors[0].validator_value)]
        expected = tuple(dict.fromkeys(names))
        yield problem("type", at, expected=expected, actual=json_type(error.instance))
    else:
        yield problem(keyword, at)


def _refuses_all(error: ValidationError) -> bool:
    """Wrong type or kind of the whole value, or a wrong constant that tells forms of an object apart."""
    if error.validator == "const":
        return len(error.relative_path) <= 1
    return not error.relative_path and error.validator in ("type", "enum", None)


def _is_type(error: ValidationError) -> bool:
    return not error.relative_path and error.validator == "type"


def _names(setting: Any) -> list[str]:
    return [setting] if isinstance(setting, str) else list(setting)


def json_type(value: Any) -> str:
    """The JSON type of a value; numbers are `integer` or `decimal`."""
    if value is None:
        return "null"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "decimal"
    for kind, name in ((bool, "boolean"), (int, "integer"), (str, "string"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "array"


def _length(instance: Any) -> int:
    return len(instance)


def _short(text: Any, limit: int = 100) -> str:
    shown = str(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
