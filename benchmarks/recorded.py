"""What the model server was sent, and when: the exchanges of one run as seen from outside of the product."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

VARIABLE = "FAKE_LLM_RECORD"


@dataclass(frozen=True)
class Exchange:
    """``arrived`` and ``ended`` (epoch microseconds): the request was there, the last of the answer was written."""

    key: str
    arrived: int
    ended: int
    body: str

    @cached_property
    def prompt(self) -> bytes:
        """What a provider reads, in its order: tools, then messages. A longer one begins with the whole of it."""
        asked: dict[str, Any] = json.loads(self.body)
        parts = [*asked.get("tools", ()), *asked["messages"]]
        return "\n".join(json.dumps(part, ensure_ascii=False, separators=(",", ":")) for part in parts).encode()


def exchanges(record: Path, key: str) -> list[Exchange]:
    """All with this key, in the order in which they came."""
    told = (Exchange(**json.loads(line)) for line in record.read_text().splitlines())
    return sorted((each for each in told if each.key == key), key=lambda each: each.arrived)


def common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[:middle] == other[:middle]:
            least = middle
        else:
            most = middle - 1
    return least
