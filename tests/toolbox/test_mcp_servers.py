"""Real MCP servers: two of those that people use, started here, and the SDK's own at an address."""

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Output, ToolError
from agentweb.toolbox.keeping import close_kept
from agentweb.toolbox.mcp.caller import McpCaller, look_at
from agentweb.toolbox.mcp.server import McpServer
from agentweb.toolbox.mcp.session import ServerFailed
from tests.toolbox.calling import context_in


async def call(server: McpServer, name: str, arguments: dict, folder) -> str:
    offers = {offer.true_name: offer.definition for offer in await look_at(server)}
    steps = McpCaller(server, 60.0).steps(offers[name], arguments, context_in(folder))
    output = [step async for step in steps][-1]
    assert isinstance(output, Output)
    return output.content


async def test_the_time_server_tells_the_time_and_says_what_was_wrong(tmp_path):
    server = McpServer("time", "Time", command=sys.executable, arguments=("-m", "mcp_server_time"))
    clock = next(offer.definition for offer in await look_at(server) if offer.true_name == "get_current_time")
    assert clock
    caller, context = McpCaller(server, 60.0), context_in(tmp_path)
    (told,) = [step async for step in caller.steps(clock, {"timezone": "Asia/Shanghai"}, context)]
    assert json.loads(told.content)["datetime"].endswith("+08:00")
    with pytest.raises(ToolError, match="Invalid timezone"):
        await anext(caller.steps(clock, {"timezone": "Nowhere"}, context))
    await close_kept()


async def test_each_tool_of_the_git_server_can_be_taken_in_and_only_those_that_read_are_medium():
    offers = await look_at(McpServer("git", "Git", command=sys.executable, arguments=("-m", "mcp_server_git")))
    risks = {offer.true_name: offer.risk for offer in offers}
    assert all(offer.definition for offer in offers)
    assert (risks["git_log"], risks["git_commit"], risks["git_reset"]) == (Risk.MEDIUM, Risk.HIGH, Risk.HIGH)


# --- at an address --------------------------------------------------------------------------------------------------

site = MCPServer("Office")


@site.tool()
def whose(ctx: Context) -> str:
    """Whose token came with the request."""
    return str(ctx.request_context.request.headers.get("x-token"))


@contextmanager
def served() -> Iterator[str]:
    """The address of the server, which works in a thread."""
    config = uvicorn.Config(site.streamable_http_app(), host="127.0.0.1", port=0, log_level="error")
    server = uvicorn.Server(config)
    with closing(config.bind_socket()) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()


async def test_a_server_at_an_address_gets_the_headers_and_its_answer_does_not_tell_them(tmp_path):
    with served() as url:
        open_value = McpServer("site", "Office", url=url, values={"X-Token": "short"})
        assert await call(open_value, "whose", {}, tmp_path) == "short"
        await close_kept()
        secret = McpServer("site", "Office", url=url, values={"X-Token": "a-long-secret"})
        assert await call(secret, "whose", {}, tmp_path) == "[secret removed]"
        await close_kept()
    with pytest.raises(ServerFailed, match="could not be reached"):
        async with asyncio.timeout(60):
            await look_at(secret)
