"""HTTP APIs as admins set them up: operations of an OpenAPI document become draft tools, called as it says."""

from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from agentweb.registry import source_values, taking_in
from agentweb.registry.models import Tool, ToolSource
from agentweb.toolbox.openapi import document, reading
from agentweb.toolbox.openapi.caller import ApiCaller
from agentweb.toolbox.outside import Caller

MOST_NEW = 200  # drafts from one document at a time: nobody looks at more


class Refused(Exception):
    """The document was not taken in; says why."""


@dataclass(frozen=True, slots=True)
class Read:
    """What came of a document. ``wants``: names of credentials that it speaks of and that are not entered yet;
    ``servers``: the addresses that it gives."""

    report: taking_in.TakenIn
    title: str
    wants: list[str] = field(default_factory=list)
    servers: list[str] = field(default_factory=list)


def caller(tool: Tool) -> Caller:
    """Raises SecretUnreadable, and ValueError where the address is missing."""
    source = tool.source
    assert source is not None
    if not source.url:
        raise ValueError("it has no address.")
    return ApiCaller(source.name, source.url, tool.timeout_s, source_values.of(source))


def take_in(source: ToolSource, text: str) -> Read:
    """Take in the operations that were chosen by words, and compare those that are here. Raises Refused, and
    SecretUnreadable."""
    try:
        read = document.read(text)
        known = set(source.tools.values_list("true_name", flat=True))
        words = str(source.settings.get("only", ""))
        wanted = [one for one in reading.operations(read) if one.true_name in known or reading.matches(one, words)]
    except document.BadDocument as error:
        raise Refused(str(error)) from None
    if len([one for one in wanted if one.true_name not in known]) > MOST_NEW:
        said = _("It has %(count)d operations that would be new, and at most %(most)d are taken in: choose by words.")
        raise Refused(said % {"count": len(wanted), "most": MOST_NEW})
    report = taking_in.take_in(source=source, offers=[reading.offer(source.name, read, one) for one in wanted])
    entered = {name.lower() for name in source_values.of(source)}
    wants = [name for name in reading.credentials_wanted(read) if name.lower() not in entered]
    title = _title(read)
    ToolSource.objects.filter(pk=source.pk).update(settings={**source.settings, "title": title})
    return Read(report, title, wants, _servers(read))


def _title(read: dict[str, Any]) -> str:
    info: Any = read.get("info")
    if not _is(info):
        return ""
    return " ".join(str(info[name])[:100] for name in ("title", "version") if info.get(name))


def _servers(read: dict[str, Any]) -> list[str]:
    servers = read.get("servers")
    found = [each.get("url") for each in servers if _is(each)] if isinstance(servers, list) else []
    return [str(url)[:200] for url in found if url][:5]


def _is(value: Any) -> bool:
    return isinstance(value, dict)
