"""docker-compose.yml as the engine would read it: anchors resolved, variables filled in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docker-compose.yml"
VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?::(?P<how>[-?])(?P<word>[^}]*))?\})")


class NotGiven(Exception):
    """A variable that must be given is not."""


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    data: Mapping[str, Any]

    @property
    def command(self) -> list[str]:
        return list(self.data["command"])

    @property
    def env(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.data.get("environment", {}).items()}

    @property
    def is_ours(self) -> bool:
        return "build" in self.data


def read() -> dict[str, Any]:
    """The file itself, with its variables still in it."""
    return yaml.safe_load(FILE.read_text())


def services(given: Mapping[str, str]) -> dict[str, Service]:
    """Raises NotGiven."""
    return {name: Service(name, fill(data, given)) for name, data in read()["services"].items()}


def fill(value: Any, given: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: fill(item, given) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, given) for item in value]
    return VARIABLE.sub(lambda found: _one(found, given), value) if isinstance(value, str) else value


def _one(found: re.Match[str], given: Mapping[str, str]) -> str:
    if found["dollar"]:
        return "$"
    value = given.get(found["name"], "")
    if value or found["how"] is None:
        return value
    if found["how"] == "?":
        raise NotGiven(f"{found['name']}: {found['word']}")
    return found["word"]
