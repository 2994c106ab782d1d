"""How calls are taken back: by the call that their tool names, in a run of its own that makes this one call."""

import logging
from collections.abc import Mapping
from typing import Any

from agentweb.engine.ports import ToolContext, ToolSpec
from agentweb.engine.reversing import Reverse, Reversible
from agentweb.registry import catalog, set_up
from agentweb.registry.models import Agent, ChatModel, Tool
from agentweb.registry.snapshots import Built, model_data, tool_data
from agentweb.schema.json_text import canonical, digest

logger = logging.getLogger(__name__)

NAME = "Undo, not an AI"
TURNS = 3  # the call, what came of it, and one to spare for a call that an extension wants thought over


def may_have_reverse(tool: str) -> bool:
    """Whether it is worth while to look further. No query."""
    return getattr(catalog.tools().get(tool), "undo", None) is not None


def reverse_of(tool: str, arguments: Mapping[str, Any], result: str, context: ToolContext) -> Reverse | None:
    """The call that takes back this one, where the tool names one that exists and takes its arguments."""
    found = catalog.tools().get(tool)
    if not isinstance(found, Reversible):
        return None
    try:
        reverse = found.reverse(arguments, result, context)
        other = catalog.find_one(reverse.tool) if reverse else None
        sound = reverse is not None and other is not None and not other.problems(reverse.arguments)
    except Exception:  # the tool's own code must not break the page
        logger.exception("The tool %s could not say how a call of it is taken back", tool)
        return None
    return reverse if sound else None


def build(agent: Agent, reverse: Reverse) -> Built:
    """The snapshot of a run that makes this one call, judged as any other call of that agent."""
    call = {"name": reverse.tool, "arguments": dict(reverse.arguments)}
    model = ChatModel(name=NAME, kind=ChatModel.Kind.SCRIPTED)
    data = {
        "agent": {"id": str(agent.public_id), "name": agent.name},
        "system": "",
        "prompt": None,
        "max_turns": TURNS,
        "sequential": False,
        "loop_guard": False,
        "goals": [],
        "model": {**model_data(model), "call": call},
        "tools": [tool_data(spec) for spec in _specs(reverse.tool)],
    }
    return Built(canonical(data), digest(data), NAME)


def _specs(name: str) -> tuple[ToolSpec, ...]:
    tool = catalog.find_one(name)
    columns = Tool.objects.filter(name=name).values_list(*set_up.COLUMNS).first()
    return (set_up.used(tool.spec, *columns),) if tool and columns else ()
