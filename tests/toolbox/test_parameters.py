"""A signature becomes a JSON Schema, and JSON arguments become the function's values."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal, Optional

import pytest

from agentweb.engine.ports import ToolContext
from agentweb.toolbox.parameters import Length, Pattern, Range, read_parameters


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Size(Enum):
    SMALL = 1
    LARGE = 2


RED_OR_BLUE = {"type": "string", "enum": ["red", "blue"]}


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (list, {"type": "array"}),
        (dict, {"type": "object"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (Sequence[int], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (list[list[Any]], {"type": "array", "items": {"type": "array", "items": {}}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
        (Literal["red", "blue"], RED_OR_BLUE),
        (Literal[1, "auto"], {"type": ["integer", "string"], "enum": [1, "auto"]}),
        (Colour, RED_OR_BLUE),
        (Size, {"type": "integer", "enum": [1, 2]}),
        (str | None, {"type": ["string", "null"]}),
        (Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045
        (Colour | None, {"type": ["string", "null"], "enum": ["red", "blue", None]}),
        (str | int, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (list[str] | None, {"type": ["array", "null"], "items": {"type": "string"}}),
        (Annotated[int, Range(1, 10)], {"type": "integer", "minimum": 1, "maximum": 10}),
        (Annotated[float, Range(low=0.5)], {"type": "number", "minimum": 0.5}),
        (
            Annotated[str, Length(1, 5), Pattern("^a")],
            {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^a"},
        ),
        (Annotated[list[str], Length(high=3)], {"type": "array", "items": {"type": "string"}, "maxItems": 3}),
        (
            Annotated[dict[str, str], Length(1)],
            {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
        ),
        (list[Annotated[int, Range(0)]], {"type": "array", "items": {"type": "integer", "minimum": 0}}),
        (Annotated[str | None, Length(1)], {"type": ["string", "null"], "minLength": 1}),
    ],
)
def test_a_type_is_described(hint: Any, schema: dict[str, Any]) -> None:
    def work(value) -> None: ...  # type: ignore[no-untyped-def]

    work.__annotations__["value"] = hint
    assert read_parameters(work, {}).schema["properties"] == {"value": schema}


def test_required_defaults_and_descriptions_are_said() -> None:
    def work(
        a: str, context: ToolContext, b: int = 3, c: Colour = Colour.BLUE, *, d: str | None = None, e: bool
    ) -> None: ...

    parameters = read_parameters(work, {"a": "The a."})
    assert parameters.schema == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "The a."},
            "b": {"type": "integer", "default": 3},
            "c": {**RED_OR_BLUE, "default": "blue"},
            "d": {"type": ["string", "null"]},
            "e": {"type": "boolean"},
        },
        "required": ["a", "e"],
        "additionalProperties": False,
    }
    assert parameters.wants_context


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def work() -> None: ...

    assert read_parameters(work, {}).schema == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


def test_arguments_become_the_types_of_the_function() -> None:
    def work(
        colour: Colour, size: Size | None, sizes: list[Size], by: dict[str, Colour], n: int, pair: tuple[float, ...]
    ) -> None: ...

    values = read_parameters(work, {}).values(
        {"colour": "red", "size": None, "sizes": [1, 2], "by": {"x": "blue"}, "n": 3.0, "pair": [1, 2.5]}
    )
    assert values == {
        "colour": Colour.RED,
        "size": None,
        "sizes": [Size.SMALL, Size.LARGE],
        "by": {"x": Colour.BLUE},
        "n": 3,
        "pair": (1, 2.5),
    }
    assert isinstance(values["n"], int)
    assert isinstance(values["colour"], Colour)


def untyped(a) -> None: ...  # type: ignore[no-untyped-def]
def many(*a: str) -> None: ...
def named(**a: str) -> None: ...
def positional(a: str, /) -> None: ...
def strange(a: set[str]) -> None: ...
def by_number(a: dict[int, str]) -> None: ...
def mixed(a: Colour | int) -> None: ...
def odd_note(a: Annotated[str, "a note"]) -> None: ...


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (untyped, "need type hints"),
        (many, "by name"),
        (named, "by name"),
        (positional, "by name"),
        (strange, "cannot be described"),
        (by_number, "cannot be described"),
        (mixed, "beside other types"),
        (odd_note, "not a constraint"),
    ],
)
def test_what_cannot_be_described_is_refused_by_name(function: Callable[..., None], words: str) -> None:
    with pytest.raises(TypeError, match=words) as refused:
        read_parameters(function, {})
    assert f"{function.__name__}(a)" in str(refused.value)


def test_a_description_of_an_unknown_parameter_is_refused() -> None:
    def work(a: str) -> None: ...

    with pytest.raises(TypeError, match="unknown parameters: b"):
        read_parameters(work, {"a": "x", "b": "y"})
