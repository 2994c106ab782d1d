"""Run a shell command in the workspace, shut in by the sandbox. Where no sandbox can be made, nothing is run at all."""

import signal
from collections.abc import Iterator, Mapping
from typing import Annotated

from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json
from agentweb.engine.ports import ToolContext, ToolError
from agentweb.toolbox import sandbox
from agentweb.toolbox.needs import Need
from agentweb.toolbox.parameters import Length
from agentweb.toolbox.sandbox import Ended, Limits, Stop
from agentweb.toolbox.tool import tool

MOST_BEFORE_ERROR = 10_000  # characters that are told of what was printed before a program was stopped
STOPPED = {
    Stop.TIME: "The command ran for longer than {limits.seconds:g} s and was stopped.",
    Stop.OUTPUT: "The command printed more than {output} kB and was stopped. Write to a file, or print less.",
    Stop.FILES: "The workspace came to hold more than {files} MB, so the command was stopped. Remove files.",
}


def check(arguments: Mapping[str, Json]) -> Iterator[str]:
    if not arguments["command"].strip():
        yield "command: Must not be empty."
    if "\0" in arguments["command"]:
        yield "command: Must not hold a NUL character."


@tool(
    label="Run shell command",
    category="code",
    risk=Risk.MEDIUM,
    timeout_s=90,
    check=check,
    needs=Need.SANDBOX,
)
async def run_shell(context: ToolContext, command: Annotated[str, Length(1, 50_000)]) -> str:
    """Run a shell command in the workspace: the usual programs of the system, Python among them if it is installed.

    It sees the files of the workspace, may change them, and nothing else; there is no network, and nothing goes on
    after the command has ended. The end of what it prints says how it ended, unless it ended well.

    Args:
        command: A command or script for /bin/sh, which begins in the workspace.
    """
    return await run_command(command, context, Limits())


async def run_command(command: str, context: ToolContext, limits: Limits) -> str:
    """What the command prints, and how it ended. Raises ToolError where it had to be stopped or could not be run."""
    if why := sandbox.unusable():
        raise ToolError(f"No command can be run here: {why}")
    ended = await sandbox.run(["/bin/sh", "-c", command], context.workspace, limits)
    printed = ended.output.decode("utf-8", "replace").rstrip("\n")
    if ended.stop:
        if len(printed) > MOST_BEFORE_ERROR:
            printed = f"{printed[:MOST_BEFORE_ERROR]}\n[Cut: more was printed.]"
        raise ToolError("\n".join(filter(None, (printed, _stopped(ended.stop, limits)))))
    return "\n".join(filter(None, (printed, _end(ended, limits)))) or "The command ended well and printed nothing."


def _stopped(stop: Stop, limits: Limits) -> str:
    output, files = limits.output // 1000, limits.files // 1_000_000
    return STOPPED[stop].format(limits=limits, output=output, files=files)


def _end(ended: Ended, limits: Limits) -> str:
    """How the command ended, where that was not well."""
    if ended.code == 0:
        return ""
    if ended.code == 128 + signal.SIGKILL:
        return f"[Killed, as after {limits.cpu_s} s of computing.]"
    if ended.code == 128 + signal.SIGXFSZ:
        return f"[Killed: no file may be larger than {limits.file // 1_000_000} MB.]"
    try:
        return f"[Ended by {signal.Signals(ended.code - 128).name}.]"
    except ValueError:
        return f"[Ended with code {ended.code}.]"
