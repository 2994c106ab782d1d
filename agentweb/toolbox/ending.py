"""How a process that was started for one call ends, with all that it started itself."""

import asyncio
import contextlib
import os
import signal


async def end(process: asyncio.subprocess.Process) -> None:
    """Kill the process group that the process leads, and wait until it is gone. Nobody outside of the group holds its
    output open."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdin is not None:
        process.stdin.close()
    assert process.stdout is not None
    while await process.stdout.read(65_536):  # else the end of a process whose words nobody takes is not noticed
        pass
    await process.wait()
