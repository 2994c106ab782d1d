"""The date and time, in any time zone."""

import difflib
import zoneinfo
from datetime import UTC, tzinfo
from functools import cache

from agentweb.engine.enums import Risk
from agentweb.engine.ports import ToolContext, ToolError
from agentweb.toolbox.tool import tool

EXAMPLES = "UTC, Asia/Shanghai, Europe/Berlin or America/New_York"


@tool(label="Date and time", reads=True, repeatable=True, risk=Risk.LOW, timeout_s=10)
def current_time(context: ToolContext, timezone: str | None = None) -> str:
    """The current date, time and weekday.

    Args:
        timezone: IANA name of a time zone, such as Asia/Shanghai; UTC when left out.
    """
    name, zone = find_zone(timezone or "UTC")
    now = context.now().astimezone(zone)
    weekday, offset = _WEEKDAYS[now.weekday()], _offset(now.strftime("%z"))
    return f"Date: {now:%Y-%m-%d}\nTime: {now:%H:%M:%S}\nWeekday: {weekday}\nTime zone: {name} ({offset})"


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def find_zone(name: str) -> tuple[str, tzinfo]:
    """The zone and its proper name, whatever the case. Raises ToolError that names examples."""
    proper = _zones().get(name.strip().casefold())
    if proper is None:
        raise ToolError(f'There is no time zone "{name[:60]}". Use an IANA name such as {_examples(name)}.')
    return proper, UTC if proper == "UTC" else zoneinfo.ZoneInfo(proper)


@cache
def _zones() -> dict[str, str]:
    """Only listed names reach ZoneInfo, which would look for others among the files of the system."""
    return {name.casefold(): name for name in zoneinfo.available_timezones()} | {"utc": "UTC"}


def _examples(name: str) -> str:
    """Zones whose city looks like what was asked for, or else well-known ones."""
    wanted = name.strip().casefold().replace(" ", "_").rsplit("/", 1)[-1]
    cities = {folded.rsplit("/", 1)[-1]: proper for folded, proper in sorted(_zones().items())}
    close = difflib.get_close_matches(wanted[:60], cities, n=3, cutoff=0.75)
    return " or ".join(cities[city] for city in close) or EXAMPLES


def _offset(digits: str) -> str:
    return f"UTC{digits[:3]}:{digits[3:5]}"
