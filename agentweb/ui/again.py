"""Why people are asked about a call once more, and what is different from what they agreed to."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agentweb.engine.codec import decode
from agentweb.engine.events import ApprovalRequested
from agentweb.policy.retelling import retold
from agentweb.runs.models import Approval, Event
from agentweb.schema.json_text import canonical, parse_json
from agentweb.schema.unified import unified
from agentweb.ui.diffs import Change, DiffLine, argument_changes, diff_lines, preview_lines
from agentweb.ui.effects import effect_text

CUT = Approval._meta.get_field("rule").max_length or 0
SIGNS = {"added": "+ ", "removed": "− ", "same": "  ", "hunk": "  "}


@dataclass(frozen=True, slots=True)
class Again:
    """``words`` say what does not hold any more; ``effect`` is what the call would have done, if that has changed."""

    words: list[str]
    effect: str
    lines: list[DiffLine]
    changes: list[Change]


def asked_again(row: Approval) -> Again | None:
    """None where the approval replaces no other, or nothing is different: then something else was in the way."""
    before = row.replaces if row.replaces_id else None
    if before is None:
        return None
    words, changes = [], argument_changes(_agreed(before), row.arguments)
    differs = _seen(before) != row.seen
    if differs:
        words.append(_("The call would do something else now than was shown when it was approved."))
    if changes:
        words.append(_("The arguments are no longer those that were approved."))
    if before.definition != row.definition:
        words.append(_("The definition of the tool has changed."))
    if _rule(before) != _rule(row):
        was = retold(before.rule, _)
        words.append(_("Another rule asks, or another version of its policy. It was: %(rule)s") % {"rule": was})
    if row.requires_comment and not before.requires_comment:
        words.append(_("A comment is required now."))
    if not words:
        return None
    effect, preview = _shown(before)
    return Again(words, effect_text(effect) if differs else "", _lines(preview, row) if differs else [], changes)


def _agreed(before: Approval) -> Any:
    return before.arguments if before.final_arguments is None else before.final_arguments


def _rule(row: Approval) -> str:
    """The rule as the record has it; the row keeps its beginning only, behind which another version may stand."""
    if len(row.rule) < CUT:
        return row.rule
    rows = Event.objects.filter(run=row.run_id, kind="ApprovalRequested", payload__contains=str(row.public_id))
    asked = (decode(each.kind, parse_json(each.payload)) for each in rows)
    whole = (each.rule for each in asked if isinstance(each, ApprovalRequested) and each.approval == str(row.public_id))
    return next(whole, row.rule)


def _seen(before: Approval) -> str:
    return before.final_seen if before.status == Approval.Status.MODIFIED else before.seen


def _shown(before: Approval) -> tuple[str, Any]:
    if before.status == Approval.Status.MODIFIED:
        return before.final_effect, before.final_preview
    return before.effect, before.preview


def _lines(preview: Any, row: Approval) -> list[DiffLine]:
    """How the two previews differ, each line of a file's diff with its sign."""
    if canonical(preview) == canonical(row.preview):
        return []
    return diff_lines(unified(_text(preview), _text(row.preview)))


def _text(preview: Any) -> str:
    lines, text = preview_lines(preview)
    return "\n".join(SIGNS.get(line.kind, "  ") + line.text for line in lines) if lines else text
