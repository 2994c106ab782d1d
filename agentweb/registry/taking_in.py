"""Taking in what a source offers as draft tools, and seeing to it that what was released stays as it was."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from agentweb.registry import catalog
from agentweb.registry.models import Tool, ToolSource
from agentweb.toolbox.definitions import LONGEST_LABEL, Definition, Offer, free_name


class Outdated(Exception):
    """The tool was changed since the page was made that a yes comes from."""


@dataclass(slots=True)
class TakenIn:
    """What came of it, by the true names of the tools; ``refused`` with the reasons."""

    new: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def take_in(*, source: ToolSource, offers: Iterable[Offer]) -> TakenIn:
    """New tools become drafts, drafts follow their source, and a released tool that is another now is put on hold."""
    return _compare(source, offers, drafts=True)


def look_after(*, source: ToolSource, offers: Iterable[Offer]) -> TakenIn:
    """The same for what is there already: nothing new is made."""
    return _compare(source, offers, drafts=False)


@transaction.atomic
def _compare(source: ToolSource, offers: Iterable[Offer], *, drafts: bool) -> TakenIn:
    rows = {row.true_name: row for row in Tool.objects.select_for_update().filter(source=source)}
    taken = {*catalog.tools(), *Tool.objects.values_list("name", flat=True)} if drafts else set()
    report, seen = TakenIn(), set()
    for offer in offers:
        if offer.true_name in seen:
            report.refused.append((offer.true_name, "Another tool of this source has the same name."))
            continue
        seen.add(offer.true_name)
        row = rows.get(offer.true_name)
        if offer.definition is None:
            report.refused.append((offer.true_name, offer.why_not))
            if row is not None:
                _hold(row, Tool.Why.REFUSED, report.held)
        elif row is not None:
            _follow(row, offer.definition, report)
        elif drafts:
            _draft(source, offer, offer.definition, taken)
            report.new.append(offer.true_name)
    for true_name, row in rows.items():
        if true_name not in seen:
            _hold(row, Tool.Why.GONE, report.gone)
    return report


def _draft(source: ToolSource, offer: Offer, definition: Definition, taken: set[str]) -> None:
    """What comes back from outside was written by others, and what is asked for leaves the site."""
    definition = definition.named(free_name(definition.name, taken))
    taken.add(definition.name)
    Tool.objects.create(
        **_fields(definition),
        name=definition.name,
        source=source,
        true_name=definition.true_name,
        state=Tool.State.DRAFT,
        risk=offer.risk.value,
        untrusted=True,
        outbound=True,
    )


def _follow(row: Tool, offered: Definition, report: TakenIn) -> None:
    """Whether the source says what it said when the tool was taken in."""
    pinned = Definition.from_text(row.definition)
    if offered.source_digest == pinned.source_digest:
        if row.state == Tool.State.HELD:
            Tool.objects.filter(pk=row.pk).update(state=Tool.State.ACTIVE, held_why="", proposed="", updated_at=_now())
            report.back.append(row.true_name)
        else:
            report.same.append(row.true_name)
    elif row.state == Tool.State.DRAFT:
        Tool.objects.filter(pk=row.pk).update(**_fields(offered.named(row.name)), updated_at=_now())
        report.changed.append(row.true_name)
    else:
        _hold(row, Tool.Why.CHANGED, report.held, offered.named(row.name).to_text())


def _hold(row: Tool, why: Tool.Why, told: list[str], proposed: str = "") -> None:
    """Nobody has released a draft, so one that its source has no use for is forgotten."""
    told.append(row.true_name)
    if row.state == Tool.State.DRAFT:
        row.delete()
    elif (row.state, row.held_why, row.proposed) != (Tool.State.HELD, why, proposed):
        values = {"state": Tool.State.HELD, "held_why": why, "proposed": proposed, "updated_at": _now()}
        Tool.objects.filter(pk=row.pk).update(**values)


def release(*, tool: Tool, digest: str) -> None:
    """A draft as it was shown may be used from now on. Raises Outdated."""
    drafts = Tool.objects.filter(pk=tool.pk, state=Tool.State.DRAFT, digest=digest)
    if not drafts.update(state=Tool.State.ACTIVE, updated_at=_now()):
        raise Outdated


def accept(*, tool: Tool, digest: str) -> None:
    """The definition that a held tool has by now, as it was shown, counts from now on. What was agreed to for the one
    before does not count for it, since its digest is another. Raises Outdated."""
    definition = Definition.from_text(tool.proposed) if tool.proposed else None
    if definition is None or definition.digest != digest:
        raise Outdated
    held = Tool.objects.filter(pk=tool.pk, state=Tool.State.HELD, proposed=tool.proposed)
    values = {**_fields(definition), "state": Tool.State.ACTIVE, "held_why": "", "proposed": "", "updated_at": _now()}
    if not held.update(**values):
        raise Outdated


def _fields(definition: Definition) -> dict[str, str]:
    return {
        "label": definition.label[:LONGEST_LABEL],
        "description": definition.description,
        "definition": definition.to_text(),
        "digest": definition.digest,
    }


def _now() -> object:
    return timezone.now()
