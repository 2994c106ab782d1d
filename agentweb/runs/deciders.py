"""Who may decide about an approval. One rule, said twice: for a person who looks at some, and for the database that
counts and lists them. A test holds the two together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, prefetch_related_objects
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agentweb.runs.asking_models import Decider, Delegation, Vote
from agentweb.runs.models import Approval, Message, Visibility
from agentweb.runs.rights import CHATS, Rights, rights
from agentweb.teams.access import role_in
from agentweb.teams.models import Membership, Role, User


class Why(StrEnum):
    """Why a person may not approve."""

    LOOKS_ONLY = "looks_only"
    ADMINS = "admins"
    NOT_NAMED = "not_named"
    APART = "apart"
    VOTED = "voted"
    HANDED_OVER = "handed_over"


WORDS = {
    Why.LOOKS_ONLY: _("You may look at this call but not decide about it."),
    Why.ADMINS: _("An admin of the team decides about this."),
    Why.NOT_NAMED: _("You are not one of those who may decide about this call."),
    Why.APART: _("You asked for this run or wrote to it, so others must approve; you may only reject."),
    Why.HANDED_OVER: _("You have handed this over to somebody else."),
    Why.VOTED: _("You have approved; others must approve too. Until then you may still reject."),
}


WRITTEN = Q(role=Message.Role.USER, author__isnull=False)
LATER = Exists(
    Message.objects.filter(conversation=OuterRef("conversation"), role=Message.Role.USER, turn=0, pk__gt=OuterRef("pk"))
)
ANSWERED = Q(turn=0) & ~LATER
"""The message that a live run answers, also where it was written for a run before that was tried again."""


@dataclass(frozen=True, slots=True)
class May:
    """What a person may say about a pending approval; ``why`` they may not approve."""

    approve: bool
    reject: bool
    why: Why | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """Row ids of a person and their groups."""

    id: int
    groups: frozenset[int] = frozenset()


def mark(user: User, approvals: Iterable[Approval]) -> None:
    """Let each approval know what this person ``may`` do about it. Its conversation knows their rights already.

    No query where no rule makes terms, else five at most."""
    rows = list(approvals)
    read_terms(rows)
    on_terms = [row for row in rows if row.on_terms is not None]
    by_group = any(decider.group_id for row in on_terms for decider in row.deciders.all())
    groups = frozenset(user.groups.values_list("pk", flat=True)) if by_group else frozenset()
    for row in rows:
        allowed = may(row, Person(user.pk, groups), row.run.conversation.may)
        row.may_decide, row.may_reject, row.why_not = allowed.approve, allowed.reject, allowed.why


def read_terms(approvals: Sequence[Approval]) -> None:
    """Read who may decide and who has voted, of those for which rules make terms: four queries at most."""
    on_terms = [row for row in approvals if row.on_terms is not None]
    _read_authors([row for row in on_terms if row.terms.apart])
    if on_terms:
        votes = Prefetch("votes", Vote.objects.select_related("user"))
        handed = Prefetch("delegations", Delegation.objects.select_related("by", "to"))
        prefetch_related_objects(on_terms, "deciders", votes, handed)


def _read_authors(approvals: Sequence[Approval]) -> None:
    """Read who has written what the runs of these have taken up."""
    runs = {row.run_id: row.run.conversation_id for row in approvals}
    said = WRITTEN & (Q(run__in=runs) | (Q(conversation__in=set(runs.values())) & ANSWERED))
    found = Message.objects.filter(said).annotate(answered=ANSWERED).defer("text", "html") if runs else ()
    rows = [(one.run_id, one.answered and one.conversation_id, one.author_id) for one in found]
    for row in approvals:
        conversation = row.run.conversation_id
        row.authors = {author for run, answered, author in rows if run == row.run_id or answered == conversation}


def forget_terms(approval: Approval) -> None:
    """Have the terms and what people have said read anew, also where there were none until now."""
    approval._state.fields_cache.pop("terms", None)
    vars(approval).pop("_prefetched_objects_cache", None)


def mark_anew(user: User, approval: Approval) -> None:
    """Let the approval know what this person may do about it as of now, whatever it knew before. The run is locked."""
    conversation = approval.run.conversation
    conversation.refresh_from_db(fields=["owner", "visibility"])
    role = role_in(user=user, team_id=conversation.team_id)
    conversation.may = rights(user=user, conversation=conversation, role=role)
    forget_terms(approval)
    mark(user, [approval])


def may(approval: Approval, person: Person, rights: Rights | None) -> May:
    """The rule. ``rights``: what they may do with the conversation; None: they may not see it."""
    if rights is None:
        return May(False, False, Why.LOOKS_ONLY)
    if approval.for_admins:
        return May(rights.admin, rights.admin, None if rights.admin else Why.ADMINS)
    terms = approval.on_terms
    if terms is None:
        return May(rights.decide, rights.decide, None if rights.decide else Why.LOOKS_ONLY)
    handed = [(each.by_id, each.to_id) for each in approval.delegations.all()]
    taken = any(to == person.id for _by, to in handed)
    named = taken or _belongs(approval, person, rights) or (terms.stranded and rights.admin)
    asked = approval.run.requested_by_id == person.id
    apart = terms.apart and (asked or person.id in approval.authors)
    voted = any(vote.user_id == person.id and not vote.void for vote in approval.votes.all())
    why = None
    if voted:
        why = Why.VOTED
    elif apart:
        why = Why.APART
    elif any(by == person.id for by, _to in handed):
        why = Why.HANDED_OVER
    elif not named:
        why = Why.NOT_NAMED if rights.decide else Why.LOOKS_ONLY
    return May(why is None, named or voted or ((asked or apart) and rights.decide), why)


def _belongs(approval: Approval, person: Person, rights: Rights) -> bool:
    """Whether the person is one of each circle, or may write where there are none."""
    met: dict[int, bool] = {}
    now = timezone.now()
    for entry in approval.deciders.all():
        begun = entry.from_at is None or entry.from_at <= now
        met[entry.circle] = met.get(entry.circle, False) or (begun and _meant(entry, person, rights))
    return all(met.values()) if met else rights.decide


def _meant(entry: Decider, person: Person, rights: Rights) -> bool:
    return (
        entry.user_id == person.id
        or (entry.role != "" and entry.role == rights.role)
        or entry.group_id in person.groups
        or (entry.everyone and rights.decide)
    )


# --- the same for the database --------------------------------------------------------------------------------------


def decidable_by(user: Any) -> Q:
    """The approvals that this person (a row, its id, or a slot for it) may approve, among those that they see."""
    by_office, as_member = by_right(user)
    usual = by_office | (as_member & Q(for_admins=False))
    bound = Q(terms__circles__gt=0)
    named = ~Exists(_unmet(user, everyone=False)) | ((by_office | as_member) & ~Exists(_unmet(user, everyone=True)))
    voted = Vote.objects.filter(approval=OuterRef("pk"), user=user, void=False)
    own = Q(author=user) & WRITTEN
    wrote = Message.objects.filter(own, run=OuterRef("run"))
    answered = Message.objects.filter(own & ANSWERED, conversation=OuterRef("run__conversation"))
    asked = Q(terms__apart=True) & (Q(run__requested_by=user) | Exists(wrote) | Exists(answered))
    taken = Delegation.objects.filter(approval=OuterRef("pk"), to=user)
    handed = Delegation.objects.filter(approval=OuterRef("pk"), by=user)
    allowed = (~bound & usual) | (bound & named) | (Q(terms__stranded=True) & by_office) | Q(Exists(taken))
    return Q(allowed & ~asked, ~Exists(voted), ~Exists(handed))


def by_right(user: Any) -> tuple[Q, Q]:
    """Where the person decides as an admin of the team, and where as one who may write in the conversation."""
    mine = Membership.objects.filter(user=user)
    team = "run__conversation__team__in"
    own = Q(run__conversation__owner=user) | Q(run__conversation__visibility=Visibility.TEAM)
    by_office = Q(**{team: mine.filter(role=Role.ADMIN).values("team_id")})
    return by_office, Q(**{team: mine.filter(role__in=CHATS).values("team_id")}) & own


def _unmet(user: Any, *, everyone: bool) -> Any:
    """The entries of circles of which none means the person. ``everyone``: those that mean everyone mean them."""
    role = Membership.objects.filter(
        user=user, team=OuterRef("approval__run__conversation__team"), role=OuterRef("role")
    )
    group = User.groups.through.objects.filter(user=user, group=OuterRef("group"))
    meant = Q(user=user) | Exists(role) | Exists(group)
    if everyone:
        meant |= Q(everyone=True)
    begun = Q(from_at=None) | Q(from_at__lte=Now())
    met = Decider.objects.filter(meant, begun, approval=OuterRef("approval"), circle=OuterRef("circle"))
    return Decider.objects.filter(~Exists(met), approval=OuterRef("pk"))
