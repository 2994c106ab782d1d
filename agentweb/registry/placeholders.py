"""Placeholders of system prompts: ``{{ name }}`` stands for a value of the run that begins."""

import re
from collections.abc import Callable, Mapping

NAMES = ("agent", "instructions", "tools", "tool_names", "question", "notes", "date", "team")
_ANY = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_GAP = re.compile(r"\n{3,}")

Values = Mapping[str, Callable[[], str]]


def used(template: str) -> list[str]:
    """What stands between double braces, in order, whether it is a name or not."""
    return [found.strip() for found in _ANY.findall(template)]


def unclosed(template: str) -> bool:
    """Whether double braces open that never close."""
    return "{{" in _ANY.sub("", template)


def filled(template: str, values: Values) -> str:
    """The text with its values, each asked for only where it is used; what they hold is not looked at again."""
    text = _ANY.sub(lambda found: values[found[1].strip()]() if found[1].strip() in values else "", template)
    return _GAP.sub("\n\n", text).strip()
