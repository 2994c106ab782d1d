"""What a source of tools is given that may be secret: variables, headers, credentials. All of it is encrypted at rest,
and people see the last characters only."""

import json
from collections.abc import Mapping

from agentweb.registry import secrets
from agentweb.registry.headers import MASK, is_masked, kept
from agentweb.registry.source_models import ToolSource

__all__ = ["give", "is_masked", "kept", "masked", "of", "unmasked"]


def of(source: ToolSource) -> dict[str, str]:
    """The plain values by name. Raises SecretUnreadable."""
    if not source.encrypted_values:
        return {}
    found: dict[str, str] = json.loads(secrets.decrypt(source.encrypted_values))
    for value in found.values():
        secrets.note(value)
    return found


def masked(source: ToolSource) -> dict[str, str]:
    """As people may see them. Raises SecretUnreadable."""
    return {name: MASK + secrets.hint(value) for name, value in of(source).items()}


def unmasked(source: ToolSource, typed: Mapping[str, str]) -> dict[str, str]:
    """What was typed, with the stored values where their masks were left. Raises KeyError for a mask of nothing and
    SecretUnreadable."""
    stored = of(source) if kept(typed) else {}
    return {name: stored[name] if is_masked(value) else value for name, value in typed.items()}


def give(source: ToolSource, plain: Mapping[str, str]) -> None:
    """Put the values into the source. Saves nothing."""
    for value in plain.values():
        secrets.note(value)
    source.encrypted_values = secrets.encrypt(json.dumps(dict(plain))) if plain else ""
