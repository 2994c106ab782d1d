"""The tools that exist in code, loaded once a process, and their rows, which say how each may be used."""

from collections.abc import Mapping
from functools import cache

from django.conf import settings

from agentweb.engine.ports import Tool as EngineTool
from agentweb.registry.models import Tool
from agentweb.toolbox.catalog import BUILT_IN, load


@cache
def tools() -> Mapping[str, EngineTool]:
    """Every tool by name: the built-in ones and those of TOOLBOX_MODULES."""
    return load((*BUILT_IN, *settings.TOOLBOX_MODULES))


def sync() -> None:
    """Make a row for each new tool, with the risk that its author suggests, and follow changed descriptions.

    What an admin has set (risk, enabled, time-out) is never touched."""
    rows = {row.name: row for row in Tool.objects.all()}
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
