"""Tools that leave a trace outside the database each time they take effect, and that a file can hold in the middle.

Installed by TOOLBOX_MODULES in the processes under test only; `tests.crash.traces` reads what they leave.
"""

import asyncio
import os
from pathlib import Path

from agentweb.engine.enums import Risk
from agentweb.toolbox.tool import tool
from tests.crash.traces import FOLDER, Traces

_LOOK_S = 0.01
_WORK_S = float(os.environ.get("CRASH_WORK_S", "0.05"))  # what an effect takes, so that a kill can fall into it


async def _take_effect(name: str, key: str) -> str:
    traces = Traces(Path(os.environ[FOLDER]))
    traces.note(name, key)
    await asyncio.sleep(_WORK_S)
    while traces.is_held(key):
        await asyncio.sleep(_LOOK_S)
    return f"{name} {key}: done"


@tool(label="Set a value", repeatable=True, risk=Risk.LOW)
async def crash_set(key: str) -> str:
    """Doing this twice does no more than doing it once.

    Args:
        key: Under which name the effect is counted.
    """
    return await _take_effect("crash_set", key)


@tool(label="Look a value up", reads=True, repeatable=True, risk=Risk.LOW)
async def crash_look(key: str) -> str:
    """Reads only.

    Args:
        key: Under which name the effect is counted.
    """
    return await _take_effect("crash_look", key)


@tool(label="Pay", risk=Risk.LOW)
async def crash_pay(key: str) -> str:
    """Doing this twice would be wrong.

    Args:
        key: Under which name the effect is counted.
    """
    return await _take_effect("crash_pay", key)


@tool(label="Pay with consent", risk=Risk.MEDIUM)
async def crash_ask(key: str) -> str:
    """Doing this twice would be wrong, and a person must agree.

    Args:
        key: Under which name the effect is counted.
    """
    return await _take_effect("crash_ask", key)
