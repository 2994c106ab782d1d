"""Tools that ask for a secret and do their best to tell it."""

from collections.abc import AsyncIterator

from agentweb.engine.ports import Preview, Progress, ToolContext, ToolError, ToolSuspension
from agentweb.toolbox.tool import tool


def preview(context: ToolContext, how: str) -> Preview:
    key = context.secret("TICKETS_KEY")
    return Preview(f"Calls with {key}", "text", {"text": key, "more": [{"deep": key}]})


@tool(label="Tell", secrets=("TICKETS_KEY",), preview=preview)
async def tell_secret(context: ToolContext, how: str) -> AsyncIterator[Progress | str]:
    """Tells the secret."""
    key = context.secret("TICKETS_KEY")
    yield Progress(f"with {key}", 0.5)
    match how:
        case "error":
            raise ToolError(f"No: {key}")
        case "bug":
            raise KeyError(key)
        case "suspension":
            raise ToolSuspension(f"What is {key}?", {"type": "object", "description": key})
    yield f"{key} and {sorted(context.secrets)}"


@tool(label="Tell nothing")
def tell_nothing(context: ToolContext) -> str:
    """Asks for no secret, and gets none."""
    return str(dict(context.secrets))
