"""Where schemas are inside schemas, and where a local reference leads."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

# Keywords whose value is one schema, a list of schemas, or schemas by name.
ONE = ("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
       "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties")  # fmt: skip
MANY = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
NAMED = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")

# Keywords that apply their schemas to the same value, so that a circle of them would never end.
IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"))

_INDEX = re.compile(r"0|[1-9]\d{0,5}", re.ASCII)

Steps = tuple[str | int, ...]


def inside(schema: Any) -> Iterator[tuple[Steps, Any]]:
    """The schemas directly inside a schema, each with its steps from there."""
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword in ONE and isinstance(value, dict | bool):
            yield (keyword,), value
        elif keyword in MANY and isinstance(value, list):
            yield from (((keyword, index), each) for index, each in enumerate(value))
        elif keyword in NAMED and isinstance(value, dict):
            # `dependencies` of older drafts also lists plain names.
            yield from (((keyword, name), each) for name, each in value.items() if not isinstance(each, list))


def everywhere(schema: Any) -> Iterator[tuple[Steps, Any]]:
    """The schema and all schemas inside it, each with its steps from the top."""
    todo: list[tuple[Steps, Any]] = [((), schema)]
    while todo:
        steps, each = todo.pop()
        yield steps, each
        todo.extend((steps + more, inner) for more, inner in inside(each))


def anchors(schema: Any) -> dict[str, Any]:
    """Schemas by their `$anchor`."""
    found = {}
    for _, each in everywhere(schema):
        if isinstance(each, dict) and isinstance(each.get("$anchor"), str):
            found[each["$anchor"]] = each
    return found


def resolve(schema: Any, reference: str) -> Any:
    """What a reference like #/$defs/x or #name leads to. Raises `LookupError`."""
    if not reference.startswith("#"):
        raise LookupError(reference)
    pointer = unquote(reference[1:])
    if pointer and not pointer.startswith("/"):
        return anchors(schema)[pointer]
    found = schema
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found[step]
        elif isinstance(found, list) and _INDEX.fullmatch(step):
            found = found[int(step)]
        else:
            raise LookupError(reference)
    return found
