"""Icons: every one that a page names is there, and none brings anything but shapes."""

import re
from pathlib import Path

import pytest

from agentweb.engine.enums import CallStatus
from agentweb.ui import calls, icons, reasons

ROOT = Path(__file__).resolve().parent.parent.parent
USED = re.compile(r'{% icon "([a-z0-9-]+)"')


def named_in_templates() -> set[str]:
    return {name for path in (ROOT / "templates").rglob("*.html") for name in USED.findall(path.read_text())}


def named_in_code() -> set[str]:
    states = [*calls.STATES.values(), *calls.RESULTS.values(), *calls.DECISIONS.values()]
    return {
        *(icon for _css, icon, _word in states),
        *calls.ICONS.values(),
        *calls.RISK_ICONS.values(),
        *reasons.OUTCOME_ICONS.values(),
    }


def test_every_icon_that_is_named_has_a_file():
    names = named_in_templates() | named_in_code()
    assert len(names) > 30
    assert [name for name in sorted(names) if not icons.shapes(name).startswith("<")] == []


def test_an_icon_is_decoration_without_scripts_or_styles():
    for path in icons.FOLDER.glob("*.svg"):
        html = str(icons.icon(path.stem))
        assert 'aria-hidden="true"' in html
        assert not re.search(r"script|style=|\bon\w+=|href", html), path.name


def test_an_unknown_icon_is_an_error():
    with pytest.raises(LookupError):
        icons.shapes("no-such-icon")


def test_the_licence_of_the_icons_is_beside_them():
    assert "ISC License" in (icons.FOLDER / "LICENSE").read_text()


def test_every_state_of_a_call_has_words():
    assert set(calls.STATES) | {CallStatus.FINISHED} == set(CallStatus)
