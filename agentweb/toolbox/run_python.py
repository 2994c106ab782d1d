"""Run Python code in a sandbox that holds nothing but the code: no files, no network, no environment, no programs.

The interpreter is pydantic-monty, a program of its own that is started for each call and has no way to the system.
"""

import os
import sysconfig
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json
from agentweb.engine.ports import ToolError
from agentweb.toolbox.parameters import Length
from agentweb.toolbox.tool import tool

LONGEST_S = 10
MOST_MEMORY = 100_000_000  # bytes that the code's own values take
MOST_PRINTED = 200_000  # bytes
MOST_BEFORE_ERROR = 10_000  # characters that are told of what was printed before something went wrong
NOTHING = "The code ran, printed nothing and ends with no value."
TOO_LARGE = f"The code needed more than {MOST_MEMORY // 1_000_000} MB of memory and was stopped."
TOO_MUCH = f"The code printed more than {MOST_PRINTED // 1000} kB and was stopped. Print less."


def check(arguments: Mapping[str, Json]) -> Iterator[str]:
    if not arguments["code"].strip():
        yield "code: Must not be empty."


@tool(
    label="Run Python",
    category="code",
    reads=True,
    repeatable=True,
    risk=Risk.LOW,
    timeout_s=LONGEST_S + 10,
    check=check,
    apart=True,
)
def run_python(code: Annotated[str, Length(1, 100_000)]) -> str:
    """Run Python code for calculations and data: what it prints, and the value of its last line.

    A subset of Python 3 with parts of the standard library (json, re, math, datetime, and so on). There are no files,
    no network, no other programs and no packages; each call begins anew.

    Args:
        code: The code; print what you need, or end with an expression.
    """
    os.environ.clear()  # this process is the call's own; the interpreter inherits nothing
    return evaluate(code)


def evaluate(code: str, longest_s: float = LONGEST_S) -> str:
    """What the code prints and its last value, worked out by a new interpreter. Raises ToolError."""
    monty = import_module("pydantic_monty")
    printed = monty.CollectString(MOST_PRINTED)
    limits = {"max_feed_duration_secs": longest_s, "max_memory": MOST_MEMORY, "max_recursion_depth": 500}
    too_long = f"The code ran for longer than {longest_s:g} s and was stopped."
    try:
        with (
            monty.Monty(binary_path=_interpreter(), max_processes=1, request_timeout=longest_s + 5) as pool,
            pool.checkout(script_name="code.py", limits=limits, os_policy={"sleep": "zero"}) as session,
        ):
            value = session.feed_run(code, print_callback=printed)
            return _told(printed.output, "" if value is None else repr(value)) or NOTHING
    except monty.MontyCrashedError as error:
        why = too_long if error.timed_out else "The sandbox broke off."
    except monty.MontyError as error:
        why = _failure(error, too_long)
    raise ToolError(_told(printed.output, why, MOST_BEFORE_ERROR))


def _failure(error: Any, too_long: str) -> str:
    """A limit in words; all else as Python tells it."""
    inner, text = error.exception(), str(error.exception())
    if isinstance(inner, TimeoutError) and "time limit exceeded" in text:
        return too_long
    if isinstance(inner, MemoryError) and "memory limit exceeded" in text:
        return TOO_MUCH if text.endswith(f"> {MOST_PRINTED} bytes") else TOO_LARGE
    return str(error.display())


def _told(printed: str, last: str, most: int | None = None) -> str:
    """What was printed, perhaps its beginning only, and what is to be said at the end."""
    shown = printed.rstrip("\n")
    if most and len(shown) > most:
        shown = f"{shown[:most]}\n[Cut: more was printed.]"
    return "\n".join(filter(None, (shown, last)))


def _interpreter() -> str:
    return os.path.join(sysconfig.get_path("scripts"), "monty")
