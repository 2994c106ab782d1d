"""Known secrets taken out of text, in every form in which a server may echo them."""

import base64
import json
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from agentweb.engine.redaction import REMOVED

SHORTEST = 6  # characters; what is shorter occurs in any text


def forms(value: str) -> list[str]:
    """As it is, and as addresses, forms, JSON and basic authentication write it, longest first; none of a short one."""
    if len(value) < SHORTEST:
        return []
    encoded = base64.b64encode(value.encode()).decode()
    written = (quote(value), quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1])
    found = {value, *written, encoded, encoded.rstrip("=")}
    return sorted(found, key=len, reverse=True)


def without(text: str, values: Iterable[str]) -> str:
    """The text without any of these secrets."""
    for value in values:
        for form in forms(value):
            text = text.replace(form, REMOVED)
    return text


def without_bytes(data: bytes, values: Iterable[str]) -> bytes:
    """The same for what may be no text."""
    for value in values:
        for form in forms(value):
            data = data.replace(form.encode(), REMOVED.encode())
    return data
