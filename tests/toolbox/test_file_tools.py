"""What the file tools do, and what they say when they cannot."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Done, Finding, NotDone, ToolContext, ToolError, Unsure
from agentweb.toolbox.catalog import load
from agentweb.toolbox.workspace import UPLOAD_LIMITS, Workspace
from tests.toolbox.calling import context_in, run

TOOLS = load()


@pytest.fixture
def place(tmp_path: Path) -> ToolContext:
    return context_in(tmp_path)


def put(place: ToolContext, **files: str | bytes) -> None:
    """Files by name, where ``__`` stands for a slash and the last ``_`` for the dot."""
    uploads = Workspace(place.workspace, UPLOAD_LIMITS)
    for name, content in files.items():
        path = ".".join(name.replace("__", "/").rsplit("_", 1))
        uploads.write_bytes(path, content.encode() if isinstance(content, str) else content)


def text_of(place: ToolContext, path: str) -> str:
    return (place.workspace / path).read_bytes().decode()


def call(name: str, place: ToolContext, **arguments: Any) -> str:
    return run(TOOLS[name], arguments, place)


def error_of(name: str, place: ToolContext, **arguments: Any) -> str:
    with pytest.raises(ToolError) as raised:
        call(name, place, **arguments)
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "risk", "reads"),
    [
        ("list_files", Risk.LOW, True),
        ("read_file", Risk.LOW, True),
        ("search_files", Risk.LOW, True),
        ("write_file", Risk.MEDIUM, False),
        ("edit_file", Risk.MEDIUM, False),
        ("delete_file", Risk.HIGH, False),
    ],
)
def test_risk_and_side_effects(name: str, risk: Risk, reads: bool) -> None:
    spec = TOOLS[name].spec
    assert (spec.risk, spec.reads, spec.repeatable) == (risk, reads, reads)


BAD_PATHS = ["", "../x", "/etc/passwd", "a//../../b", "%2e%2e/", "C:\\x", "a\x00", "a\u202eb", "./a", "x" * 300, "nul"]


@pytest.mark.parametrize("path", BAD_PATHS)
@pytest.mark.parametrize(
    ("name", "more"),
    [("read_file", {}), ("write_file", {"content": "x"}), ("edit_file", {"old": "a", "new": "b"}), ("delete_file", {})],
)
def test_a_bad_path_is_a_problem_before_anybody_is_asked(name: str, more: Mapping[str, str], path: str) -> None:
    (problem,) = TOOLS[name].problems({"path": path, **more})
    assert problem.startswith("path: ")
    assert problem.endswith(".")


@pytest.mark.parametrize("path", [path for path in BAD_PATHS if path])
@pytest.mark.parametrize(("name", "more"), [("list_files", {}), ("search_files", {"query": "x"})])
def test_a_bad_folder_is_a_problem_too(name: str, more: Mapping[str, str], path: str) -> None:
    (problem,) = TOOLS[name].problems({"path": path, **more})
    assert problem.startswith("path: ")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"path": "a"}, "content"),
        ({"path": "a", "content": None}, "content"),
        ({"path": "", "content": "x"}, "path"),
        ({"path": None, "content": "x"}, "path"),
        ({"content": "x"}, "path"),
    ],
)
def test_a_missing_field_never_empties_a_file(place: ToolContext, arguments: dict[str, Any], field: str) -> None:
    (problem,) = TOOLS["write_file"].problems(arguments)
    assert field in problem


def test_a_file_may_be_made_empty_on_purpose(place: ToolContext) -> None:
    put(place, a_txt="full")
    assert call("write_file", place, path="a.txt", content="") == "Wrote a.txt (0 lines, 0 B)."
    assert text_of(place, "a.txt") == ""
    assert call("read_file", place, path="a.txt") == 'The file "a.txt" is empty.'


def test_list_files(place: ToolContext) -> None:
    assert call("list_files", place) == "The workspace is empty."
    put(place, b_txt="x" * 1234, a_txt="", src__main_py="pass")
    listed = "a.txt (0 B)\nb.txt (1.2 kB)\nsrc/main.py (4 B)"
    for path in ("", ".", "./", None):
        assert call("list_files", place, path=path) == listed
    assert call("list_files", place) == listed
    assert call("list_files", place, path="src/") == "src/main.py (4 B)"
    assert error_of("list_files", place, path="none") == 'There is no folder "none".'
    assert error_of("list_files", place, path="a.txt") == '"a.txt" is not a folder.'


def test_read_file(place: ToolContext) -> None:
    put(place, a_txt="Grüße\r\n天\n", bom_txt=b"\xef\xbb\xbfhello")
    assert call("read_file", place, path="a.txt") == "Grüße\r\n天\n"
    assert call("read_file", place, path="bom.txt") == "hello"
    assert error_of("read_file", place, path="none.txt") == 'There is no file "none.txt".'


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a_png", b"\x89PNG\r\n", "image/png"),
        ("a_txt", b"a\x00b", "text/plain"),
        ("a_q7", b"\xff" * 1500, "unknown type"),
    ],
)
def test_a_file_that_is_not_text_is_named_with_type_and_size(
    place: ToolContext, name: str, data: bytes, kind: str
) -> None:
    put(place, **{name: data})
    error = error_of("read_file", place, path=name.replace("_", "."))
    assert "is not a text file" in error
    assert kind in error
    assert " B)" in error or "1.5 kB)" in error


def test_of_a_long_file_the_beginning_is_given(place: ToolContext) -> None:
    put(place, a_txt="天" * 30_000)
    text = call("read_file", place, path="a.txt")
    assert text == "天" * 20_000 + "\n\n[Cut: these are the first 20,000 of 30,000 characters.]"


@pytest.mark.parametrize("lead", ["", "a", "ab"])
def test_of_a_huge_file_the_beginning_is_given_in_whole_characters(place: ToolContext, lead: str) -> None:
    put(place, a_txt=lead + "天" * 1_000_000)
    text = call("read_file", place, path="a.txt")
    assert text.startswith(lead + "天天")
    assert "\ufffd" not in text
    assert text.endswith("characters of a file of 3 MB.]")
    assert len(text) <= 20_000


def test_search_files(place: ToolContext) -> None:
    put(place, a_txt="One\n  two  \nONE more\r\n", src__b_py="none\nzone", c_bin=b"one\x00one")
    found = "a.txt:1: One\na.txt:3: ONE more\nsrc/b.py:1: none\nsrc/b.py:2: zone"
    for path in (None, "", "."):
        assert call("search_files", place, query="oNe", path=path) == found
    assert call("search_files", place, query="one", path="src") == "src/b.py:1: none\nsrc/b.py:2: zone"
    assert call("search_files", place, query="two", path="a.txt") == "a.txt:2: two"
    assert call("search_files", place, query=".*") == 'Nothing found for ".*".'
    assert error_of("search_files", place, query="x", path="sr") == 'There is no file or folder "sr".'
    assert TOOLS["search_files"].problems({"query": ""}) == ["query: Must not be empty."]


def test_search_files_shows_so_many_matches_and_so_much_of_a_line(place: ToolContext) -> None:
    put(place, a_txt="hit\n" * 150, b_txt="x" * 500 + "needle" + "y" * 500)
    lines = call("search_files", place, query="hit").splitlines()
    assert len(lines) == 101
    assert lines[-1] == "[Only the first 100 matches are shown.]"
    line = call("search_files", place, query="NEEDLE")
    assert line.startswith("b.txt:1: …x")
    assert line.endswith("y…")
    assert "needle" in line
    assert len(line) < 230


def test_search_files_ends_when_cancelled(tmp_path: Path) -> None:
    place = context_in(tmp_path, cancelled=lambda: True)
    put(place, a_txt="hit")
    assert error_of("search_files", place, query="hit") == "The search was cancelled."


def test_write_file(place: ToolContext) -> None:
    assert call("write_file", place, path="src/a.py", content="one\ntwo") == "Wrote src/a.py (2 lines, 7 B)."
    assert call("write_file", place, path="src/a.py", content="天\n") == "Wrote src/a.py (1 line, 4 B)."
    assert text_of(place, "src/a.py") == "天\n"
    assert error_of("write_file", place, path="src", content="x") == '"src" is a folder, not a file.'
    assert "1 MB at most" in error_of("write_file", place, path="b", content="x" * 1_000_001)
    assert "half a character" in error_of("write_file", place, path="b", content="\ud800")


def test_edit_file(place: ToolContext) -> None:
    put(place, a_txt="one\ntwo\nthree\n")
    said = call("edit_file", place, path="a.txt", old="two\n", new="2\n2b\n")
    assert said == "Changed a.txt: 1 line replaced by 2 lines."
    assert text_of(place, "a.txt") == "one\n2\n2b\nthree\n"
    call("edit_file", place, path="a.txt", old="2\n2b\n", new="")
    assert text_of(place, "a.txt") == "one\nthree\n"


def test_edit_file_takes_the_passage_literally(place: ToolContext) -> None:
    put(place, a_txt="a.c \\1 $x")
    call("edit_file", place, path="a.txt", old="a.c", new=r"\g<0>\n")
    assert text_of(place, "a.txt") == r"\g<0>\n \1 $x"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("four", "4", 'does not occur in "a.txt"'),
        ("o", "0", "occurs 4 times"),
        ("aa", "b", "occurs 2 times"),
        ("one", "one", "the same"),
    ],
)
def test_edit_file_wants_a_passage_that_occurs_once(place: ToolContext, old: str, new: str, words: str) -> None:
    put(place, a_txt="one two too aaa")
    before = text_of(place, "a.txt")
    assert words in error_of("edit_file", place, path="a.txt", old=old, new=new)
    assert words in effect("edit_file", place, path="a.txt", old=old, new=new)
    assert text_of(place, "a.txt") == before


def test_edit_file_keeps_line_ends_and_the_byte_order_mark(place: ToolContext) -> None:
    put(place, a_txt=b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    call("edit_file", place, path="a.txt", old="one\ntwo\n", new="1\n2\n")
    assert (place.workspace / "a.txt").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\nthree\r\n"


def test_edit_file_refuses_what_is_not_there_not_text_or_would_be_too_large(place: ToolContext) -> None:
    put(place, a_png=b"\x89PNG\xff", b_txt="x" * 999_999 + "y")
    assert "no file" in error_of("edit_file", place, path="none", old="a", new="b")
    assert "not a text file" in error_of("edit_file", place, path="a.png", old="a", new="b")
    assert "1 MB at most" in error_of("edit_file", place, path="b.txt", old="y", new="yy")


def test_delete_file(place: ToolContext) -> None:
    put(place, src__a_txt="x" * 1234)
    assert call("delete_file", place, path="src/a.txt") == "Deleted src/a.txt (1.2 kB)."
    assert list(place.workspace.iterdir()) == []
    assert error_of("delete_file", place, path="src/a.txt") == 'There is no folder "src".'


def effect(name: str, place: ToolContext, **arguments: Any) -> str:
    assert TOOLS[name].problems(arguments) == []
    preview = TOOLS[name].preview(arguments, place)
    assert preview is not None
    return preview.effect


def test_the_preview_of_a_write_says_what_will_happen(place: ToolContext) -> None:
    assert effect("write_file", place, path="a/b.txt", content="1\n2\n3\n") == "Creates a/b.txt (3 lines)"
    assert not place.workspace.exists()
    put(place, a_txt="1\n2\n3\n", b_png=b"\x89PNG" * 400, c_txt="x")
    assert effect("write_file", place, path="a.txt", content="1\nB\nC\n") == "Changes 2 lines of a.txt"
    assert effect("write_file", place, path="a.txt", content="1\n2\n3\n4\n") == "Changes 1 line of a.txt"
    assert effect("write_file", place, path="a.txt", content="1\n2\n3\n") == "Leaves a.txt as it is"
    assert effect("write_file", place, path="a.txt", content="") == "Empties a.txt (3 lines)"
    assert effect("write_file", place, path="b.png", content="x\n") == "Replaces b.png (1.6 kB, not text) by 1 line"
    assert effect("write_file", place, path="A.txt", content="") == (
        'This would fail: "A.txt" differs from the existing "a.txt" only in capital letters.'
    )
    assert effect("write_file", place, path="a.txt/b", content="") == 'This would fail: "a.txt" is not a folder.'
    assert "1 MB at most" in effect("write_file", place, path="d", content="x" * 1_000_001)
    assert sorted(path.name for path in place.workspace.iterdir()) == ["a.txt", "b.png", "c.txt"]


def test_the_preview_of_an_edit_says_what_will_happen(place: ToolContext) -> None:
    put(place, a_json='{\n "a": 1,\n "b": 2\n}\n')
    assert effect("edit_file", place, path="a.json", old='"a": 1', new='"a": 3') == "Changes 1 line of a.json"
    assert effect("edit_file", place, path="b.json", old="a", new="b") == 'This would fail: There is no file "b.json".'
    assert text_of(place, "a.json").count("1") == 1


def test_the_preview_of_a_deletion_says_what_will_be_lost(place: ToolContext) -> None:
    put(place, a_txt="line\n" * 300, b_png=b"\x89PNG\xff")
    assert effect("delete_file", place, path="a.txt") == "Deletes a.txt (1.5 kB)"
    assert effect("delete_file", place, path="b.png") == "Deletes b.png (5 B)"
    assert effect("delete_file", place, path="none") == 'This would fail: There is no file "none".'
    assert len(Workspace(place.workspace).list()) == 2


def test_tools_do_not_follow_links(place: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    put(place, a_txt="x")
    (place.workspace / "link.txt").symlink_to(tmp_path / "secret.txt")
    more: dict[str, dict[str, str]] = {"write_file": {"content": "x"}, "edit_file": {"old": "secret", "new": "x"}}
    for name in ("read_file", "write_file", "edit_file", "delete_file"):
        arguments = {"path": "link.txt", **more.get(name, {})}
        assert error_of(name, place, **arguments) == '"link.txt" is a link; links are not followed.'
    assert call("list_files", place) == "a.txt (1 B)"
    assert call("search_files", place, query="secret") == 'Nothing found for "secret".'
    assert (tmp_path / "secret.txt").read_text() == "secret"


# --- after a worker was lost ----------------------------------------------------------------------------------------

OLD_AND_NEW = {"path": "a.txt", "old": "one", "new": "two"}


@pytest.mark.parametrize(
    ("name", "arguments", "there", "found"),
    [
        ("write_file", {"path": "a.txt", "content": "one\n"}, "one\n", Done("Wrote a.txt (1 line, 4 B).")),
        ("write_file", {"path": "a.txt", "content": "one\n"}, None, NotDone()),
        ("write_file", {"path": "a.txt", "content": "one\n"}, "another", Unsure()),
        ("edit_file", OLD_AND_NEW, "this is two", Done("Changed a.txt: 1 line replaced by 1 line.")),
        ("edit_file", OLD_AND_NEW, "this is one", NotDone()),
        ("edit_file", OLD_AND_NEW, "one and two", Unsure()),
        ("edit_file", {**OLD_AND_NEW, "new": ""}, "nothing of it", Unsure()),
        ("edit_file", {**OLD_AND_NEW, "new": ""}, "this is one", NotDone()),
        ("delete_file", {"path": "a.txt"}, None, Done("Deleted a.txt.")),
        ("delete_file", {"path": "a.txt"}, "still here", NotDone()),
    ],
)
def test_the_files_tell_what_became_of_a_lost_call(
    place: ToolContext, name: str, arguments: Mapping[str, str], there: str | None, found: Finding
) -> None:
    if there is not None:
        put(place, a_txt=there)
    assert asyncio.run(TOOLS[name].check(arguments, place)) == found
