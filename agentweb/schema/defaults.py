"""Completing: schemas for providers that refuse gaps, and values with the defaults of their schema."""

from typing import Any

from agentweb.schema import walk
from agentweb.schema.json_text import MAX_DEPTH, rebuild

MAX_SCHEMA_LEVELS = 32
"""Schemas inside each other that are completed; deeper ones stay as they are."""

MAX_STEPS = 50_000


def fill(schema: Any) -> dict[str, Any]:
    """A copy of a tool's schema that providers accept.

    Nothing at all (None, {}, anything but an object) becomes an object without properties; every object gets
    `properties` and every list `items`, also where they are null. What the schema allows stays the same.
    """
    whole: dict[str, Any] = rebuild(schema) if isinstance(schema, dict) else {}
    if "type" not in whole and not any(name in whole for name in ("$ref", "allOf", "anyOf", "oneOf", "enum", "const")):
        whole["type"] = "object"
    todo: list[tuple[Any, int]] = [(whole, 0)]
    while todo:
        each, level = todo.pop()
        if isinstance(each, dict) and level < MAX_SCHEMA_LEVELS:
            _complete(each)
            todo.extend((inner, level + 1) for _, inner in walk.inside(each))
    return whole


def _complete(schema: dict[str, Any]) -> None:
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    for name in ("required", "properties", "items"):
        if name in schema and schema[name] is None:
            del schema[name]
    if "object" in kinds:
        schema.setdefault("properties", {})
    if "array" in kinds:
        schema.setdefault("items", {})


def with_defaults(schema: Any, value: Any) -> Any:
    """A copy of the value in which absent fields have the defaults of their schema.

    Goes into objects and lists that are there, also through local references and `allOf`; an absent object without a
    default of its own stays absent. A null stays null. Takes any schema and any value.
    """
    filled = rebuild(value)
    todo: list[tuple[Any, Any, int]] = [(schema, filled, 0)]
    steps = 0
    while todo and steps < MAX_STEPS:
        each, target, level = todo.pop()
        steps += 1
        if not isinstance(each, dict) or level > MAX_DEPTH:
            continue
        todo.extend((same, target, level + 1) for same in _also(schema, each))
        if isinstance(target, dict):
            todo.extend((inner, target[name], level + 1) for name, inner in _add_defaults(each, target))
        elif isinstance(target, list) and isinstance(each.get("items"), dict):
            todo.extend((each["items"], entry, level + 1) for entry in target if isinstance(entry, dict | list))
    return filled


def _add_defaults(schema: dict[str, Any], target: dict[str, Any]) -> list[tuple[str, Any]]:
    """Add what is absent; the properties whose values are there afterwards."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return []
    for name, inner in properties.items():
        if name not in target and isinstance(inner, dict) and "default" in inner:
            target[name] = rebuild(inner["default"])
    return [(name, inner) for name, inner in properties.items() if isinstance(target.get(name), dict | list)]


def _also(schema: Any, each: dict[str, Any]) -> list[Any]:
    """Schemas that hold for the same value."""
    also = list(each["allOf"]) if isinstance(each.get("allOf"), list) else []
    if isinstance(each.get("$ref"), str):
        try:
            also.append(walk.resolve(schema, each["$ref"]))
        except LookupError:
            return also
    return also
