"""A process of one call ends with all that it started, also when nobody takes its words any more."""

import asyncio
import os
import sys

import pytest

from agentweb.toolbox.ending import end

FLOODS = "import os\nwhile True: os.write(1, b'x' * 65536)"
STARTS = "import os, sys, time\nprint(os.fork(), flush=True)\ntime.sleep(600)"


async def started(code: str, limit: int = 1_000) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, start_new_session=True, limit=limit
    )


@pytest.mark.asyncio
async def test_one_whose_words_nobody_takes_ends():
    process = await started(FLOODS)
    assert process.stdout is not None
    assert await process.stdout.read(1) == b"x"
    async with asyncio.timeout(120):
        await end(process)
    assert process.returncode is not None


@pytest.mark.asyncio
async def test_what_it_started_ends_with_it():
    process = await started(STARTS)
    assert process.stdout is not None
    child = int(await process.stdout.readline()) or int(await process.stdout.readline())
    async with asyncio.timeout(120):
        await end(process)
        while not gone(child):
            await asyncio.sleep(0.01)


def gone(pid: int) -> bool:
    """Ended, though its new parent may not have noticed yet."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False
