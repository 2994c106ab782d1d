"""Why people are asked about a call once more, and what is different from what they agreed to."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agentweb.runs.models import Approval
from agentweb.schema.json_text import canonical
from agentweb.schema.unified import unified
from agentweb.ui.diffs import Change, DiffLine, argument_changes, diff_lines, preview_lines
from agentweb.ui.effects import effect_text

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
    if before.rule != row.rule:
        words.append(_("Another rule asks, or another version of its policy. It was: %(rule)s") % {"rule": before.rule})
    if row.requires_comment and not before.requires_comment:
        words.append(_("A comment is required now."))
    if not words:
        return None
    effect, preview = _shown(before)
    return Again(words, effect_text(effect) if differs else "", _lines(preview, row) if differs else [], changes)


def _agreed(before: Approval) -> Any:
    return before.arguments if before.final_arguments is None else before.final_arguments


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
