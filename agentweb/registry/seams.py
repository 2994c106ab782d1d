"""The extensions of the loop that the settings name, loaded once a process."""

from collections.abc import Sequence
from functools import cache

from django.conf import settings

from agentweb.engine.seams import Point, Seams
from agentweb.registry import dotted


def installed() -> Seams:
    return _installed(tuple(settings.AGENTWEB_SEAMS))


@cache
def _installed(paths: tuple[str, ...]) -> Seams:
    return load(paths)


def load(paths: Sequence[str]) -> Seams:
    """The objects at these dotted paths; a class is called without arguments.

    Raises ValueError for a path that leads to nothing, and for an object that has nothing to say at any point."""
    return Seams(tuple(_one(path) for path in paths))


def _one(path: str) -> object:
    found = dotted.at(path)
    seam = found() if isinstance(found, type) else found
    if not any(callable(getattr(seam, point, None)) for point in Point):
        raise ValueError(f"{path} has no method named {', '.join(Point)}.")
    return seam
