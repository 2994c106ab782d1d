"""The rows that terms become when people are asked, and whether anybody is left who could decide on them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from agentweb.engine.terms import Circle, Terms
from agentweb.runs import outbox
from agentweb.runs.asking_models import ApprovalTerms, Decider
from agentweb.runs.cards import card_of
from agentweb.runs.deciders import Person, may, read_terms
from agentweb.runs.models import Approval
from agentweb.runs.rights import rights
from agentweb.teams.models import Membership, User

EACH = timedelta(seconds=30)  # so often it is looked whether somebody is left
AT_MOST = 200


def keep(approval: Approval, terms: Terms | None, now: datetime) -> None:
    """Write down the terms on which people are asked. Inside the transaction that asks."""
    if terms is None or not terms.choose_people:
        return
    entries = [entry for number, circle in enumerate(terms.circles, 1) for entry in _entries(approval, number, circle)]
    ApprovalTerms.objects.create(
        approval=approval, needed=terms.needed, apart=terms.apart, circles=len(terms.circles), checked_at=now
    )
    Decider.objects.bulk_create(entries)
    row = _rows(Approval.objects.filter(pk=approval.pk))[0]
    if is_stranded(row, _members([row])):
        ApprovalTerms.objects.filter(approval=approval).update(stranded=True)


def _entries(approval: Approval, number: int, circle: Circle) -> Iterable[Decider]:
    """Whom the circle means. Who is not there (any more) is kept by name, and means nobody."""
    ids = {person.id for person in circle.people} | {approval.run.requested_by_id}
    people = {user.pk: user for user in User.objects.filter(pk__in=ids)}
    if circle.requester:
        asked = people[approval.run.requested_by_id]
        yield Decider(approval=approval, circle=number, user=asked, name=asked.display_name)
    if circle.role:
        yield Decider(approval=approval, circle=number, role=circle.role)
    if circle.group:
        group = Group.objects.filter(pk=circle.group.id).first()
        yield Decider(approval=approval, circle=number, group=group, name=circle.group.name)
    for person in circle.people:
        user = people.get(person.id)
        yield Decider(approval=approval, circle=number, user=user, name=user.display_name if user else person.name)


def look_for_stranded() -> int:
    """Note of pending approvals whether anybody is left who could decide. How many changed. Those first that were not
    looked at for longest."""
    due = Q(terms__checked_at=None) | Q(terms__checked_at__lt=timezone.now() - EACH)
    found = Approval.objects.filter(due, status=Approval.Status.PENDING).exclude(terms=None)
    rows = _rows(found.order_by(F("terms__checked_at").asc(nulls_first=True), "pk")[:AT_MOST])
    if not rows:
        return 0
    members = _members(rows)
    changed = [row for row in rows if is_stranded(row, members) != row.terms.stranded]
    ApprovalTerms.objects.filter(approval__in=rows).update(checked_at=timezone.now())
    return sum(_turn(row) for row in changed)


@transaction.atomic
def _turn(row: Approval) -> int:
    before = row.terms.stranded
    changed = ApprovalTerms.objects.filter(approval=row, stranded=before).update(stranded=not before)
    if changed:
        outbox.touch(row.run, cards=[card_of(row)])
        outbox.inbox_changed(row.run.conversation)
    return changed


def is_stranded(row: Approval, members: dict[int, list[tuple[User, str, Person]]]) -> bool:
    """Whether fewer people are left than must still approve. ``members``: by team."""
    given = sum(not vote.void for vote in row.votes.all())
    conversation, able = row.run.conversation, 0
    was, row.terms.stranded = row.terms.stranded, False  # whoever may only since nobody else can does not count
    for user, role, person in members.get(conversation.team_id, ()):
        able += may(row, person, rights(user=user, conversation=conversation, role=role)).approve
    row.terms.stranded = was
    return able < row.terms.needed - given


def _rows(found: Iterable[Approval]) -> list[Approval]:
    rows = list(found.select_related("terms", "call", "run__conversation"))
    read_terms(rows)
    return rows


def _members(rows: Sequence[Approval]) -> dict[int, list[tuple[User, str, Person]]]:
    """Of each team, the people who can sign in, with their role and their groups: two queries."""
    teams = {row.run.conversation.team_id for row in rows}
    found = Membership.objects.filter(team__in=teams, user__is_active=True).select_related("user")
    groups: dict[int, set[int]] = defaultdict(set)
    named = {entry.group_id for row in rows for entry in row.deciders.all() if entry.group_id}
    if named:
        for user, group in User.groups.through.objects.filter(group__in=named).values_list("user_id", "group_id"):
            groups[user].add(group)
    members: dict[int, list[tuple[User, str, Person]]] = defaultdict(list)
    for one in found:
        person = Person(one.user_id, frozenset(groups[one.user_id]))
        members[one.team_id].append((one.user, one.role, person))
    return members
