"""Damages recorded answers in any number of ways, and looks what is made of them.

    python -m tests.llm.mutations 10000

Bytes are flipped, dropped and put in, frames are lost, doubled and swapped, bodies are cut. Whatever comes, there may
be nothing but a whole message or an error that has a name; no call may run that the bytes do not hold whole, and none
of an answer that does not say that it has ended. The status is 0 when that is so.
"""

import argparse
import asyncio
import itertools
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agentweb.engine.enums import ErrorKind, Finish
from agentweb.llm.config import ToolProtocol
from agentweb.llm.request import WireRequest
from tests.llm.asking import Outcome
from tests.llm.fake_provider import DONE, event, frame_bytes
from tests.llm.in_memory import hear_bytes, wire_for
from tests.llm.recorded_cases import CASES, PLAIN

HUNG_S = 60.0  # so long no reading of a few kilobytes takes
NAMED = frozenset(
    {
        ErrorKind.PROVIDER_ERROR,
        ErrorKind.RATE_LIMIT,
        ErrorKind.CONTEXT_LENGTH,
        ErrorKind.STREAM_INTERRUPTED,
        ErrorKind.BAD_RESPONSE,
        ErrorKind.EMPTY_RESPONSE,
        ErrorKind.AUTH,
        ErrorKind.TIMEOUT,
    }
)
WHOLE = (Finish.STOP, Finish.TOOL_CALLS, Finish.LENGTH)
TOOLS = [
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    {"name": "write_file", "parameters": {"type": "object", "properties": {"path": {}, "text": {}}}},
]
SAID = {
    ToolProtocol.TEXT: (
        'Thought: I look.\nAction: get_weather\nAction Input: {"city": "Rome"}\nObservation: 26\nFinal Answer: Warm.',
        "**Thought:** So.\n```json\n"
        '{"action": "write_file", "action_input": {"path": "a", "text": "b\\nFinal Answer: c"}}\n```',
        "Thought: I know.\n\nFinal Answer: It is **26 °C**:\n\n```\nAction: get_weather\n```\n",
        '<think>Hm.</think><tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>',
    ),
    ToolProtocol.JSON_ACTION: (
        '{"thought": "I look.", "step": "CALL_TOOL", "tool_name": "get_weather", "arguments": {"city": "R\\u00f6m"}}',
        '```json\n{"thought": "So.", "step": "FINISH", "final_answer": "It is\\n26 \\u00b0C."}\n```\n',
        'Well.\n{"thought": "", "tool": "write_file", "args": {"path": "a", "text": "{\\"b\\": [1]}"}} {"x": 1}',
    ),
}


@dataclass(frozen=True)
class Source:
    """An answer as it should come. ``calls``: those that run when it does, as JSON."""

    name: str
    wire: WireRequest
    frames: tuple[bytes, ...]
    calls: frozenset[str]


def _runnable(outcome: Outcome) -> list[str]:
    calls = outcome.reply.calls if outcome.reply else ()
    return [json.dumps([call.name, call.arguments], sort_keys=True) for call in calls if call.invalid is None]


async def sources() -> list[Source]:
    """All recorded bodies, and answers in the protocols that have no calls of their own."""
    found = [(name, wire_for(CASES[name]["tools"]), map(frame_bytes, CASES[name]["frames"])) for name in PLAIN]
    for protocol, texts in SAID.items():
        for n, text in enumerate(texts):
            pieces = [event({"content": text[at : at + 5]}).encode() for at in range(0, len(text), 5)]
            frames = [*pieces, event({}, "stop").encode(), DONE.encode()]
            found.append((f"{protocol} {n}", wire_for(TOOLS, protocol), iter(frames)))
    made = []
    for name, wire, given in found:
        frames_ = tuple(given)
        made.append(Source(name, wire, frames_, frozenset(_runnable(await hear_bytes(wire, frames_)))))
    return made


# --- damage -----------------------------------------------------------------------------------------------------------


def _flip(body: bytes, order: random.Random) -> bytes:
    changed = bytearray(body)
    for _ in range(order.choice((1, 1, 2, 8))):
        changed[order.randrange(len(changed))] ^= 1 << order.randrange(8)
    return bytes(changed)


def _put_in(body: bytes, order: random.Random) -> bytes:
    at = order.randrange(len(body))
    junk = order.choice(
        (b"\x00", b"\n", b"\r", b'"', b"{", b"}", b"data: ", b"\xff\xfe", b"\\", bytes(order.randbytes(5)))
    )
    return body[:at] + junk * order.choice((1, 1, 3)) + body[at:]


def _take_out(body: bytes, order: random.Random) -> bytes:
    at = order.randrange(len(body))
    return body[:at] + body[at + order.choice((1, 2, 20)) :]


def damaged(source: Source, order: random.Random) -> tuple[bytes, bool]:
    """(body, whether it is only cut short)."""
    frames = list(source.frames)
    kind = order.choice(("cut", "frames", "frames", "bytes", "bytes", "both"))
    if kind == "cut":
        body = b"".join(frames)
        return body[: order.randrange(len(body) + 1)], True
    if kind in ("frames", "both"):
        for _ in range(order.choice((1, 1, 2, 4))):
            _disturb(frames, order)
    body = b"".join(frames)
    if kind in ("bytes", "both"):
        for _ in range(order.choice((1, 1, 2, 4))):
            body = order.choice((_flip, _put_in, _take_out))(body, order) if body else b"{"
    return body, False


def _disturb(frames: list[bytes], order: random.Random) -> None:
    if not frames:
        return
    at, other = order.randrange(len(frames)), order.randrange(len(frames))
    match order.choice(("lost", "doubled", "swapped", "shuffled")):
        case "lost":
            del frames[at]
        case "doubled":
            frames.insert(other, frames[at])
        case "swapped":
            frames[at], frames[other] = frames[other], frames[at]
        case "shuffled":
            some = frames[min(at, other) : max(at, other)]
            order.shuffle(some)
            frames[min(at, other) : max(at, other)] = some


# --- what may come of it ----------------------------------------------------------------------------------------------


def says_that_it_ended(body: bytes) -> bool:
    """Read without our reader: some block is the end mark, or holds a reason for the end."""
    text = body.decode("utf-8", "replace")
    if "[DONE]" in text or text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return True
    return re.search(r'"(finish_reason|message)"\s*:\s*("[^"]|\{)', text) is not None


def wrong(source: Source, body: bytes, cut: bool, outcome: Outcome) -> str:
    """What may not have come of this body, in words; empty when all is well."""
    if outcome.error is not None:
        return "" if outcome.error.kind in NAMED and outcome.error.message else f"unnamed error {outcome.error!r}"
    reply = outcome.reply
    assert reply
    if not says_that_it_ended(body) and "invented" not in reply.extra:  # that is not read to its end
        return "a reply of an answer that did not end"
    if reply.finish not in WHOLE or (reply.text, reply.thinking) != (outcome.text, outcome.thinking):
        return f"a reply that is not what was shown, or not whole: {reply.finish}"
    for call in reply.calls:
        if (call.invalid is None) != isinstance(call.arguments, dict) or not call.id:
            return f"a call that is neither sound nor refused: {call}"
    if cut and not source.calls.issuperset(_runnable(outcome)):
        return f"a call that was cut off would run: {_runnable(outcome)}"
    return ""


async def attack(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How often what came of it, and what was wrong."""
    order, seen, problems = random.Random(seed), Counter[str](), []
    prepared = await sources()
    for _ in range(count):
        source = order.choice(prepared)
        body, cut = damaged(source, order)
        edges = sorted({0, len(body), *(order.randrange(len(body) + 1) for _ in range(order.choice((0, 1, 5))))})
        chunks: Sequence[bytes] = [body[a:b] for a, b in itertools.pairwise(edges)]
        try:
            async with asyncio.timeout(HUNG_S):
                outcome = await hear_bytes(source.wire, chunks)
        except Exception as error:  # anything but a named error, or a reading that hangs
            problems.append(f"{source.name}: {error!r} from {body!r}")
            continue
        seen[outcome.error.kind.value if outcome.error else outcome.reply.finish.value] += 1  # type: ignore[union-attr]
        if problem := wrong(source, body, cut, outcome):
            problems.append(f"{source.name}: {problem} from {body!r}")
    return seen, problems


def main() -> int:
    parser = argparse.ArgumentParser(description="Damage recorded answers and look what is made of them.")
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    given = parser.parse_args()
    began = time.monotonic()
    seen, problems = asyncio.run(attack(given.count, given.seed))
    print(f"{given.count} damaged answers with seed {given.seed} in {time.monotonic() - began:.1f} s")
    print("  ".join(f"{what} {times}" for what, times in seen.most_common()))
    print("\n".join(problems[:20]) or "nothing but whole messages and named errors")
    return min(len(problems), 1)


if __name__ == "__main__":
    sys.exit(main())
