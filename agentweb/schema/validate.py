"""Checking a value against a JSON Schema, with the errors in plain words."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError
from referencing import Registry

from agentweb.schema import keywords
from agentweb.schema.check import check_any, draft_of
from agentweb.schema.explain import explained
from agentweb.schema.json_text import JsonError, canonical, inspect, parse_json, rebuild
from agentweb.schema.problems import Problem, problem

MAX_NODES = 50_000
"""Values in a value that we check."""

MAX_NAME = 1_000
"""Characters of a name in an object that is checked."""

MAX_FOUND = 50


def validate(schema: Any, value: Any) -> list[Problem]:
    """What is wrong with a value, by path; empty when it fits.

    A schema that `check_any` refuses fits no value: the only problem then has the keyword `schema`. A value too deep
    or too large to be checked has a problem too. Both arguments stay unchanged. Never raises.
    """
    return _check(schema, value)[0]


def fits(schema: Any, value: Any) -> bool | None:
    """Whether a value fits; None where that cannot be told, for a reason that is not in the value's own form.

    That is a schema that cannot be used, a value too large to be checked, and a text that is too long for some pattern
    or format: `validate` takes such a text for wrong, which inside of `not` would make it right. Never raises.
    """
    problems, told = _check(schema, value)
    return not problems if told else None


def _check(schema: Any, value: Any) -> tuple[list[Problem], bool]:
    """What is wrong, and whether everything was looked at."""
    try:
        text = canonical(schema)
    except JsonError as error:
        return [_unusable(problem(error.keyword, **error.params))], False
    try:
        checker = _compiled(text)
    except RecursionError:
        return [problem("effort")], False
    if checker.refused is not None:
        return [checker.refused], False
    try:
        inspect(value, max_nodes=MAX_NODES)
    except JsonError as error:
        return [problem(error.keyword, **error.params)], False
    return _metered(checker, rebuild(value))


def _metered(checker: "_Checker", plain: Any) -> tuple[list[Problem], bool]:
    budget, untried = keywords.effort.set([keywords.MAX_EFFORT]), keywords.untried.set([])
    try:
        keywords.spend(_size(plain) // 100)
        return _found(checker.validator.iter_errors(plain)), not keywords.untried.get()
    except (keywords.TooMuch, RecursionError):
        return [problem("effort")], False
    finally:
        keywords.effort.reset(budget)
        keywords.untried.reset(untried)


@dataclass(frozen=True)
class _Checker:
    """A schema made ready, or why it is refused."""

    validator: Any
    refused: Problem | None = None


@lru_cache(maxsize=256)
def _compiled(text: str) -> _Checker:
    """Made once for each canonical text of a schema, from the text, so that nobody can change it afterwards."""
    schema = parse_json(text)
    found = check_any(schema)
    if found and found[0].keyword == "json.depth":
        # The text was shallow enough, so it is the caller's stack that is nearly full: not a verdict to remember.
        raise RecursionError
    if found:
        return _Checker(None, _unusable(found[0]))
    draft = draft_of(schema) if isinstance(schema, dict) else jsonschema.Draft202012Validator
    if isinstance(schema, dict):
        # The library would leave our metered class for the plain one where it meets this name again.
        schema = {name: each for name, each in schema.items() if name not in ("$schema", "$id")}
    validator = keywords.metered(draft)(schema, registry=Registry(), format_checker=keywords.format_checker(draft))
    return _Checker(validator)


def _unusable(found: Problem) -> Problem:
    return problem("schema", keyword=found.keyword, params=found.params)


def _size(value: Any) -> int:
    """Count the parts of a value, and raise `TooMuch` at a name that no pattern should be tried on."""
    count, todo = 0, [value]
    while todo:
        item = todo.pop()
        count += 1
        if isinstance(item, dict):
            if any(len(name) > MAX_NAME for name in item):
                raise keywords.TooMuch
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
    return count


def _found(errors: Iterator[ValidationError]) -> list[Problem]:
    found: dict[tuple[str, str], Problem] = {}
    for error in islice(errors, MAX_FOUND):
        for each in explained(error):
            found.setdefault((each.path, each.message), each)
    return sorted(found.values(), key=lambda each: [(isinstance(step, str), step) for step in each.at])[:MAX_FOUND]
