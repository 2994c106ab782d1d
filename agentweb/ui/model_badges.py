"""Which model an agent uses, as a badge: people must see when it is the scripted one."""

from collections.abc import Iterable
from dataclasses import dataclass

from agentweb.registry.models import Agent, ChatModel
from agentweb.registry.snapshots import DEFAULT_MODEL, SCRIPTED_MODEL


@dataclass(frozen=True, slots=True)
class ModelBadge:
    name: str = ""
    scripted: bool = False


def model_badges(agents: Iterable[Agent]) -> dict[int, ModelBadge]:
    """The badge of each agent, by row id; one query where an agent names no model of its own."""
    agents = list(agents)
    fallback = _fallback() if any(agent.model is None for agent in agents) else None
    return {agent.pk: _badge(agent.model or fallback) for agent in agents}


def _fallback() -> ChatModel | None:
    rows = {row.name: row for row in ChatModel.objects.filter(name__in=(DEFAULT_MODEL, SCRIPTED_MODEL))}
    return rows.get(DEFAULT_MODEL) or rows.get(SCRIPTED_MODEL)


def _badge(model: ChatModel | None) -> ModelBadge:
    if model is None:
        return ModelBadge()
    return ModelBadge(model.model_name or model.name, model.kind == ChatModel.Kind.SCRIPTED)
