"""The engine's model and tools, made from what admins set up."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.db.models import BigAutoField

from agentweb.engine.messages import Json
from agentweb.engine.ports import Finding, Model, Output, Preview, Progress, Tool, ToolContext, ToolSpec
from agentweb.engine.seams import Point
from agentweb.llm.config import ConfigError
from agentweb.llm.factory import endpoint_model, make_model
from agentweb.llm.reader import no_rest
from agentweb.registry import catalog, headers, outside, secrets, snapshots
from agentweb.registry.keyed import KeyedModel
from agentweb.registry.models import ChatModel
from agentweb.registry.seams import installed
from agentweb.registry.unusable import UnusableModel
from agentweb.teams import fixed

MOVED = "The model {name} was deleted or moved to another endpoint after this run began. Try again."


_SECRETS = fixed.Query(
    lambda pk: (
        ChatModel.objects.filter(pk=pk).order_by().only("encrypted_key", "encrypted_headers", "headers", "base_url")
    ),
    pk=BigAutoField(),
)


def model_for(
    snapshot: Mapping[str, Any],
    *,
    new_id: Callable[[], str],
    rest_s: Callable[[], float] = no_rest,
    which: str = "model",
) -> Model:
    """The model of a run, or the one that its snapshot calls ``which``. Queries the row for its key and headers, which
    no snapshot holds.

    ``rest_s``: for how long its words may gather where they come from. Never raises: a model that cannot be used ends
    its run with a sentence."""
    data = snapshot[which]
    if data["kind"] == ChatModel.Kind.SCRIPTED:
        return make_model(data, new_id=new_id)
    row: ChatModel | None = _SECRETS.first(pk=data["id"])
    if row is None or urlsplit(row.base_url)[:2] != urlsplit(data["base_url"])[:2]:  # its key is for another server
        return UnusableModel(data["name"], MOVED.format(name=data["name"]))
    try:
        key, seams = secrets.decrypt(row.encrypted_key), installed()
        make = partial(_with_key, {**data, "headers": headers.of(row)}, new_id, rest_s)
        return KeyedModel(make, key, data["base_url"], seams) if seams.at(Point.API_KEY) else make(key)
    except (secrets.SecretUnreadable, ConfigError) as error:
        return UnusableModel(data["name"], f"The model {data['name']} cannot be used: {error}")


def warm_up() -> None:
    """Have at hand what models behind endpoints need, if there are any, so that no run waits for it."""
    if ChatModel.objects.exclude(kind=ChatModel.Kind.SCRIPTED).exists():
        endpoint_model()


def _with_key(data: Mapping[str, Any], new_id: Callable[[], str], rest_s: Callable[[], float], key: str) -> Model:
    return make_model(data, api_key=key, new_id=new_id, rest_s=rest_s)


class BoundTool:
    """A tool as it is defined now, and used as admins had set it up when the run began."""

    def __init__(self, tool: Tool, use: ToolSpec) -> None:
        self._tool = tool
        self.spec = replace(
            tool.spec,
            timeout_s=use.timeout_s,
            retries=use.retries,
            keep_s=use.keep_s,
            fallback=use.fallback,
            fact=use.fact,
            previews=use.previews,
        )

    def problems(self, arguments: Mapping[str, Json]) -> list[str]:
        return self._tool.problems(arguments)

    def preview(self, arguments: Mapping[str, Json], context: ToolContext) -> Preview | None:
        return self._tool.preview(arguments, context) if self.spec.previews else None

    def execute(self, arguments: Mapping[str, Json], context: ToolContext) -> AsyncIterator[Progress | Output]:
        return self._tool.execute(arguments, context)

    async def check(self, arguments: Mapping[str, Json], context: ToolContext) -> Finding:
        return await self._tool.check(arguments, context)


class AgentTools:
    """The tools that one run was offered; whether each may be used at all is judged by the policy, live.

    Making it takes a query for tools from outside; nothing else does."""

    def __init__(self, snapshot: Mapping[str, Any], *, workspace: Path, cancelled: Callable[[], bool]) -> None:
        self._specs = {spec.name: spec for spec in snapshots.specs_in(snapshot)}
        self._use = self._specs | {spec.name: spec for spec in snapshots.substitutes_in(snapshot)}
        self._tools = catalog.find(self._use)
        self._workspace = workspace
        self._cancelled = cancelled

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(self._specs.values())

    def find(self, name: str) -> Tool | None:
        """The tool as it was when this work on the run began: what changed since an approval shows in its digest, and
        policies refuse what has changed since then."""
        tool = self._tools.get(name)
        return BoundTool(tool, self._use[name]) if tool else None

    def context(self, call: str) -> ToolContext:
        return outside.context(call, self._workspace, self._cancelled)
