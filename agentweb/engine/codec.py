"""Events as plain JSON data and back, driven by the dataclasses themselves."""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from agentweb.engine import events
from agentweb.engine.events import Event, Live

KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in get_args(events.Event)}


def kind_of(event: Event | Live) -> str:
    return type(event).__name__


def encode(value: Any) -> Any:
    """JSON data of an event or of any value inside one. Decimals become strings, enums their values."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    return value


def decode(kind: str, data: Mapping[str, Any]) -> Event:
    """The event that ``encode`` wrote. Raises KeyError for a kind that does not exist."""
    event: Event = _build(KINDS[kind], data)
    return event


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _build(kind: type, data: Mapping[str, Any]) -> Any:
    return kind(**{name: _value(hint, data[name]) for name, hint in _hints(kind).items() if name in data})


def _value(hint: Any, data: Any) -> Any:
    if data is None:
        return None
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _value(next(arg for arg in get_args(hint) if arg is not type(None)), data)
    if origin is tuple:
        return tuple(_value(get_args(hint)[0], item) for item in data)
    if isinstance(hint, type):
        if is_dataclass(hint):
            return _build(hint, data)
        if issubclass(hint, StrEnum | Decimal):
            return hint(data)
    return data
