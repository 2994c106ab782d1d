"""Results as a page needs them: their ends and their size, cut out by the database, never all of what a tool said."""

from django.db.models import QuerySet, Value
from django.db.models.functions import Coalesce, Left, Length, NullIf, Replace, Right

from agentweb.runs.models import Call

HEAD_CHARS, TAIL_CHARS = 12_001, 4_000  # one more than is shown, so that a cut is known


def with_ends(calls: QuerySet[Call]) -> QuerySet[Call]:
    """The calls with ``head``, ``tail``, ``characters`` and ``newlines`` of their whole result, without that text."""
    whole = Coalesce(NullIf("result_full", Value("")), "result")
    return calls.defer("result_full").annotate(
        head=Left(whole, HEAD_CHARS),
        tail=Right(whole, TAIL_CHARS),
        characters=Length(whole),
        newlines=Length(whole) - Length(Replace(whole, Value("\n"), Value(""))),
    )
