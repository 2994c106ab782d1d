"""How a tool is used as admins have set it up: tried again, its answers kept, another one instead of it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from agentweb.engine.ports import ToolSpec
from agentweb.registry import catalog
from agentweb.registry.models import MOST_SUBSTITUTES, Tool

RETRIES = 3
KEEP_S = 60
COLUMNS = ("timeout_s", "retries", "keep_s", "fallback__name", "fact", "previews")
"""What of a row says how its tool is used, in the order that `used` takes it."""


def used(
    spec: ToolSpec,
    timeout_s: int,
    retries: int | None,
    keep_s: int | None,
    fallback: str | None,
    fact: str,
    previews: bool,
) -> ToolSpec:
    """The tool with what its row says, and with what is usual where that says nothing."""
    return replace(
        spec,
        timeout_s=timeout_s,
        retries=(RETRIES if retries is None else retries) if may_retry(spec) else 0,
        keep_s=(KEEP_S if keep_s is None else keep_s) if may_keep(spec) else 0,
        fallback=fallback or "",
        fact=fact,
        previews=previews,
    )


def may_retry(spec: ToolSpec) -> bool:
    return spec.repeatable


def may_keep(spec: ToolSpec) -> bool:
    return spec.reads and spec.deterministic


def substitutes(specs: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools that are not offered and may be used instead of these, or of each other. No query where there are none,
    else two a step."""
    known = {spec.name: spec for spec in specs}
    offered = set(known)
    for _step in range(MOST_SUBSTITUTES):
        missing = {spec.fallback for spec in known.values() if spec.fallback} - set(known)
        if not missing:
            break
        rows: list[Any] = list(
            Tool.objects.filter(name__in=missing, enabled=True, state=Tool.State.ACTIVE)
            .exclude(source__enabled=False)
            .order_by("name")
            .values_list("name", *COLUMNS)
        )
        tools = catalog.find(name for name, *_columns in rows)
        found = {name: used(tools[name].spec, *columns) for name, *columns in rows if name in tools}
        if not found:
            break
        known |= found
    return tuple(spec for name, spec in known.items() if name not in offered)
