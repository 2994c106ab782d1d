"""Tools from outside, as a source would offer them."""

from typing import Any

from agentweb.engine.enums import Risk
from agentweb.registry.models import Agent, Tool, ToolSource
from agentweb.registry.taking_in import take_in
from agentweb.toolbox.definitions import Definition, Offer


def offer(true_name: str = "mail.send", *, risk: Risk = Risk.MEDIUM, **raw: Any) -> Offer:
    """``raw``: what the source says of it."""
    said = {"description": "Sends a mail.", "inputSchema": {"type": "object", "properties": {"to": {"type": "string"}}}}
    said |= raw
    definition = Definition(
        name=true_name,
        true_name=true_name,
        label=true_name,
        description=said["description"],
        parameters=said["inputSchema"],
        raw=said,
    )
    return Offer(true_name, definition, risk)


def source(name: str = "Office", kind: str = ToolSource.Kind.REQUEST) -> ToolSource:
    return ToolSource.objects.create(name=name, kind=kind)


def released(agent: Agent, *offers: Offer) -> list[Tool]:
    """Tools that the agent is given, of a new source."""
    place = source()
    take_in(source=place, offers=offers or (offer(),))
    place.tools.update(state=Tool.State.ACTIVE)
    agent.tools.add(*place.tools.all())
    return list(place.tools.order_by("name"))
