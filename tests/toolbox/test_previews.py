"""What a preview shows is what the call then does."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentweb.engine.ports import ToolContext
from agentweb.toolbox.catalog import load
from agentweb.toolbox.previews import MOST_SHOWN, changed, created
from agentweb.toolbox.workspace import Workspace
from tests.toolbox.calling import context_in, run

TOOLS = load()

lines = st.lists(st.sampled_from(["a", "b", "c", "", "天", "a\r", "\u2028"]), max_size=12)
texts = st.builds(lambda rows, end: "\n".join(rows) + end, lines, st.sampled_from(["", "\n"]))


def applied(rows: Sequence[Mapping[str, Any]], old: str) -> str:
    """The text that the rows make of the old one, as a person would read them."""
    before = old.split("\n")
    if before[-1] == "":
        before.pop()
        ends = [True] * len(before)
    else:
        ends = [True] * (len(before) - 1) + [False]
    made, at = "", 0
    for row in rows:
        assert row["kind"] != "more"
        if row["kind"] == "gap":
            taken = range(at, at + row["count"])
            made += "".join(before[index] + ("\n" if ends[index] else "") for index in taken)
            at += row["count"]
            continue
        if row["kind"] in ("equal", "delete"):
            assert (row["text"], row["ended"]) == (before[at], ends[at])
            at += 1
        if row["kind"] in ("equal", "insert"):
            made += row["text"] + ("\n" if row["ended"] else "")
    assert at == len(before)
    return made


def shown_and_done(name: str, arguments: Mapping[str, str], old: str | None) -> tuple[str, str]:
    """What the preview promises for ``a.txt``, and what is in it after the call."""
    with TemporaryDirectory() as folder:
        context = context_in(Path(folder))
        if old is not None:
            Workspace(context.workspace).write_bytes("a.txt", old.encode())
        promised = promise(name, arguments, context, old or "")
        run(TOOLS[name], arguments, context)
        return promised, (context.workspace / "a.txt").read_bytes().decode()


def promise(name: str, arguments: Mapping[str, str], context: ToolContext, old: str) -> str:
    preview = TOOLS[name].preview(arguments, context)
    assert preview is not None
    if preview.effect == "Leaves a.txt as it is":
        return old
    assert preview.data["path"] == "a.txt"
    return applied(json.loads(json.dumps(preview.data["rows"])), old)


@given(old=st.none() | texts, new=texts)
def test_a_write_does_what_its_preview_shows(old: str | None, new: str) -> None:
    assert shown_and_done("write_file", {"path": "a.txt", "content": new}, old) == (new, new)


@given(head=texts, tail=texts, new=texts)
def test_an_edit_does_what_its_preview_shows(head: str, tail: str, new: str) -> None:
    old = f"{head}<mark>{tail}"
    expected = f"{head}{new}{tail}"
    assert shown_and_done("edit_file", {"path": "a.txt", "old": "<mark>", "new": new}, old) == (expected, expected)


def test_the_preview_of_a_deletion_shows_every_line_that_goes(tmp_path: Path) -> None:
    context = context_in(tmp_path)
    Workspace(context.workspace).write_bytes("a.txt", b"one\ntwo")
    assert promise("delete_file", {"path": "a.txt"}, context, "one\ntwo") == ""


def test_a_preview_is_bounded_and_says_what_it_leaves_out() -> None:
    many = created("a.txt", "x\n" * 5_000).data["rows"]
    assert many[-1]["kind"] == "more"
    assert len(many) - 1 + many[-1]["count"] == 5_000
    wide = created("a.txt", ("x" * 1_500 + "\n") * 300).data["rows"]
    assert sum(len(row["text"]) for row in wide) <= MOST_SHOWN
    assert len(wide) - 1 + wide[-1]["count"] == 300


def test_texts_that_are_dear_to_compare_are_still_previewed() -> None:
    old = "".join(f"{n % 300}\n" for n in range(60_000))
    preview = changed("a.txt", old, old[::-1])
    assert preview.effect == "Changes 60,001 lines of a.txt"
    assert preview.data["rows"]
