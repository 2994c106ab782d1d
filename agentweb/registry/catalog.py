"""The tools that exist, in code or taken in from outside, and the rows that say how each may be used."""

from collections.abc import Iterable, Mapping
from functools import cache

from django.conf import settings

from agentweb.engine.ports import Tool as EngineTool
from agentweb.registry import outside_tools, tool_secrets
from agentweb.registry.models import Tool
from agentweb.toolbox.catalog import BUILT_IN, load
from agentweb.toolbox.definitions import free_name


@cache
def tools() -> Mapping[str, EngineTool]:
    """Every tool in code by name: the built-in ones and those of TOOLBOX_MODULES."""
    return load((*BUILT_IN, *settings.TOOLBOX_MODULES))


def find(names: Iterable[str]) -> dict[str, EngineTool]:
    """Those of the names that belong to a tool, as it is now, with the secrets that it may have. One query where some
    are not in code, and one where some ask for secrets, else none."""
    code, wanted = tools(), dict.fromkeys(names)
    found = tool_secrets.with_secrets({name: code[name] for name in wanted if name in code})
    return {**found, **outside_tools.tools([name for name in wanted if name not in found])}


def find_one(name: str) -> EngineTool | None:
    return find([name]).get(name)


def sync() -> None:
    """Make a row for each new tool, with the risk that its author suggests, and follow changed descriptions.

    What an admin has set (risk, enabled, time-out) is never touched."""
    _make_way()
    rows = {row.name: row for row in Tool.objects.filter(source=None)}
    for name, tool in tools().items():
        spec = tool.spec
        row = rows.get(name)
        if row is None:
            Tool.objects.create(
                name=name,
                label=spec.label,
                description=spec.description,
                risk=spec.risk.value,
                timeout_s=max(1, round(spec.timeout_s)),
                untrusted=getattr(tool, "untrusted", False),
                outbound=getattr(tool, "outbound", False),
            )
        elif (row.label, row.description) != (spec.label, spec.description):
            Tool.objects.filter(pk=row.pk).update(label=spec.label, description=spec.description)


def _make_way() -> None:
    """A tool from outside whose name new code needs gets another one; what was agreed to for it does not go along."""
    for row in Tool.objects.filter(name__in=list(tools())).exclude(source=None):
        name = free_name(row.name, {*tools(), *Tool.objects.values_list("name", flat=True)})
        definition = outside_tools.definition_in(row.definition).named(name)
        Tool.objects.filter(pk=row.pk).update(name=name, definition=definition.to_text(), digest=definition.digest)
