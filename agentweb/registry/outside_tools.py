"""Tools that came from outside, made from their rows as the engine knows tools."""

from collections.abc import Collection, Mapping
from functools import lru_cache

from agentweb.engine.ports import Tool as EngineTool
from agentweb.registry import dotted
from agentweb.registry.models import Tool, ToolSource
from agentweb.registry.secrets import SecretUnreadable
from agentweb.toolbox.definitions import Definition
from agentweb.toolbox.outside import Caller, OutsideTool, Unusable

# By kind of source: the function that makes of a row what calls its tool. It may raise SecretUnreadable, and ValueError
# with a sentence. By name, since those modules also take tools in, and with that look at the whole catalogue.
CALLERS: dict[str, str] = {
    ToolSource.Kind.MCP_STDIO: "agentweb.registry.mcp_servers.caller",
    ToolSource.Kind.MCP_HTTP: "agentweb.registry.mcp_servers.caller",
    ToolSource.Kind.OPENAPI: "agentweb.registry.http_apis.caller",
    ToolSource.Kind.REQUEST: "agentweb.registry.request_tools.caller",
}
NO_CALLER = "Tools of this kind cannot be called by this version."


def tools(names: Collection[str]) -> Mapping[str, EngineTool]:
    """Those of the names that belong to tools from outside, whatever their state: policies say what may run. One query,
    none for no names."""
    rows = Tool.objects.filter(name__in=list(names)).exclude(source=None).select_related("source") if names else ()
    return {row.name: tool_of(row) for row in rows}


def tool_of(row: Tool) -> EngineTool:
    """The row's tool with the definition that was taken in; one that cannot be called says so when it is."""
    return OutsideTool(definition_in(row.definition), _caller(row))


@lru_cache(maxsize=512)
def definition_in(text: str) -> Definition:
    """What stands in a row. Raises ValueError."""
    return Definition.from_text(text)


def _caller(row: Tool) -> Caller:
    source = row.source
    assert source is not None
    if not source.enabled:
        return Unusable(f"{source.name}, where this tool comes from, is switched off.")
    make = CALLERS.get(source.kind)
    try:
        made: Caller = dotted.at(make)(row) if make else Unusable(NO_CALLER)
        return made
    except (SecretUnreadable, ValueError) as error:
        return Unusable(f"{source.name}, where this tool comes from, cannot be used: {error}")
