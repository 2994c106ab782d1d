"""Finding conversations by what their titles and messages say, in any script: words are parts of text, never whole."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Greatest, Lower, StrIndex, Substr

from agentweb.runs.models import Conversation, Message

LONGEST = 100  # characters of a query; what is more is cut off
MOST_WORDS = 8
BEFORE, EXCERPT = 30, 120  # characters
Piece = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Found:
    """Where on the page of its conversation a message stands that was found, and a part of what it says."""

    anchor: str
    pieces: list[Piece]


def cleaned(query: str) -> str:
    """The query as it is searched for and shown again."""
    return " ".join(query.replace("\0", "")[:LONGEST].split())


def matching(rows: QuerySet[Conversation], query: str) -> QuerySet[Conversation]:
    """Those in which each word of the query is part of the title or of a message, with ``said``: the row id of the
    newest message that has the first word, or None."""
    words = query.split()[:MOST_WORDS]
    for word in words:
        rows = rows.filter(Q(title__icontains=word) | Exists(_said(word)))
    return rows.annotate(said=Subquery(_said(words[0]).order_by("-pk").values("pk")[:1])) if words else rows


def _said(word: str) -> QuerySet[Message]:
    spoken = Message.objects.filter(conversation=OuterRef("pk"), status=Message.Status.FINISHED, text__icontains=word)
    return spoken.exclude(role=Message.Role.SYSTEM)


def excerpts(messages: Iterable[int], query: str) -> dict[int, Found]:
    """By row id, for what `matching` found: those parts of the texts in which the first word stands; one query. They
    are cut out by the database."""
    start = Greatest(StrIndex(Lower("text"), Lower(Value(query.split()[0]))) - BEFORE, Value(1))
    cut = Substr("text", start, EXCERPT, output_field=TextField())
    rows = Message.objects.filter(pk__in=list(messages)).annotate(cut=cut).values_list("pk", "public_id", "cut")
    return {pk: Found(f"message-{public_id}", pieces(text, query)) for pk, public_id, text in rows}


def pieces(text: str | None, query: str) -> list[Piece]:
    """The text in pieces, each with whether it is a word that was searched for. Nothing when there is no text. The
    commonest marks of Markdown are left out, since the pieces are shown as plain text."""
    words = sorted(set(query.split()), key=len, reverse=True)
    if not text or not words:
        return []
    found = re.compile("(" + "|".join(map(re.escape, words)) + ")", re.IGNORECASE)
    plain = " ".join(re.sub(r"\*\*|`", "", text).split())
    return [(piece, bool(place % 2)) for place, piece in enumerate(found.split(plain)) if piece]
