"""From a function's signature to the JSON Schema of its parameters, and from JSON arguments to its values."""

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from agentweb.engine.messages import Json

CONTEXT = "context"  # the parameter of this name gets the ToolContext and is hidden from the model

Convert = Callable[[Json], Any]


@dataclass(frozen=True, slots=True)
class Range:
    """The smallest and largest number allowed."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Length:
    """The fewest and most characters of a text, entries of a list or fields of an object."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression that must be found in the text."""

    regex: str


@dataclass(frozen=True, slots=True)
class _Kind:
    schema: dict[str, Json]
    convert: Convert


@dataclass(frozen=True, slots=True)
class Parameters:
    """``schema`` is a JSON Schema of type object; ``wants_context`` says whether the function takes the context."""

    schema: Mapping[str, Json]
    wants_context: bool
    converters: Mapping[str, Convert]

    def values(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """Valid arguments as the function wants them, enums as members."""
        return {name: self.converters[name](value) for name, value in arguments.items()}


def read_parameters(function: Callable[..., Any], described: Mapping[str, str]) -> Parameters:
    """Raises TypeError, naming function and parameter, for a signature that cannot be said in JSON Schema."""
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function).parameters
    properties: dict[str, Json] = {}
    converters: dict[str, Convert] = {}
    for name, parameter in signature.items():
        if name == CONTEXT:
            continue
        where = f"{function.__qualname__}({name})"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{where}: a tool's parameters must be usable by name")
        if name not in hints:
            raise TypeError(f"{where}: a tool's parameters need type hints")
        kind = _kind(hints[name], where)
        properties[name] = kind.schema | _notes(parameter, described.get(name, ""))
        converters[name] = kind.convert
    unknown = set(described) - set(properties)
    if unknown:
        raise TypeError(f"{function.__qualname__}: the docstring describes unknown parameters: {', '.join(unknown)}")
    schema = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if signature[name].default is inspect.Parameter.empty],
        "additionalProperties": False,
    }
    return Parameters(schema, CONTEXT in signature, converters)


def _notes(parameter: inspect.Parameter, description: str) -> dict[str, Json]:
    notes: dict[str, Json] = {"description": description} if description else {}
    default = parameter.default
    if default is not inspect.Parameter.empty and default is not None:
        notes["default"] = default.value if isinstance(default, Enum) else default
    return notes


def _kind(hint: Any, where: str) -> _Kind:
    """The schema of one type, and how its JSON value becomes the Python value."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _constrained(_kind(inner[0], where), inner[1:], where)
    if origin is Literal:
        return _Kind(_enum(inner), _same)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _Kind(_enum([member.value for member in hint]), hint)
    if origin in (Union, types.UnionType):
        return _union([_kind(each, where) for each in inner], where)
    if origin in (list, Sequence) or (origin is tuple and len(inner) == 2 and inner[1] is Ellipsis):
        return _sequence(_kind(inner[0], where), tuple if origin is tuple else list)
    if origin in (dict, Mapping) and inner[0] is str:
        return _mapping(_kind(inner[1], where))
    raise TypeError(f"{where}: {hint!r} cannot be described to a model")


def _same(value: Json) -> Any:
    return value


def _whole(value: Json) -> Any:
    return int(value)  # JSON Schema takes 3.0 as an integer


_PLAIN: dict[Any, _Kind] = {
    str: _Kind({"type": "string"}, _same),
    bool: _Kind({"type": "boolean"}, _same),
    int: _Kind({"type": "integer"}, _whole),
    float: _Kind({"type": "number"}, _same),
    type(None): _Kind({"type": "null"}, _same),
    list: _Kind({"type": "array"}, _same),
    dict: _Kind({"type": "object"}, _same),
    Any: _Kind({}, _same),
}
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def _enum(values: Sequence[Json]) -> dict[str, Json]:
    names = list(dict.fromkeys(_TYPES[type(value)] for value in values))
    return {"type": names[0] if len(names) == 1 else names, "enum": list(values)}


def _sequence(item: _Kind, make: Callable[[Any], Any]) -> _Kind:
    return _Kind({"type": "array", "items": item.schema}, lambda value: make([item.convert(each) for each in value]))


def _mapping(item: _Kind) -> _Kind:
    def convert(value: Json) -> Any:
        return {name: item.convert(each) for name, each in value.items()}

    return _Kind({"type": "object", "additionalProperties": item.schema}, convert)


def _union(kinds: list[_Kind], where: str) -> _Kind:
    """``X | None`` keeps the shape of X, so that forms and models see one simple type; others become ``anyOf``."""
    others = [kind for kind in kinds if kind.schema != {"type": "null"}]
    if len(others) == 1 and isinstance(others[0].schema.get("type"), str):
        (other,) = others
        schema = other.schema | {"type": [other.schema["type"], "null"]}
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
        return _Kind(schema, lambda value: None if value is None else other.convert(value))
    if any(isinstance(kind.convert, type) for kind in others):
        raise TypeError(f"{where}: an Enum cannot stand beside other types; use Literal")
    return _Kind({"anyOf": [kind.schema for kind in kinds]}, _same)


def _constrained(kind: _Kind, notes: Sequence[Any], where: str) -> _Kind:
    schema = dict(kind.schema)
    for note in notes:
        match note:
            case Range(low, high):
                bounds: dict[str, Json] = {"minimum": low, "maximum": high}
            case Length(low, high):
                bounds = dict(zip(_LENGTHS[_main_type(schema)], (low, high), strict=True))
            case Pattern(regex):
                bounds = {"pattern": regex}
            case _:
                raise TypeError(f"{where}: {note!r} is not a constraint; there are Range, Length and Pattern")
        schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    return _Kind(schema, kind.convert)


_LENGTHS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


def _main_type(schema: Mapping[str, Json]) -> str:
    name = schema.get("type")
    return str(name[0] if isinstance(name, list) else name)
