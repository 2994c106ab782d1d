"""What a run uses, as it was when the run began: agent, prompt, tool definitions, model, prices. Never a key."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.db.models import BigAutoField

from agentweb.engine.ports import ToolSpec
from agentweb.registry import catalog, goals, outside, outside_tools, prompts, set_up
from agentweb.registry.chat_models import today
from agentweb.registry.models import Agent, ChatModel, ModelPrice, Tool
from agentweb.registry.placeholders import Values
from agentweb.schema.json_text import canonical, digest
from agentweb.teams import fixed

DEFAULT_MODEL = "default"
SCRIPTED_MODEL = "scripted"
CAPABILITIES = ("streams", "stream_usage", "native_tools", "parallel_tools", "structured")


class NoModel(Exception):
    """There is no model at all; ``manage.py prepare`` makes the scripted one."""


@dataclass(frozen=True, slots=True)
class Built:
    """A snapshot as canonical JSON text, with its digest and the name of the model for people."""

    text: str
    digest: str
    model_name: str


def build(agent: Agent, *, max_turns: int | None = None, of_run: Values | None = None) -> Built:
    """The snapshot of the agent as it is set up now, perhaps with another turn limit. Raises NoModel.

    ``of_run``: values of the run that begins, for a system prompt that has places for them."""
    model = model_of(agent)
    specs = offered(agent)
    data = {
        "agent": {"id": str(agent.public_id), "name": agent.name},
        "system": prompts.system_prompt(agent, specs, of_run or {}),
        "prompt": prompts.named(agent),
        "max_turns": max_turns or agent.max_turns,
        "sequential": agent.sequential,
        "loop_guard": agent.loop_guard,
        "folding": {
            "strategy": agent.folding,
            "keep": agent.whole_turns,
            "fold_at": agent.fold_at,
            "every": agent.fold_every,
        },
        "goals": goals.data(agent),
        "model": model_data(model),
        "cheaper": model_data(agent.cheaper_model) if agent.cheaper_model else None,
        "fallback": _fallback(agent, model),
        "tools": [tool_data(spec) for spec in specs],
        "substitutes": [tool_data(spec) for spec in set_up.substitutes(specs)],
    }
    return Built(*_canonical(json.dumps(data)), model.name)


def _fallback(agent: Agent, model: ChatModel) -> dict[str, Any] | None:
    """Nothing where the model would be its own."""
    stand_in = agent.fallback_model
    return model_data(stand_in) if stand_in and stand_in.pk != model.pk else None


@lru_cache(maxsize=64)
def _canonical(plain: str) -> tuple[str, str]:
    """Canonical text and digest of what stands in plain JSON. An agent begins many runs before anybody changes it."""
    data = json.loads(plain)
    return canonical(data), digest(data)


_OFFERED = fixed.Query(
    lambda agent: (
        Tool.objects.filter(agents=agent, enabled=True, state=Tool.State.ACTIVE)
        .exclude(source__enabled=False)
        .order_by("name")
        .values_list("name", "definition", *set_up.COLUMNS)
    ),
    agent=BigAutoField(),
)


_USUAL = fixed.Query(lambda: ChatModel.objects.filter(name__in=(DEFAULT_MODEL, SCRIPTED_MODEL)).order_by())


def model_of(agent: Agent) -> ChatModel:
    """The agent's own model, else the one named default, else the scripted one. Raises NoModel."""
    if agent.model is not None:
        return agent.model
    rows = {row.name: row for row in _USUAL.all()}
    found = rows.get(DEFAULT_MODEL) or rows.get(SCRIPTED_MODEL)
    if found is None:
        raise NoModel("No model is set up. Run `manage.py prepare`, or add a model in the admin.")
    return found


def offered(agent: Agent) -> tuple[ToolSpec, ...]:
    """The agent's own tools that may be used, by name, as admins have set them up. One query."""
    found: list[ToolSpec] = []
    known = catalog.tools()
    for name, definition, *columns in _OFFERED.all(agent=agent.pk):
        if name in known and outside.lacking(known[name]):
            continue
        if name in known:
            found.append(set_up.used(known[name].spec, *columns))
        elif definition:
            found.append(set_up.used(outside_tools.definition_in(definition).spec(), *columns))
    return tuple(found)


_DEFINITION = ("name", "label", "description", "parameters", "reads", "repeatable", "timeout_s", "digest")
_USE = ("deterministic", "shared", "retries", "keep_s", "fallback", "fact", "previews")


def tool_data(spec: ToolSpec) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in (*_DEFINITION, *_USE)}


def specs_in(snapshot: Mapping[str, Any]) -> tuple[ToolSpec, ...]:
    """The tools that the model of a run is told about, as they were when the run began."""
    return tuple(map(_spec, snapshot["tools"]))


def substitutes_in(snapshot: Mapping[str, Any]) -> tuple[ToolSpec, ...]:
    """The tools that the model was not told about, and that may be used where one of the others fails."""
    return tuple(map(_spec, snapshot.get("substitutes", ())))


def use_of(snapshot: Mapping[str, Any], name: str) -> ToolSpec | None:
    """How the run uses this tool, if it may."""
    return next((spec for spec in (*specs_in(snapshot), *substitutes_in(snapshot)) if spec.name == name), None)


def _spec(data: Mapping[str, Any]) -> ToolSpec:
    """Runs that began earlier know less of how their tools are used."""
    use = {name: data[name] for name in _USE if name in data}
    return ToolSpec(**{name: data[name] for name in _DEFINITION}, **use)


def model_data(model: ChatModel) -> dict[str, Any]:
    """All that a run keeps of a model. One query, for the prices of a model that is not scripted."""
    return {**settings_of(model), **_prices(model)}


def settings_of(model: ChatModel) -> dict[str, Any]:
    """Headers may hold secrets, so they stay in the row, like the key, and are read when the model is called."""
    return {
        "id": model.pk,
        "name": model.name,
        "kind": model.kind,
        "base_url": model.base_url,
        "model_name": model.model_name,
        "temperature": model.temperature,
        "context_size": model.context_size,
        "connect_timeout_s": model.connect_timeout_s,
        "idle_timeout_s": model.idle_timeout_s,
        "total_timeout_s": model.total_timeout_s,
        "body": model.body,
        "strict_roles": model.strict_roles,
        "protocol": model.protocol,
        "thinking": model.thinking,
        "thinking_on": model.thinking_on,
        "thinking_off": model.thinking_off,
        "capabilities": {name: getattr(model, name) for name in CAPABILITIES},
    }


_PRICES = fixed.Query(lambda model: ModelPrice.objects.filter(model=model).order_by("valid_from"), model=BigAutoField())


def _prices(model: ChatModel) -> dict[str, Any]:
    """Today's prices and those that are known to come. The scripted model costs nothing, so nothing is asked for it."""
    free = model.pk is None or model.kind == ChatModel.Kind.SCRIPTED
    rows: list[ModelPrice] = [] if free else _PRICES.all(model=model.pk)
    day = today()
    now = next((row for row in reversed(rows) if row.valid_from <= day), ModelPrice())
    later = [row for row in rows if row.valid_from > day]
    return {
        "prices": _per_million(now),
        "later_prices": [{"since": row.valid_from.isoformat(), "prices": _per_million(row)} for row in later],
    }


def _per_million(row: ModelPrice) -> dict[str, str]:
    return {"input": _price(row.input_price), "cached": _price(row.cached_price), "output": _price(row.output_price)}


def _price(price: Decimal | int | str) -> str:
    """One text per price, however many zeros a database or a form has put behind it."""
    return format(Decimal(price).normalize(), "f")
