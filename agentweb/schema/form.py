"""A form for the fields of an object schema, described without any framework.

`form` says what to show for given arguments, `parse` in `posted` turns what a browser sends back into arguments.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from agentweb.schema.json_text import JsonError, canonical, pretty, rebuild
from agentweb.schema.problems import Problem

LONG_NAMES = frozenset(
    ("body", "code", "content", "description", "html", "markdown", "message", "query", "script", "text")
)
LONG_TEXT = 80
LONG_LIMIT = 200
MAX_CHOICES = 200

TRUE, FALSE = "true", "false"

# With one of these a field is more than its type says.
_COMPLEX = frozenset(
    ("$ref", "allOf", "anyOf", "oneOf", "not", "if", "$dynamicRef", "prefixItems", "patternProperties")
)


class Kind(StrEnum):
    """How a field is shown and read."""

    TEXT = "text"
    TEXTAREA = "textarea"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    MULTICHOICE = "multichoice"
    LINES = "lines"
    JSON = "json"


@dataclass(frozen=True)
class Choice:
    """One offered value: what the browser posts, what people read, and the JSON value that it stands for."""

    value: str
    label: str
    json: Any = None


@dataclass(frozen=True)
class Field:
    """One field of a form.

    `value` is the text in the box ("true" or "false" for a tick box); for `multichoice` the values of ticked choices.
    `required` means that the arguments need the field, not that its box may not be empty. `present` tells an empty text
    from an absent one. `rest` marks the one field for all arguments that the schema does not describe.
    """

    name: str
    label: str
    kind: Kind
    value: str | tuple[str, ...] = ""
    required: bool = False
    choices: tuple[Choice, ...] = ()
    help: str = ""
    read_only: bool = False
    minimum: int | float | None = None
    maximum: int | float | None = None
    min_length: int | None = None
    max_length: int | None = None
    format: str = ""
    default: str = ""
    nullable: bool = False
    present: bool = False
    rest: bool = False


def form(schema: Any, value: Mapping[str, Any]) -> tuple[Field, ...]:
    """The fields for these arguments in the order of the schema, the rest last.

    What cannot be shown simply (nested objects, references, alternatives, a value of another type than the schema says)
    is a `json` field with its text. A single choice begins with an empty one, "not given"; a boolean that is not there
    is such a choice too. Takes any schema.
    """
    described = properties(schema)
    required = _list(schema, "required")
    fields = [_field(name, inner, value, name in required) for name, inner in described.items()]
    rest = {name: each for name, each in value.items() if name not in described}
    if rest or _is_open(schema, described):
        fields.append(_rest_field(described, rest))
    return tuple(fields)


def properties(schema: Any) -> dict[str, Any]:
    """The described fields that can have a place of their own: their names survive a browser unchanged."""
    found = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(found, dict):
        return {}
    return {name: plain(inner) for name, inner in found.items() if name and name.isprintable()}


def plain(schema: Any) -> Any:
    """A schema or null, written as two alternatives, as one schema that also has the type null."""
    if not isinstance(schema, dict):
        return schema
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if not isinstance(branches, list) or len(branches) != 2 or {"type": "null"} not in branches:
            continue
        other = branches[1 - branches.index({"type": "null"})]
        if isinstance(other, dict) and isinstance(other.get("type"), str) and not _COMPLEX & other.keys():
            outer = {name: each for name, each in schema.items() if name != keyword}
            return {**other, **outer, "type": [other["type"], "null"]}
    return schema


def with_typed(fields: Sequence[Field], posted: Mapping[str, Sequence[str]]) -> tuple[Field, ...]:
    """The same fields with what was typed in place of the arguments, to show a form again."""
    return tuple(field if field.read_only else replace(field, value=_typed(field, posted)) for field in fields)


def _typed(field: Field, posted: Mapping[str, Sequence[str]]) -> str | tuple[str, ...]:
    texts = posted.get(field.name, ())
    if field.kind is Kind.MULTICHOICE:
        return tuple(texts)
    if field.kind is Kind.BOOLEAN:
        return TRUE if texts and texts[-1] not in ("", FALSE, "off", "0") else FALSE
    return texts[-1] if texts else field.value


def by_field(fields: Sequence[Field], problems: Sequence[Problem]) -> dict[str, tuple[Problem, ...]]:
    """Problems by the name of the field to show them at; "" for those of the whole."""
    names = {field.name for field in fields if not field.rest}
    rest = next((field.name for field in fields if field.rest), "")
    found: dict[str, tuple[Problem, ...]] = {}
    for each in problems:
        step = str(each.at[0]) if each.at else ""
        place = step if step in names or not step else rest
        found[place] = (*found.get(place, ()), each)
    return found


def _field(name: str, schema: Any, value: Mapping[str, Any], required: bool) -> Field:
    present = name in value
    current = value.get(name)
    settings = schema if isinstance(schema, dict) else {}
    kind, choices = _kind(name, schema, current, present)
    shown = _shown(kind, choices, current, present)
    return Field(
        name=name,
        label=_text(settings, "title") or _label(name),
        kind=kind if shown is not None else Kind.JSON,
        value=shown or "" if kind is not Kind.MULTICHOICE else shown or (),
        required=required,
        choices=choices,
        help=_text(settings, "description"),
        read_only=settings.get("readOnly") is True or shown is None,
        minimum=_number(settings, "minimum", "exclusiveMinimum"),
        maximum=_number(settings, "maximum", "exclusiveMaximum"),
        min_length=_count(settings, "minLength"),
        max_length=_count(settings, "maxLength"),
        format=_text(settings, "format"),
        default=default_text(settings),
        nullable="null" in _types(schema),
        present=present,
    )


def _rest_field(described: Mapping[str, Any], rest: Mapping[str, Any]) -> Field:
    name = "*"
    while name in described:
        name += "*"
    shown = pretty(rest) if rest else ""
    return Field(name, name, Kind.JSON, shown or "", read_only=shown is None, present=bool(rest), rest=True)


def _is_open(schema: Any, described: Mapping[str, Any]) -> bool:
    """Whether people should be offered to add what the schema does not describe."""
    if not isinstance(schema, dict):
        return True
    named = schema.get("properties")
    hidden = isinstance(named, dict) and len(named) > len(described)
    return hidden or bool(schema.get("additionalProperties")) or bool(_COMPLEX & schema.keys())


def _kind(name: str, schema: Any, value: Any, present: bool) -> tuple[Kind, tuple[Choice, ...]]:
    types = [each for each in _types(schema) if each != "null"]
    if not isinstance(schema, dict) or _COMPLEX & schema.keys():
        return Kind.JSON, ()
    offered = _offered(schema)
    if offered is not None:
        choices = _choices(offered, [value] if present else [])
        return (Kind.CHOICE, _with_blank(choices)) if choices else (Kind.JSON, ())
    if len(types) != 1 or not (value is None or _fits(types[0], value)):
        return Kind.JSON, ()
    match types[0]:
        case "string":
            return (Kind.TEXTAREA if _is_long(name, schema, value) else Kind.TEXT), ()
        case "integer":
            return Kind.INTEGER, ()
        case "number":
            return Kind.NUMBER, ()
        case "boolean" if isinstance(value, bool):
            return Kind.BOOLEAN, ()
        case "boolean":
            return Kind.CHOICE, _with_blank(_choices([True, False], []))
        case "array":
            return _list_kind(schema.get("items"), value)
    return Kind.JSON, ()


def _list_kind(items: Any, value: Any) -> tuple[Kind, tuple[Choice, ...]]:
    entries = value or []
    if not isinstance(items, dict) or _COMPLEX & items.keys():
        return Kind.JSON, ()
    offered = _offered(items)
    if offered is not None:
        choices = _choices(offered, entries)
        texts = [choice_text(choices, entry) for entry in entries]
        return (Kind.MULTICHOICE, choices) if choices and len(set(texts)) == len(texts) else (Kind.JSON, ())
    one_each = all(isinstance(entry, str) and entry and not set(entry) & {"\n", "\r"} for entry in entries)
    return (Kind.LINES if items.get("type") == "string" and one_each else Kind.JSON), ()


def _offered(schema: dict[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) and len(values) <= MAX_CHOICES else None


def _choices(offered: Sequence[Any], current: Sequence[Any]) -> tuple[Choice, ...]:
    """Choices for the offered values and for present ones that are not among them; none where they cannot be shown."""
    try:
        values = {canonical(each): each for each in (*offered, *current)}
    except JsonError:
        return ()
    # Texts stand for themselves unless a browser could change them or one of them means something else here.
    as_is = all(isinstance(each, str) and each and each.isprintable() for each in values.values())
    return tuple(
        Choice(each if as_is else text, each if isinstance(each, str) else text, each) for text, each in values.items()
    )


def _with_blank(choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
    return (Choice("", ""), *choices)


def choice_text(choices: Sequence[Choice], value: Any) -> str:
    """What the browser posts for a value that is among the choices."""
    text = canonical(value)
    return next((each.value for each in choices if each.value and canonical(each.json) == text), "")


def _shown(kind: Kind, choices: tuple[Choice, ...], value: Any, present: bool) -> str | tuple[str, ...] | None:
    """What stands in the box; None where the value cannot be written as text at all."""
    if not present:
        return () if kind is Kind.MULTICHOICE else ""
    if kind is Kind.CHOICE:
        return choice_text(choices, value) if value is not None or _has_null(choices) else ""
    if kind is Kind.JSON:
        return pretty(value)
    if value is None:
        return () if kind is Kind.MULTICHOICE else ""
    if kind is Kind.MULTICHOICE:
        return tuple(choice_text(choices, entry) for entry in value)
    if kind is Kind.LINES:
        return "\n".join(value)
    return value if isinstance(value, str) else canonical(value)


def _has_null(choices: Sequence[Choice]) -> bool:
    return any(each.value and each.json is None for each in choices)


def _fits(kind: str, value: Any) -> bool:
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    if kind in ("integer", "number"):
        if not isinstance(value, int | float) or (kind == "integer" and value % 1 != 0):
            return False
        try:
            return bool(canonical(value))
        except JsonError:
            return False
    return isinstance(value, str) if kind == "string" else kind == "array" and isinstance(value, list)


def _is_long(name: str, schema: dict[str, Any], value: Any) -> bool:
    limit = _count(schema, "maxLength")
    current = value if isinstance(value, str) else ""
    return (
        name.lower() in LONG_NAMES
        or (limit is not None and limit > LONG_LIMIT)
        or len(current) > LONG_TEXT
        # A box of one line would lose these.
        or "\n" in current
        or "\r" in current
    )


def default_text(schema: dict[str, Any]) -> str:
    """The default as one would type it; "" without one."""
    if "default" not in schema:
        return ""
    default = schema["default"]
    if isinstance(default, str):
        return default
    shown = pretty(default)
    return "" if shown is None else json.dumps(rebuild(default), ensure_ascii=False)


def _types(schema: Any) -> list[Any]:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind if isinstance(kind, list) else [kind]


def _label(name: str) -> str:
    words = name.replace("_", " ").replace("-", " ").strip() or name
    return words[:1].upper() + words[1:]


def _text(schema: dict[str, Any], name: str) -> str:
    found = schema.get(name)
    return found if isinstance(found, str) else ""


def _number(schema: dict[str, Any], *names: str) -> int | float | None:
    for name in names:
        found = schema.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return found
    return None


def _count(schema: dict[str, Any], name: str) -> int | None:
    found = schema.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _list(schema: Any, name: str) -> list[Any]:
    found = schema.get(name) if isinstance(schema, dict) else None
    return found if isinstance(found, list) else []
