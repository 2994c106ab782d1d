"""Changes of files are taken back, as long as nothing else has changed the file, and that can be taken back too."""

from dataclasses import replace
from pathlib import Path

import pytest

from agentweb.engine.ports import Tool, ToolContext, ToolError
from agentweb.engine.reversing import Reverse
from agentweb.toolbox.delete_file import delete_file
from agentweb.toolbox.edit_file import edit_file
from agentweb.toolbox.former import Former
from agentweb.toolbox.restore_file import restore_file
from agentweb.toolbox.tool import tool
from agentweb.toolbox.workspace import Workspace
from agentweb.toolbox.write_file import write_file
from tests.toolbox.calling import context_in, run

WRITE = {"path": "a/b.txt", "content": "new"}
EDIT = {"path": "a/b.txt", "old": "old", "new": "new"}
DELETE = {"path": "a/b.txt"}


def under(context: ToolContext, call: str) -> ToolContext:
    return replace(context, call=call)


def held(context: ToolContext) -> bytes | None:
    file = context.workspace / "a" / "b.txt"
    return file.read_bytes() if file.exists() else None


def undo(made: Tool, arguments: dict[str, str], context: ToolContext, call: str) -> str:
    """Take back the call that ``context`` is of, as a call with another id."""
    reverse = made.reverse(arguments, "done", context)  # type: ignore[attr-defined]
    assert reverse is not None and reverse.tool == "restore_file"
    return run(restore_file, reverse.arguments, under(context, call))


@pytest.mark.parametrize(
    ("made", "arguments", "before"),
    [
        (write_file, WRITE, None),
        (write_file, WRITE, b"old"),
        (write_file, WRITE, b"\xff\x00 not text"),
        (edit_file, EDIT, b"\xef\xbb\xbfold\r\n"),
        (delete_file, DELETE, b"old"),
    ],
    ids=["made", "replaced", "not text", "edited", "deleted"],
)
def test_a_file_is_as_it_was_before_the_call_and_then_as_it_was_after(
    tmp_path: Path, made: Tool, arguments: dict[str, str], before: bytes | None
) -> None:
    context = context_in(tmp_path)
    if before is not None:
        Workspace(context.workspace).write_bytes("a/b.txt", before)
    run(made, arguments, context)
    after = held(context)

    undo(made, arguments, context, "call-2")
    assert held(context) == before

    undo(restore_file, DELETE, under(context, "call-2"), "call-3")
    assert held(context) == after


@pytest.mark.parametrize("now", [b"other", None])
def test_a_file_that_has_changed_since_stays_as_it_is(tmp_path: Path, now: bytes | None) -> None:
    context = context_in(tmp_path)
    run(write_file, WRITE, context)
    (context.workspace / "a" / "b.txt").write_bytes(now) if now else Workspace(context.workspace).delete("a/b.txt")
    arguments = {"path": "a/b.txt", "change": "call-1"}
    with pytest.raises(ToolError, match="has changed since then"):
        run(restore_file, arguments, under(context, "call-2"))
    assert held(context) == now
    shown = restore_file.preview(arguments, context)
    assert shown is not None and shown.effect.startswith("This would fail: ")


def test_the_preview_shows_what_comes_back(tmp_path: Path) -> None:
    context = context_in(tmp_path)
    run(write_file, WRITE, context)
    shown = restore_file.preview({"path": "a/b.txt", "change": "call-1"}, context)
    assert shown is not None and shown.effect == "Deletes a/b.txt (3 B)"


@pytest.mark.parametrize(("path", "change"), [("a/b.txt", "call-9"), ("other", "call-1"), ("a/b.txt", "../call-1")])
def test_nothing_is_put_back_that_was_not_kept(tmp_path: Path, path: str, change: str) -> None:
    context = context_in(tmp_path)
    run(write_file, WRITE, context)
    with pytest.raises(ToolError, match="not kept any more"):
        run(restore_file, {"path": path, "change": change}, under(context, "call-2"))
    assert not Former(context.workspace).has("../call-1")


def test_only_the_newest_records_are_kept_and_only_their_calls_can_be_taken_back(tmp_path: Path) -> None:
    context = context_in(tmp_path)
    records = Former(context.workspace, most=2)
    for number in range(4):
        records.keeping(f"call-{number}", "a/b.txt")(b"before", b"after")
    offered = [write_file.reverse(WRITE, "", under(context, f"call-{number}")) for number in range(4)]
    assert [each is not None for each in offered] == [False, False, True, True]


def test_what_is_kept_lies_outside_of_the_workspace(tmp_path: Path) -> None:
    context = context_in(tmp_path)
    run(write_file, WRITE, context)
    assert [entry.path for entry in Workspace(context.workspace).list()] == ["a/b.txt"]


def test_a_tool_says_how_its_call_is_taken_back(tmp_path: Path) -> None:
    def pay(account: str) -> str:
        """Pay."""
        return "receipt 7"

    made = tool(label="Pay", undo=lambda arguments, result: ("refund", {"receipt": result[-1], **arguments}))(pay)
    reverse = made.reverse({"account": "x"}, "receipt 7", context_in(tmp_path))
    assert reverse == Reverse("refund", {"receipt": "7", "account": "x"})
    assert tool(label="Pay")(pay).reverse({"account": "x"}, "receipt 7", context_in(tmp_path)) is None
