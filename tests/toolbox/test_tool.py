"""A Python function becomes a tool: described, checked, with a preview."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Done, NotDone, Preview, Tool, ToolContext, ToolError, ToolSpec, Unsure
from agentweb.toolbox.parameters import Length, Range
from agentweb.toolbox.tool import FunctionTool, tool
from tests.toolbox.calling import context_in, run


class Unit(StrEnum):
    KM = "km"
    MILES = "miles"


@tool(label="Distance", category="maps", reads=True, repeatable=True, risk=Risk.LOW, timeout_s=5)
def distance(
    start: Annotated[str, Length(1)], to: str, unit: Unit = Unit.KM, stops: Annotated[int, Range(0, 9)] = 0
) -> str:
    """How far it is.

    Args:
        start: Where it begins.
        to: Where it ends.
    """
    assert isinstance(unit, Unit)
    return f"{start} to {to} in {unit} with {stops} stops"


def with_defaults(function: Callable[..., Any]) -> FunctionTool:
    return tool(label="Test")(function)


def test_the_definition_is_made_from_the_function() -> None:
    spec = distance.spec
    assert spec == ToolSpec(
        name="distance",
        label="Distance",
        description="How far it is.",
        parameters={
            "type": "object",
            "properties": {
                "start": {"type": "string", "minLength": 1, "description": "Where it begins."},
                "to": {"type": "string", "description": "Where it ends."},
                "unit": {"type": "string", "enum": ["km", "miles"], "default": "km"},
                "stops": {"type": "integer", "minimum": 0, "maximum": 9, "default": 0},
            },
            "required": ["start", "to"],
            "additionalProperties": False,
        },
        reads=True,
        repeatable=True,
        shared=True,
        risk=Risk.LOW,
        timeout_s=5,
        digest=spec.digest,
    )
    assert distance.category == "maps"


def test_what_is_not_said_is_taken_for_the_worst() -> None:
    def work() -> str:
        """Work."""
        return ""

    spec = with_defaults(work).spec
    assert (spec.reads, spec.repeatable, spec.deterministic, spec.risk) == (False, False, False, Risk.HIGH)


def test_a_tool_that_does_something_gives_no_answer_that_could_be_kept() -> None:
    def work(context: ToolContext) -> str:
        """Work."""
        return ""

    with pytest.raises(TypeError, match="only a tool that reads"):
        tool(label="Test", deterministic=True)(work)
    assert not tool(label="Test", reads=True, deterministic=True)(work).spec.shared


def test_the_digest_changes_with_the_definition_and_with_nothing_else() -> None:
    def same(value: str) -> str:
        """Work."""
        return value

    def described(value: str) -> str:
        """Work hard."""
        return value

    def retyped(value: int) -> str:
        """Work."""
        return str(value)

    digest = tool(label="A", name="work")(same).spec.digest
    assert len(digest) == 64
    assert tool(label="B", name="work", risk=Risk.LOW, timeout_s=1)(same).spec.digest == digest
    others = [
        tool(label="A", name="other")(same),
        tool(label="A", name="work")(described),
        tool(label="A", name="work")(retyped),
        tool(label="A", name="work", reads=True)(same),
        tool(label="A", name="work", repeatable=True)(same),
    ]
    assert len({digest, *(each.spec.digest for each in others)}) == 6


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"start": "a", "to": "b"}, None),
        ({"start": "a", "to": "", "unit": "miles", "stops": 9}, None),
        ({"start": "a"}, "to"),
        ({"start": "a", "to": None}, "to"),
        ({"start": "", "to": "b"}, "start: Must not be empty."),
        ({"start": "a", "to": 3}, "to"),
        ({"start": "a", "to": ["b"]}, "to"),
        ({"start": "a", "to": "b", "unit": "yards"}, "unit"),
        ({"start": "a", "to": "b", "stops": 10}, "stops"),
        ({"start": "a", "to": "b", "stops": 1.5}, "stops"),
        ({"start": "a", "to": "b", "context": {}}, "context"),
        ({"start": "a", "to": "b", "via": "c"}, "via"),
    ],
)
def test_a_problem_names_its_field(arguments: Mapping[str, Any], field: str | None) -> None:
    problems = distance.problems(arguments)
    assert len(problems) == (0 if field is None else 1)
    assert all(field and field in problem for problem in problems)


def test_a_tools_own_check_sees_only_arguments_that_fit_the_schema() -> None:
    def work(n: int) -> str:
        """Work."""
        return str(n)

    odd = tool(label="Odd", check=lambda arguments: ["n: Must be odd."] if arguments["n"] % 2 == 0 else [])(work)
    assert odd.problems({"n": 3}) == []
    assert odd.problems({"n": 4}) == ["n: Must be odd."]
    assert len(odd.problems({"n": "4"})) == 1


def test_arguments_reach_the_function_as_it_wants_them(tmp_path: Path) -> None:
    arguments = {"start": "a", "to": "b", "unit": "miles", "stops": 2.0}
    assert run(distance, arguments, context_in(tmp_path)) == "a to b in miles with 2 stops"
    assert run(distance, {"start": "a", "to": "b"}, context_in(tmp_path)) == "a to b in km with 0 stops"


@pytest.mark.parametrize("plain", [True, False])
def test_what_became_of_a_lost_call_is_found_out_from_the_same_arguments(tmp_path: Path, plain: bool) -> None:
    def look(n: int, context: ToolContext) -> Done | NotDone:
        return Done(f"{n} rows in {context.workspace.name}") if n else NotDone()

    async def look_later(n: int, context: ToolContext) -> Done | NotDone:
        return look(n, context)

    def work(n: int) -> str:
        """Work."""
        return str(n)

    made = tool(label="Work", outcome=look if plain else look_later)(work)
    assert asyncio.run(made.check({"n": 3}, context_in(tmp_path))) == Done("3 rows in workspace")
    assert asyncio.run(made.check({"n": 0}, context_in(tmp_path))) == NotDone()
    assert asyncio.run(with_defaults(work).check({"n": 3}, context_in(tmp_path))) == Unsure()


def test_something_else_than_a_finding_is_refused(tmp_path: Path) -> None:
    def work(n: int) -> str:
        """Work."""
        return str(n)

    with pytest.raises(TypeError, match="Done, NotDone or Unsure"):
        asyncio.run(tool(label="Work", outcome=lambda n: True)(work).check({"n": 3}, context_in(tmp_path)))


def test_a_preview_takes_the_same_arguments_and_says_what_would_happen(tmp_path: Path) -> None:
    def look(n: int, unit: Unit, context: ToolContext) -> Preview:
        if n > 9:
            raise ToolError("There are only nine.")
        return Preview(f"Takes {n} {unit.name} in {context.workspace.name}")

    def work(n: int, unit: Unit = Unit.KM) -> str:
        """Work."""
        return ""

    made = tool(label="Take", preview=look)(work)
    context = context_in(tmp_path)
    assert made.preview({"n": 2, "unit": "miles"}, context) == Preview("Takes 2 MILES in workspace")
    assert made.preview({"n": 10, "unit": "km"}, context) == Preview("This would fail: There are only nine.")
    assert distance.preview({"start": "a", "to": "b"}, context) is None


def test_a_tool_is_what_the_engine_wants() -> None:
    as_port: Tool = distance
    assert as_port.spec.name == "distance"


def without_docstring() -> str:
    return ""


def with_yield() -> Iterator[str]:
    """Work."""
    yield ""


def with_wrong_docstring(a: str) -> str:
    """Work.

    Args:
        b: What?
    """
    return a


@pytest.mark.parametrize(
    ("function", "name", "words"),
    [
        (without_docstring, "", "needs a docstring"),
        (with_yield, "", "must be async"),
        (with_wrong_docstring, "", "unknown parameters: b"),
        (distance.function, "a b", "a tool's name"),
        (distance.function, "日历", "a tool's name"),
        (distance.function, "x" * 65, "a tool's name"),
        (lambda: "", "", "a tool's name"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused(function: Callable[..., Any], name: str, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        tool(label="Test", name=name)(function)
