"""What a call is about, in the words of an admin: a template with places for its arguments, as ``{{ path }}``."""

import re
from collections.abc import Mapping

from agentweb.engine.digest import canonical
from agentweb.engine.messages import Json

LONGEST_VALUE = 200  # characters of one argument
NOTHING = "–"
_PLACE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


def filled(template: str, arguments: Mapping[str, Json]) -> str:
    """The sentence. An argument that is missing is shown as such; what arguments hold is not looked at again."""
    return _PLACE.sub(lambda found: _value(arguments.get(found[1].strip())), template).strip()


def places(template: str) -> list[str]:
    """The names between double braces, in order."""
    return [name.strip() for name in _PLACE.findall(template)]


def unclosed(template: str) -> bool:
    return "{{" in _PLACE.sub("", template)


def _value(value: Json) -> str:
    """One line, and not long."""
    if value is None:
        return NOTHING
    text = " ".join((value if isinstance(value, str) else canonical(value)).split())
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
