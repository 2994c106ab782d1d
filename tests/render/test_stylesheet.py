"""The sheet for code is fresh, covers what is written, and can be read on light and dark grounds."""

import re
from pathlib import Path

import pytest

from agentweb.render import html, stylesheet
from agentweb.render.highlight import LANGUAGES, TOKEN_CLASSES, combined_stylesheet, highlight

SHEET = Path(__file__).parents[2] / "static" / "css" / "code.css"


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_sheet_in_static_is_fresh() -> None:
    assert SHEET.read_text(encoding="utf-8") == combined_stylesheet()


@pytest.mark.parametrize(
    ("dark", "grounds"), [(False, ("#ffffff", "#f0f1f3")), (True, ("#0d1117", "#161b22", "#2a2f37"))]
)
def test_every_colour_can_be_read(dark: bool, grounds: tuple[str, ...]) -> None:
    colours = set(re.findall(r"#[0-9a-f]{6}", stylesheet(dark)))
    assert len(colours) > 5
    assert {(colour, ground) for colour in colours for ground in grounds if contrast(colour, ground) < 4.5} == set()


def test_both_grounds_colour_the_same_classes() -> None:
    names = re.compile(r"pre code \.(\w+)")
    assert names.findall(stylesheet(True)) == names.findall(stylesheet(False)) == names.findall(combined_stylesheet())
    assert set(names.findall(stylesheet(True))) <= TOKEN_CLASSES


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_keeps_the_code_as_it_is(language: str) -> None:
    code = 'x = "a" # <b> & 1\n'
    assert highlight(code, language) is not None
    assert re.sub(r"<[^>]*>", "", html(f"```{language}\n{code}```")) == code.replace("&", "&amp;").replace(
        "<", "&lt;"
    ).replace(">", "&gt;")
