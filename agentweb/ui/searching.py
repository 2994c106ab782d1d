"""Finding conversations by what their titles and messages say, in any script: words are parts of text, never whole."""

import re
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Greatest, Lower, StrIndex, Substr

from agentweb.runs.models import Conversation, Message

LONGEST = 100  # characters of a query; what is more is cut off
MOST_WORDS = 8
BEFORE, EXCERPT = 30, 120  # characters
Piece = tuple[str, bool]


def cleaned(query: str) -> str:
    """The query as it is searched for and shown again."""
    return " ".join(query.replace("\0", "")[:LONGEST].split())


def matching(rows: QuerySet[Conversation], query: str) -> QuerySet[Conversation]:
    """Those in which each word of the query is part of the title or of a message, with ``excerpt``: a part of the
    newest message that has the first word, or None."""
    words = query.split()[:MOST_WORDS]
    for word in words:
        rows = rows.filter(Q(title__icontains=word) | Exists(_said(word)))
    return rows.annotate(excerpt=Subquery(_around(words[0]))) if words else rows


def _said(word: str) -> QuerySet[Message]:
    spoken = Message.objects.filter(conversation=OuterRef("pk"), status=Message.Status.FINISHED, text__icontains=word)
    return spoken.exclude(role=Message.Role.SYSTEM)


def _around(word: str) -> Any:
    """That part of the text in which the word stands, cut out by the database."""
    place = StrIndex(Lower("text"), Lower(Value(word)))
    start = Greatest(place - BEFORE, Value(1))
    cut = Substr("text", start, EXCERPT, output_field=TextField())
    return _said(word).order_by("-pk").annotate(cut=cut).values("cut")[:1]


def pieces(text: str | None, query: str) -> list[Piece]:
    """The text in pieces, each with whether it is a word that was searched for. Nothing when there is no text. The
    commonest marks of Markdown are left out, since the pieces are shown as plain text."""
    words = sorted(set(query.split()), key=len, reverse=True)
    if not text or not words:
        return []
    found = re.compile("(" + "|".join(map(re.escape, words)) + ")", re.IGNORECASE)
    plain = " ".join(re.sub(r"\*\*|`", "", text).split())
    return [(piece, bool(place % 2)) for place, piece in enumerate(found.split(plain)) if piece]
