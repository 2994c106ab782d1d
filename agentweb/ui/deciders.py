"""What a card says of the people who decide: who they are, who has said what, and why this person may not."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentweb.runs.asking_models import Decider, Delegation, Vote
from agentweb.runs.deciders import WORDS, Why
from agentweb.runs.models import Approval
from agentweb.runs.votes import said, shown_arguments
from agentweb.teams.models import Role
from agentweb.ui.diffs import Change, DiffLine, argument_changes, is_failed, preview_lines
from agentweb.ui.effects import effect_text

ROLES = {
    Role.MEMBER: gettext_lazy("members of the team"),
    Role.ADMIN: gettext_lazy("admins of the team"),
    Role.REVIEWER: gettext_lazy("reviewers of the team"),
}
EVERYONE = gettext_lazy("whoever may write in the conversation, and admins of the team")


@dataclass(frozen=True, slots=True)
class VoteLine:
    row: Vote
    word: str


@dataclass(frozen=True, slots=True)
class LaterLine:
    """People who may decide as well from this moment on, since nobody has until then."""

    words: str
    at: datetime
    begun: bool


@dataclass(frozen=True, slots=True)
class Would:
    """What the call would do with other arguments."""

    effect: str
    diff: list[DiffLine]
    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class DecidersPart:
    """``who``: sentences about who decides; ``votes``: what was said, ``said`` a mark of how much; ``proposal``: how
    the arguments that people vote on differ, ``would`` what the call would do with them; ``warning``: nobody is left.
    ``why_not``: why this person may not approve; ``may_reject``: they may at least reject."""

    who: list[str]
    votes: list[VoteLine]
    proposal: list[Change]
    proposed_by: str
    would: Would | None
    warning: str
    why_not: str | Promise
    may_reject: bool
    said: str = ""
    later: list[LaterLine] = field(default_factory=list)
    handed: list[Delegation] = field(default_factory=list)


def deciders_part(row: Approval) -> DecidersPart:
    """Of an approval that a selector gave out, which knows what this person may do."""
    why_not = WORDS[getattr(row, "why_not", None) or Why.LOOKS_ONLY]
    may_reject = bool(getattr(row, "may_reject", False))
    terms = row.on_terms
    if terms is None:
        return DecidersPart([], [], [], "", None, "", why_not, may_reject)
    proposed = terms.proposed_by.display_name if terms.proposed_by else ""
    return DecidersPart(
        who=_who(row),
        votes=[VoteLine(vote, str(vote.get_kind_display())) for vote in row.votes.all()],
        proposal=argument_changes(row.arguments, shown_arguments(row)) if terms.proposal is not None else [],
        proposed_by=proposed,
        would=_would(row) if terms.proposal is not None else None,
        warning=_("Nobody is left who could decide, so admins of the team may.") if terms.stranded else "",
        why_not=why_not,
        may_reject=may_reject,
        said=said(row),
        later=_later(row.deciders.all()),
        handed=list(row.delegations.all()),
    )


def _would(row: Approval) -> Would:
    diff, text = preview_lines(row.final_preview)
    return Would(effect_text(row.final_effect), diff, text, is_failed(row.final_preview))


def _who(row: Approval) -> list[str]:
    terms, circles = row.terms, circles_in_words(row.deciders.all())
    who = _(" – and at the same time one of: ").join(circles) if circles else str(EVERYONE)
    if terms.needed > 1:
        given = sum(not vote.void for vote in row.votes.all())
        words = _("Needs %(needed)d approvals (given: %(given)d): %(who)s")
        found = [words % {"needed": terms.needed, "given": given, "who": who}]
    else:
        found = [_("May decide: %(who)s") % {"who": who}]
    if terms.apart:
        words = _("%(person)s asked for the run and may not approve.")
        found.append(words % {"person": row.run.requested_by.display_name})
        if row.authors - {row.run.requested_by_id}:
            found.append(_("Nor may others whose messages the run has taken up."))
    return found


def circles_in_words(entries: Iterable[Decider]) -> list[str]:
    """Each circle of people as one piece of text, without those who may only later."""
    circles: dict[int, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.from_at is None:
            circles[entry.circle].append(_entry(entry))
    return [", ".join(words) for words in circles.values()]


def _later(entries: Iterable[Decider]) -> list[LaterLine]:
    begins: dict[datetime, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.from_at is not None:
            begins[entry.from_at].append(_entry(entry))
    now = timezone.now()
    return [LaterLine(", ".join(words), at, at <= now) for at, words in sorted(begins.items())]


def _entry(entry: Decider) -> str:
    if entry.everyone:
        return str(EVERYONE)
    if entry.role:
        return str(ROLES[Role(entry.role)])
    if entry.group_id:
        return _("the group %(name)s") % {"name": entry.name}
    return entry.name if entry.user_id else _("%(name)s (no longer there)") % {"name": entry.name}
