"""Changes as people see them."""

from agentweb.engine.codec import encode
from agentweb.toolbox import previews
from agentweb.ui.diffs import argument_changes, preview_lines


def recorded(preview) -> dict:
    return {"kind": preview.kind, "data": encode(preview.data)}


def test_a_recorded_file_diff_becomes_lines():
    lines, text = preview_lines(recorded(previews.changed("a.txt", "one\ntwo\n", "one\nthree\n")))
    assert [(line.kind, line.text) for line in lines] == [("same", "one"), ("removed", "two"), ("added", "three")]
    assert text == ""


def test_lines_that_are_left_out_are_counted():
    before = "".join(f"{number}\n" for number in range(100))
    lines, _text = preview_lines(recorded(previews.changed("a.txt", before, before.replace("50\n", "fifty\n"))))
    hunks = [line.text for line in lines if line.kind == "hunk"]
    assert hunks == ["… 47 lines are not shown", "… 46 lines are not shown"]


def test_a_preview_that_cannot_be_read_shows_nothing():
    for preview in (None, [], "text", {}, {"data": 3}, {"data": {"rows": ["x", 3]}}):
        assert preview_lines(preview) == ([], "")


def test_a_text_preview_is_shown_as_text():
    assert preview_lines({"kind": "text", "data": {"text": "Dear Ann"}}) == ([], "Dear Ann")


def test_changed_arguments_are_told_field_by_field():
    changes = argument_changes({"path": "a", "gone": 1, "text": "x\ny\n"}, {"path": "b", "text": "x\nz\n", "new": [1]})
    assert [(change.label, change.before, change.after) for change in changes if not change.lines] == [
        ("Path", "a", "b"),
        ("Gone", "1", None),
        ("New", None, "[\n  1\n]"),
    ]
    (text,) = [change for change in changes if change.lines]
    assert [line.kind for line in text.lines] == ["same", "removed", "added"]
