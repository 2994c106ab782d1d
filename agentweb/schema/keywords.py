"""Our own versions of some schema keywords, and the meter that bounds the work of one check.

Changed against the library: each missing or unknown field is an error at that field's own path, patterns run through
`patterns`, equal entries are found in linear time, and multiples of fractions are exact.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import cache
from typing import Any
from urllib.parse import quote

from jsonschema import FormatChecker
from jsonschema.exceptions import FormatError, ValidationError
from jsonschema.validators import extend
from rfc3986_validator import validate_rfc3986

from agentweb.schema.json_text import canonical
from agentweb.schema.patterns import compiled

MAX_FORMAT = 2_000
"""Characters of a text whose format is checked."""

MAX_EFFORT = 200_000
"""Units of work in one check; a unit takes several microseconds."""

_BEYOND_ASCII = re.compile("[\u00a0-\U0010ffff]+")
_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*")

effort: ContextVar[list[int]] = ContextVar("effort")
"""What is left for the check that is going on, in its only entry."""

untried: ContextVar[list[str]] = ContextVar("untried")
"""Keywords that the check that is going on has not tried on some text, since it is too long for them."""

Rule = Callable[[Any, Any, Any, Any], Any]


class TooMuch(Exception):
    """The check would take too long."""


def spend(units: int) -> None:
    left = effort.get()
    left[0] -= units
    if left[0] < 0:
        raise TooMuch


@cache
def metered(draft: Any) -> Any:
    """The validator class of a draft with our keywords, every keyword metered."""
    rules = {**draft.VALIDATORS, **{name: rule for name, rule in _OWN.items() if name in draft.VALIDATORS}}
    rules["additionalProperties"] = _additional_properties(draft.VALIDATORS["additionalProperties"])
    extended: Callable[..., Any] = extend
    return extended(draft, validators={name: _metered(name, rule) for name, rule in rules.items()})


def _metered(name: str, rule: Rule) -> Rule:
    def check(validator: Any, setting: Any, instance: Any, schema: Any) -> Any:
        options = len(setting) if isinstance(setting, Mapping | list) else 1
        parts = len(instance) if isinstance(instance, Mapping | list) else 1
        spend(1 + (options * parts if name == "patternProperties" else options + parts))
        return rule(validator, setting, instance, schema)

    return check


def _required(validator: Any, names: list[str], instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        yield from (ValidationError("required", path=[name]) for name in names if name not in instance)


def _dependent_required(validator: Any, rules: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for other, names in rules.items():
            for name in names if other in instance else ():
                if name not in instance:
                    yield ValidationError(other, path=[name])


def _additional_properties(original: Rule) -> Rule:
    def check(validator: Any, setting: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if setting is not False:
            yield from original(validator, setting, instance, schema) or ()
        elif isinstance(instance, dict):
            patterns = [re.compile(pattern) for pattern in schema.get("patternProperties", ())]
            for name in instance:
                known = name in schema.get("properties", ()) or any(pattern.search(name) for pattern in patterns)
                if not known:
                    yield ValidationError("unknown", path=[name])

    return check


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str):
        expression = compiled(pattern)
        if len(instance) > expression.longest:
            untried.get().append("pattern")
            yield ValidationError("length", validator="pattern.length", validator_value=expression.longest)
            return
        spend(1 + len(instance) // 10 * (20 if expression.degree > 1 else 1))
        if not expression.regex.search(instance):
            yield ValidationError("pattern")


def _format(validator: Any, name: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, str) or name not in validator.format_checker.checkers:
        return
    if len(instance) > MAX_FORMAT:
        untried.get().append("format")
        yield ValidationError(name, validator="format.length", validator_value=MAX_FORMAT)
        return
    spend(20)
    try:
        validator.format_checker.check(instance, name)
    except FormatError:
        yield ValidationError("format")


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, list) and len({canonical(each) for each in instance}) < len(instance):
        yield ValidationError("unique")


def _multiple_of(validator: Any, step: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    # Through their texts, since 0.3 is meant and not the binary fraction next to it.
    if validator.is_type(instance, "number") and Fraction(str(instance)) % Fraction(str(step)):
        yield ValidationError("multiple")


_OWN: dict[str, Rule] = {
    "required": _required,
    "dependentRequired": _dependent_required,
    "pattern": _pattern,
    "format": _format,
    "uniqueItems": _unique_items,
    "multipleOf": _multiple_of,
}


@cache
def format_checker(draft: Any) -> FormatChecker:
    """The draft's formats, with an e-mail address that deserves the name.

    Addresses with letters of any script are checked as the plain ones that they stand for: the library's grammar for
    them costs every process seconds when it is imported, so its package is not installed.
    """
    checker = FormatChecker(formats=())
    checker.checkers = {
        **draft.FORMAT_CHECKER.checkers,
        "email": (_is_email, ()),
        "idn-email": (_is_email, ()),
        "iri": (_is_iri, ()),
        "iri-reference": (_is_iri_reference, ()),
    }
    return checker


def _is_email(value: object) -> bool:
    return not isinstance(value, str) or _EMAIL.fullmatch(value) is not None


def _is_iri(value: object) -> bool:
    return not isinstance(value, str) or bool(validate_rfc3986(_plain(value), rule="URI"))


def _is_iri_reference(value: object) -> bool:
    return not isinstance(value, str) or bool(validate_rfc3986(_plain(value), rule="URI_reference"))


def _plain(address: str) -> str:
    return _BEYOND_ASCII.sub(lambda found: quote(found[0], errors="replace"), address)
