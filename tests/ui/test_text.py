"""Text for people to judge: hidden characters, long results, recorded effects, numbers."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from django.utils import translation

from agentweb.toolbox import previews
from agentweb.ui.effects import effect_text
from agentweb.ui.excerpt import HEAD_LINES, TAIL_LINES, excerpt
from agentweb.ui.hidden import hides_something, visible_html
from agentweb.ui.templatetags.ui import count, html_language, moment, money, seconds


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("rm \u202etxt.exe", "U+202E"),
        ("a\u200bb", "U+200B"),
        ("x\u2066y", "U+2066"),
        ("tag \U000e0041", "U+E0041"),
        ("p\u0430ypal.com", "\u0430"),
    ],
)
def test_a_character_that_deceives_is_marked(text, mark):
    assert hides_something(text)
    html = visible_html(text)
    assert "<mark" in html
    assert f">{mark}</mark>" in html.replace(" ×1", "")


@pytest.mark.parametrize(
    "text", ["plain", "你好，世界", "用CSS，然后（再试）", "two\nlines\tand a tab", "👩‍👩‍👧 family", ""]
)
def test_ordinary_text_has_no_marks(text):
    assert not hides_something(text)
    assert "<mark" not in visible_html(text)


def test_markup_in_the_text_is_shown_and_never_obeyed():
    html = visible_html('<img src=x onerror="alert(1)">\u200b<script>')
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;img" in html


def test_a_short_text_is_shown_whole():
    whole = excerpt("one\ntwo")
    assert (whole.head, whole.tail, whole.cut, whole.lines) == ("one\ntwo", "", False, 2)


def test_of_a_long_text_head_and_tail_are_shown_with_counts():
    lines = [f"line {number}" for number in range(100_000)]
    part = excerpt("\n".join(lines))
    assert part.lines == 100_000
    assert part.head.startswith("line 0\n")
    assert part.tail.endswith("line 99999")
    assert part.hidden_lines == pytest.approx(100_000 - HEAD_LINES - TAIL_LINES, abs=2)
    assert len(part.head) + len(part.tail) + part.hidden_characters == part.characters


def test_one_endless_line_is_cut_too():
    part = excerpt("x" * 5_000_000)
    assert len(part.head) + len(part.tail) < 20_000
    assert part.hidden_characters == 5_000_000 - len(part.head) - len(part.tail)


EFFECTS = [
    previews.created("a.txt", "one\n"),
    previews.created("a (1).txt", "one\ntwo\n"),
    previews.changed("a.txt", "one\n", "one\n"),
    previews.changed("a.txt", "one\n", ""),
    previews.changed("a of b.txt", "one\ntwo\n", "two\nthree\n"),
    previews.replaced("a.png", 1_234, "one\n"),
    previews.deleted("a.txt", 12, "one\n"),
]


@pytest.mark.parametrize("preview", EFFECTS, ids=lambda preview: preview.effect)
def test_the_effect_of_a_built_in_tool_is_told_in_the_viewers_language(preview):
    assert effect_text(preview.effect) == preview.effect
    with translation.override("zh-hans"):
        said = effect_text(preview.effect)
    assert said != preview.effect
    assert "line" not in said
    assert preview.effect.split(" ")[1][:1] in said


def test_an_effect_of_unknown_form_stays_as_it_was_recorded():
    with translation.override("zh-hans"):
        assert effect_text("Sends 3 messages") == "Sends 3 messages"


@pytest.mark.parametrize(
    ("amount", "shown"), [("0", "0"), ("0E-8", "0"), ("0.00120000", "0.0012"), ("12.50", "12.5"), ("100", "100")]
)
def test_money_keeps_every_digit_that_says_something(amount, shown):
    assert money(Decimal(amount)) == shown


def test_numbers_are_grouped_and_durations_are_short():
    assert count(1_234_567) == "1,234,567"
    assert (seconds(0.42), seconds(12.6)) == ("0.4", "13")


def test_languages_are_named_as_html_wants_them():
    assert [html_language(code) for code in ("en", "zh-hans")] == ["en", "zh-Hans"]


def test_a_time_is_written_in_utc_for_a_script_to_turn_into_the_viewers_zone():
    html = moment(datetime(2026, 11, 30, 8, 5, 9, tzinfo=timezone(timedelta(hours=1))))
    assert html == '<time datetime="2026-11-30T07:05:09+00:00" data-local>11/30/2026 7:05 a.m. UTC</time>'
