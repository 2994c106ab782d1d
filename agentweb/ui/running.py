"""How a call came to its result: attempts, answers that were kept, tools that failed before. In words."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from agentweb.runs.models import Call


def how_it_ran(call: Call, names: Mapping[str, str]) -> list[str]:
    """Sentences; none for a call that simply ran. ``names``: the labels of tools."""
    used = _label(call.name, names)
    words = [
        _("%(failed)s failed. Used instead: %(used)s.") % {"failed": _label(failure["tool"], names), "used": after}
        for failure, after in zip(call.failures, _after(call, names, used), strict=True)
    ]
    if call.kept_s is not None:
        words.append(kept(call.kept_s))
    if call.tries > 1:
        words.append(tried(call.tries, failed=call.is_error))
    return words


def kept(seconds: float) -> str:
    return _("Answer of %(seconds)d s ago, kept: the tool did not run again.") % {"seconds": round(seconds)}


def tried(times: int, *, failed: bool) -> str:
    words = _("Given up after attempt %(number)d.") if failed else _("Done at attempt %(number)d.")
    return words % {"number": times}


def _after(call: Call, names: Mapping[str, str], used: str) -> list[str]:
    """Which tool came after each that failed."""
    return [*(_label(failure["tool"], names) for failure in call.failures[1:]), used][: len(call.failures)]


def _label(name: str, names: Mapping[str, str]) -> str:
    return _(names[name]) if names.get(name) else name
