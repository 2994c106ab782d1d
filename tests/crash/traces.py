"""What tests and the processes under test tell each other by files, which no kill can take back."""

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = "CRASH_FOLDER"


@dataclass(frozen=True, slots=True)
class Order:
    """A worker kills itself `when` ("before" or "after") the commit of a batch that holds an event of this kind.

    It waits in that place until as many different `runs` have come to it. `again`: the order stays for the next worker.
    """

    when: str
    kind: str
    runs: int = 1
    again: bool = False


class Traces:
    """One folder: a line per effect, a file per key that is held, and the order for workers."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._effects = folder / "effects"
        self._order = folder / "order"

    def note(self, tool: str, key: str) -> None:
        """Count an effect. One small write at the end of the file is whole or not there at all."""
        with open(self._effects, "ab", buffering=0) as file:
            file.write(f"{tool} {key}\n".encode())

    def effects(self) -> Counter[str]:
        """How often each key took effect."""
        lines = self._effects.read_text().splitlines() if self._effects.exists() else []
        return Counter(line.split()[1] for line in lines)

    def hold(self, *keys: str) -> None:
        """Effects of these keys last until `release`."""
        for key in keys:
            (self._folder / f"held-{key}").touch()

    def release(self, *keys: str) -> None:
        for key in keys:
            (self._folder / f"held-{key}").unlink(missing_ok=True)

    def is_held(self, key: str) -> bool:
        return (self._folder / f"held-{key}").exists()

    def give(self, order: Order) -> None:
        """From now on workers follow it."""
        draft = self._folder / "draft"
        draft.write_text(json.dumps(asdict(order)))
        os.replace(draft, self._order)

    def order(self) -> Order | None:
        try:
            return Order(**json.loads(self._order.read_text()))
        except FileNotFoundError:
            return None

    def withdraw(self) -> None:
        self._order.unlink(missing_ok=True)
