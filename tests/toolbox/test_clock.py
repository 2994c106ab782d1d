"""The current date and time, in the zone that is asked for."""

from pathlib import Path

import pytest

from agentweb.engine.ports import ToolError
from agentweb.toolbox.clock import current_time
from tests.toolbox.calling import context_in, run


@pytest.mark.parametrize(
    ("arguments", "date", "time", "weekday", "zone"),
    [
        ({}, "2026-08-01", "22:30:05", "Saturday", "UTC (UTC+00:00)"),
        ({"timezone": None}, "2026-08-01", "22:30:05", "Saturday", "UTC (UTC+00:00)"),
        ({"timezone": ""}, "2026-08-01", "22:30:05", "Saturday", "UTC (UTC+00:00)"),
        ({"timezone": "Asia/Shanghai"}, "2026-08-02", "06:30:05", "Sunday", "Asia/Shanghai (UTC+08:00)"),
        ({"timezone": " asia/kolkata "}, "2026-08-02", "04:00:05", "Sunday", "Asia/Kolkata (UTC+05:30)"),
        ({"timezone": "America/New_York"}, "2026-08-01", "18:30:05", "Saturday", "America/New_York (UTC-04:00)"),
        ({"timezone": "utc"}, "2026-08-01", "22:30:05", "Saturday", "UTC (UTC+00:00)"),
    ],
)
def test_current_time(tmp_path: Path, arguments: dict[str, str], date: str, time: str, weekday: str, zone: str) -> None:
    text = run(current_time, arguments, context_in(tmp_path))
    assert text == f"Date: {date}\nTime: {time}\nWeekday: {weekday}\nTime zone: {zone}"


@pytest.mark.parametrize(
    ("zone", "hint"),
    [
        ("Mars/Base", "Asia/Shanghai, Europe/Berlin"),
        ("../../etc/passwd", "such as UTC"),
        ("/etc/localtime", "such as"),
        ("Asia", "such as"),
        ("UTC+8", "IANA name"),
        ("a\x00b", "IANA name"),
        ("x" * 5000, "IANA name"),
        ("Shanghai", "such as Asia/Shanghai"),
        ("new york", "such as America/New_York"),
        ("Europe/Berln", "Europe/Berlin"),
    ],
)
def test_an_unknown_zone_is_answered_with_examples(tmp_path: Path, zone: str, hint: str) -> None:
    with pytest.raises(ToolError, match="There is no time zone") as refused:
        run(current_time, {"timezone": zone}, context_in(tmp_path))
    assert hint in str(refused.value)
    assert len(str(refused.value)) < 250
