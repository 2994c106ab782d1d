"""Whether a schema is one that we accept: for the parameters of a tool, or for any value."""

from collections.abc import Iterator
from typing import Any

from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
)

from agentweb.schema import walk
from agentweb.schema.json_text import MAX_DEPTH, JsonError, canonical, inspect
from agentweb.schema.patterns import MAX_PATTERN, PatternError, compiled
from agentweb.schema.problems import Problem, path_text, problem

MAX_CHARS = 100_000
"""Characters of the canonical text of a schema."""

MAX_NAME_DEGREE = 2
"""Patterns for names are tried on every name, so they have to be quicker than patterns for values."""

MAX_FOUND = 20

DRAFTS: dict[str, Any] = {
    "https://json-schema.org/draft/2020-12/schema": Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": Draft201909Validator,
    "http://json-schema.org/draft-07/schema": Draft7Validator,
    "http://json-schema.org/draft-06/schema": Draft6Validator,
    "http://json-schema.org/draft-04/schema": Draft4Validator,
}
"""Versions by the address in `$schema`, without a # at its end. No address means the newest."""

_TOP_ONLY = ("$schema", "$id", "$vocabulary")
_SAID = frozenset(("$schema", "$id", "$comment", "$anchor", "$defs", "definitions", "title", "description",
                   "default", "examples", "deprecated", "readOnly", "writeOnly"))  # fmt: skip
"""Keywords that only say something, or only keep schemas for references."""

_BESIDE = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains",
           "exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}  # fmt: skip
"""Keywords that mean something beside another only; of these, some stand for themselves in newer versions."""

_DYNAMIC = ("$dynamicRef", "$recursiveRef")


def check_schema(schema: Any) -> list[Problem]:
    """What keeps a schema from describing a tool's parameters; paths lead into the schema. Empty when all is well.

    `fill` a schema first that may be empty or incomplete: it has to say `type: object` here.
    """
    if not isinstance(schema, dict):
        return [problem("schema.object")]
    found = check_any(schema)
    if not found and schema.get("type") != "object":
        found.append(problem("schema.top", ("type",) if "type" in schema else ()))
    return found


def check_any(schema: Any) -> list[Problem]:
    """The same for a schema of any kind of value, `true` and `false` included."""
    if isinstance(schema, bool):
        return []
    if not isinstance(schema, dict):
        return [problem("schema.object")]
    try:
        inspect(schema)
        length = len(canonical(schema))
    except JsonError as error:
        return [problem(error.keyword, **error.params)]
    if length > MAX_CHARS:
        return [problem("schema.chars", limit=MAX_CHARS)]
    draft = draft_of(schema)
    if draft is None:
        return [problem("schema.draft", ("$schema",), name=str(schema["$schema"])[:100])]
    try:
        # Each stage relies on what the one before has made sure of.
        for stage in (_shape(schema, draft), _places(schema), _circles(schema)):
            found = sorted(stage, key=lambda each: each.path)[:MAX_FOUND]
            if found:
                return found
    except RecursionError:
        return [problem("json.depth", limit=MAX_DEPTH)]
    return []


def draft_of(schema: dict[str, Any]) -> Any:
    """The validator class for the version that a schema names; None when it is not known."""
    address = schema.get("$schema", next(iter(DRAFTS)))
    return DRAFTS.get(address.removesuffix("#")) if isinstance(address, str) else None


def unread(schema: dict[str, Any]) -> list[str]:
    """Where in a schema that `check_any` accepts there stands what its version does not know, such as a misspelt
    keyword: JSON Schema lets that pass, and no check looks at it."""
    known = _SAID | set(draft_of(schema).VALIDATORS)
    places = ((steps, each) for steps, each in walk.everywhere(schema) if isinstance(each, dict))
    return sorted(
        path_text((*steps, name))
        for steps, each in places
        for name in each
        if name not in known and not (name in _BESIDE and _BESIDE[name] in known & each.keys())
    )


def _shape(schema: dict[str, Any], draft: Any) -> Iterator[Problem]:
    """Breaches of JSON Schema's own rules."""
    seen = set()
    for error in draft(draft.META_SCHEMA).iter_errors(schema):
        steps = tuple(error.absolute_path)
        if steps not in seen:
            seen.add(steps)
            name = next((step for step in reversed(steps) if isinstance(step, str)), "")
            yield problem("schema.invalid", steps, name=name[:100])


def _places(schema: dict[str, Any]) -> Iterator[Problem]:
    top_only = (*_TOP_ONLY, "id") if draft_of(schema) is Draft4Validator else _TOP_ONLY
    places = {id(each) for _, each in walk.everywhere(schema)}
    for steps, each in walk.everywhere(schema):
        if not isinstance(each, dict):
            continue
        if steps:
            yield from (
                problem("schema.nested_draft", (*steps, name), name=name)
                for name in top_only
                if isinstance(each.get(name), str)
            )
        yield from (problem("schema.ref_dynamic", (*steps, name), name=name) for name in _DYNAMIC if name in each)
        yield from _reference(schema, places, steps, each)
        yield from _patterns(steps, each)


def _reference(schema: dict[str, Any], places: set[int], steps: walk.Steps, each: dict[str, Any]) -> Iterator[Problem]:
    if "$ref" not in each:
        return
    reference = each["$ref"]
    if not isinstance(reference, str) or not reference.startswith("#"):
        yield problem("schema.ref_remote", (*steps, "$ref"))
        return
    try:
        target = walk.resolve(schema, reference)
    except LookupError:
        target = None
    # A reference may only lead to a place where a schema stands: elsewhere nothing has been checked.
    if id(target) not in places:
        yield problem("schema.ref_missing", (*steps, "$ref"), name=reference[:100])


def _patterns(steps: walk.Steps, each: dict[str, Any]) -> Iterator[Problem]:
    if isinstance(each.get("pattern"), str):
        yield from _pattern(each["pattern"], (*steps, "pattern"), None)
    if isinstance(each.get("patternProperties"), dict):
        for pattern in each["patternProperties"]:
            yield from _pattern(pattern, (*steps, "patternProperties", pattern), MAX_NAME_DEGREE)


def _pattern(pattern: str, steps: walk.Steps, most: int | None) -> Iterator[Problem]:
    try:
        degree = compiled(pattern).degree
    except PatternError as error:
        yield problem(error.keyword, steps, limit=MAX_PATTERN)
    else:
        if most is not None and degree > most:
            yield problem("pattern.slow", steps)


def _circles(schema: dict[str, Any]) -> Iterator[Problem]:
    """References that lead back to where they stand without going into the value."""
    places = {id(each): (steps, each) for steps, each in walk.everywhere(schema) if isinstance(each, dict)}
    open_now, done = 1, 2
    state: dict[int, int] = {}
    for start in places:
        trail = [(start, iter(_applied(schema, places[start][1])))] if start not in state else []
        state.setdefault(start, open_now)
        while trail:
            node, targets = trail[-1]
            target = next((found for found in targets if id(found) in places), None)
            if target is None:
                state[node] = done
                trail.pop()
            elif state.get(id(target)) == open_now:
                yield problem("schema.ref_endless", places[node][0])
            elif id(target) not in state:
                state[id(target)] = open_now
                trail.append((id(target), iter(_applied(schema, target))))


def _applied(schema: dict[str, Any], each: dict[str, Any]) -> list[Any]:
    """The schemas that a schema applies to the same value as itself."""
    applied = [inner for steps, inner in walk.inside(each) if steps[0] in walk.IN_PLACE]
    if isinstance(each.get("$ref"), str):
        applied.append(walk.resolve(schema, each["$ref"]))
    return applied
