"""Differences between values and between texts."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentweb.schema.diff import Change, ChangeKind, Part, diff, text_diff
from agentweb.schema.json_text import rebuild, same
from agentweb.schema.unified import Row, RowKind, unified
from tests.schema.values import deep, deep_object, json_objects, json_values, texts

lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "", "long line\n", "\r\n", "x"]), max_size=12).map("".join)


def test_each_field_that_differs_is_a_change():
    before = {"to": "ann@example.org", "limit": 3, "gone": None, "tags": ["a", "b"], "meta": {"k": 1}}
    after = {"to": "bob@example.org", "limit": 3.0, "tags": ["a", "c"], "meta": {"k": 1}, "new": ""}
    assert [(change.path, change.kind, change.before, change.after) for change in diff(before, after)] == [
        ("to", ChangeKind.CHANGED, "ann@example.org", "bob@example.org"),
        ("gone", ChangeKind.REMOVED, None, None),
        ("tags[1]", ChangeKind.CHANGED, "b", "c"),
        ("new", ChangeKind.ADDED, None, ""),
    ]


@pytest.mark.parametrize(("before", "after"), [(30, 30.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([], []), ("x", "x")])
def test_equal_values_have_no_changes(before, after):
    assert diff(before, after) == ()


@pytest.mark.parametrize(("before", "after"), [(1, True), (None, ""), (0, False), ("1", 1), ([1], [1, 2]), ({}, [])])
def test_other_values_are_one_change(before, after):
    assert diff(before, after) == (Change("", ChangeKind.CHANGED, before, after),)


def applied(before: Any, changes: tuple[Change, ...]) -> Any:
    """What comes out when the changes are made on a copy."""
    root = [rebuild(before)]
    for change in changes:
        target, *steps = root, 0, *change.at
        for step in steps[:-1]:
            target = target[step]
        if change.kind is ChangeKind.REMOVED:
            del target[steps[-1]]
        else:
            target[steps[-1]] = change.after
    return root[0]


@given(json_objects, json_objects)
def test_the_changes_make_the_new_value_out_of_the_old(before, after):
    assert same(applied(before, diff(before, after)), after)


@given(json_values, json_values)
def test_so_they_do_for_values_of_any_kind(before, after):
    assert same(applied(before, diff(before, after)), after)


def test_many_changes_are_given_field_by_field_of_the_top():
    before = {"a": {str(number): number for number in range(500)}, "b": 1}
    after = {"a": {str(number): -1 for number in range(500)}, "b": 1}
    assert [change.path for change in diff(before, after)] == ["a"]


def test_depth_never_ends_in_a_recursion_error():
    assert diff(deep(), deep()) == ()
    assert len(diff({"a": deep_object()}, {"a": deep_object(9_000)})) == 1


def test_long_texts_are_compared_word_by_word():
    (change,) = diff(
        {"body": "Dear Ann, the meeting is on Monday at ten."}, {"body": "Dear Ann, the meeting is on Friday at ten."}
    )
    assert [(segment.kind, segment.text) for segment in change.segments] == [
        (Part.EQUAL, "Dear Ann, the meeting is on "),
        (Part.DELETE, "Monday"),
        (Part.INSERT, "Friday"),
        (Part.EQUAL, " at ten."),
    ]


def test_short_texts_are_not_taken_apart():
    assert diff("red", "green")[0].segments == ()


def put_together(segments, without):
    return "".join(segment.text for segment in segments if segment.kind is not without)


@given(texts | lines, texts | lines)
def test_the_segments_give_both_texts(before, after):
    segments = text_diff(before, after)
    assert put_together(segments, Part.INSERT) == before
    assert put_together(segments, Part.DELETE) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * 200_000, "b " + "a " * 200_000),
        ("a b " * 50_000, "b a c " * 50_000),
        ("".join(f"{n}\n" for n in range(40_000)), "".join(f"{n * 7}\n" for n in range(40_000))),
        ("\n" * 100_000, "x\n" * 100_000),
        ("a", "x" * 1_000_000),
    ],
)
def test_large_texts_are_compared_in_bounded_time(before, after):
    started = time.process_time()
    segments = text_diff(before, after)
    rows = unified(before, after)
    assert time.process_time() - started < 10
    assert put_together(segments, Part.INSERT) == before
    assert put_together(segments, Part.DELETE) == after
    assert len(rows) <= 401


def test_a_file_diff_shows_numbered_lines_around_the_change():
    before = "".join(f"line {number}\n" for number in range(1, 21))
    after = before.replace("line 10\n", "line ten\n")
    rows = unified(before, after, context=1)
    assert [(row.kind, row.old_number, row.new_number, row.text, row.count) for row in rows] == [
        (RowKind.GAP, None, None, "", 8),
        (RowKind.EQUAL, 9, 9, "line 9", 0),
        (RowKind.DELETE, 10, None, "line 10", 0),
        (RowKind.INSERT, None, 10, "line ten", 0),
        (RowKind.EQUAL, 11, 11, "line 11", 0),
        (RowKind.GAP, None, None, "", 9),
    ]


def test_a_new_file_is_all_inserted_and_its_end_is_told():
    assert unified("", "a\nb") == (
        Row(RowKind.INSERT, None, 1, "a"),
        Row(RowKind.INSERT, None, 2, "b", ended=False),
    )


def test_a_long_diff_ends_with_the_number_of_lines_left_out():
    rows = unified("", "x\n" * 1000, max_rows=10)
    assert len(rows) == 11
    assert rows[-1] == Row(RowKind.MORE, count=990)


def test_a_very_long_line_is_cut():
    (row,) = unified("", "x" * 5_000)
    assert (len(row.text), row.cut) == (2_000, 3_000)


def test_the_same_text_has_no_rows():
    assert unified("a\n", "a\n") == ()


@given(lines, lines, st.integers(0, 3))
def test_the_rows_and_what_they_leave_out_count_all_lines(before, after, context):
    rows = unified(before, after, max_rows=10_000, context=context)
    if before == after:
        assert rows == ()
        return
    old = sum(1 for row in rows if row.old_number) + sum(row.count for row in rows)
    new = sum(1 for row in rows if row.new_number) + sum(row.count for row in rows)
    assert old == before.count("\n") + (not before.endswith("\n") and before != "")
    assert new == after.count("\n") + (not after.endswith("\n") and after != "")


@given(lines, lines)
def test_rows_with_full_context_give_both_files(before, after):
    rows = unified(before, after, max_rows=10_000, context=100)
    if before != after:
        assert "".join(row.text + "\n" * row.ended for row in rows if row.old_number) == before
        assert "".join(row.text + "\n" * row.ended for row in rows if row.new_number) == after
