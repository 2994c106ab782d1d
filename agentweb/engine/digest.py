"""Digests that bind a person's decision to exactly what was shown."""

import hashlib
import json
from collections.abc import Mapping

from agentweb.engine.messages import Json
from agentweb.engine.ports import Preview


def canonical(value: Json) -> str:
    """One text per JSON value: sorted keys, no spaces, ASCII only; 1.0 and 1 are the same number.

    Databases may turn a whole float into an integer on the way, so the two must not differ here."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def call_digest(arguments: Mapping[str, Json] | None, tool_digest: str, rule: str, seen: str = "") -> str:
    """SHA-256 (hex) over the arguments, the digest of the tool's definition, the rule that applied (which names the
    version of its policy) and the digest of the preview, if one was shown."""
    bound: list[Json] = [arguments, tool_digest, rule]
    return hashlib.sha256(canonical([*bound, seen] if seen else bound).encode()).hexdigest()


def preview_digest(preview: Preview | None) -> str:
    """SHA-256 (hex) over all that a preview shows; empty where the tool has none."""
    if preview is None:
        return ""
    return hashlib.sha256(canonical([preview.effect, preview.kind, preview.data]).encode()).hexdigest()


def question_digest(about: str, facts: Mapping[str, Json], offer: Mapping[str, Json]) -> str:
    """SHA-256 (hex) over what people are asked about a run: all that they are told, and what a plain yes means."""
    return hashlib.sha256(canonical([about, facts, offer]).encode()).hexdigest()


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
