"""Lists in pages: newest first, each page named by an opaque cursor."""

import base64
import binascii
from collections.abc import Callable
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from agentweb.runs.errors import Invalid

MOST = 100


def encode(row_id: int) -> str:
    return base64.urlsafe_b64encode(f"r{row_id}".encode()).decode().rstrip("=")


def decode(cursor: str) -> int:
    """The row id in a cursor. Raises Invalid."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        if not text.startswith("r") or len(text) > 20:
            raise ValueError(text)
        return int(text[1:])
    except (ValueError, binascii.Error, UnicodeError) as error:
        words = _("This cursor is not one that we gave out.")
        raise Invalid(words, [("cursor", words)]) from error


def page(rows: QuerySet, cursor: str, limit: int, shape: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """One page, newest row first: ``{items, next}``; ``next`` is null at the end."""
    rows = rows.order_by("-pk")
    if cursor:
        rows = rows.filter(pk__lt=decode(cursor))
    found: list[Model] = list(rows[: limit + 1])
    items = [shape(row) for row in found[:limit]]
    return {"items": items, "next": encode(found[limit - 1].pk) if len(found) > limit else None}
