"""What is up on a data folder: `DATA_DIR/runtime.json`, for commands in other terminals."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from agentweb.launch.datadir import write_private_json
from agentweb.launch.rundir import RunDirectory

_NAME = "runtime.json"


@dataclass(frozen=True)
class Runtime:
    """Addresses and process numbers. `redis_url` may hold a password, so the file is its owner's only."""

    redis_url: str
    url: str
    port: int
    pids: Mapping[str, int]

    def write(self, data_dir: Path) -> None:
        """Note it down."""
        write_private_json(data_dir / _NAME, asdict(self))

    @staticmethod
    def remove(data_dir: Path) -> None:
        """Nothing is up any more."""
        (data_dir / _NAME).unlink(missing_ok=True)

    @classmethod
    def read(cls, data_dir: Path) -> "Runtime | None":
        """What is up now. None when nothing is, whatever a killed launcher left in the file."""
        if not RunDirectory(data_dir / "run" / "up").is_held():
            return None
        try:
            return cls(**json.loads((data_dir / _NAME).read_text()))
        except (OSError, ValueError, TypeError):
            return None
