"""From a dotted path to what it names."""

from importlib import import_module
from typing import Any


def at(path: str) -> Any:
    """Raises ValueError, with a sentence, for a path that leads to nothing."""
    module, _dot, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} cannot be found ({error}).") from error
