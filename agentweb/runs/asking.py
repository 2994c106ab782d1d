"""The rows that terms become when people are asked, and whether anybody is left who could decide on them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from agentweb.engine.terms import Circle, Later, Terms
from agentweb.runs import outbox
from agentweb.runs.asking_models import ApprovalTerms, Decider
from agentweb.runs.cards import card_of
from agentweb.runs.deciders import Person, may, read_terms
from agentweb.runs.models import Approval
from agentweb.runs.rights import rights
from agentweb.teams.models import Membership, User

EACH = timedelta(seconds=30)  # so often it is looked whether somebody is left
AT_MOST = 200
Members = Mapping[int, Sequence[tuple[User, str, Person]]]  # by team


def keep(approval: Approval, terms: Terms | None, now: datetime) -> None:
    """Write down the terms on which people are asked. Inside the transaction that asks."""
    if terms is None or not terms.choose_people:
        return
    entries = [
        entry for number, circle in enumerate(terms.circles, 1) for entry in _entries(approval, number, circle, now)
    ]
    ApprovalTerms.objects.create(
        approval=approval, needed=terms.needed, apart=terms.apart, circles=len(terms.circles), checked_at=now
    )
    Decider.objects.bulk_create(entries)
    row = _rows(Approval.objects.filter(pk=approval.pk))[0]
    if is_stranded(row, members_of([row])):
        ApprovalTerms.objects.filter(approval=approval).update(stranded=True)


def _entries(approval: Approval, number: int, circle: Circle, now: datetime) -> Iterable[Decider]:
    """Whom the circle means. Who is not there (any more) is kept by name, and means nobody."""
    if circle.requester:
        asked = User.objects.get(pk=approval.run.requested_by_id)
        yield Decider(approval=approval, circle=number, user=asked, name=asked.display_name)
    elif not circle.names_anyone:
        yield Decider(approval=approval, circle=number, everyone=True)
    yield from _meant(approval, number, circle, None)
    if circle.later:
        yield from _meant(approval, number, circle.later, now + timedelta(minutes=circle.later.minutes))


def _meant(approval: Approval, number: int, named: Circle | Later, begin: datetime | None) -> Iterable[Decider]:
    common = {"approval": approval, "circle": number, "from_at": begin}
    if named.role:
        yield Decider(**common, role=named.role)
    if named.group:
        group = Group.objects.filter(pk=named.group.id).first()
        yield Decider(**common, group=group, name=named.group.name)
    people = {user.pk: user for user in User.objects.filter(pk__in=[person.id for person in named.people])}
    for person in named.people:
        user = people.get(person.id)
        yield Decider(**common, user=user, name=user.display_name if user else person.name)


def escalate() -> int:
    """Tell of those who may decide from now on, since nobody else has. They may from that moment, told or not."""
    due = Decider.objects.filter(from_at__lte=Now(), told_at=None, approval__status=Approval.Status.PENDING)
    found = Approval.objects.filter(pk__in=due.values("approval")).select_related("call", "run__conversation")
    return sum(_tell(row) for row in found.order_by("pk")[:AT_MOST])


@transaction.atomic
def _tell(row: Approval) -> int:
    told = Decider.objects.filter(approval=row, from_at__lte=Now(), told_at=None).update(told_at=Now())
    if told:
        tell(row)
    return bool(told)


def tell(row: Approval) -> None:
    """Others may decide now: pages show it, and people are reminded anew of what waits. Inside a transaction."""
    Approval.objects.filter(pk=row.pk).update(noticed_at=None)
    outbox.touch(row.run, cards=[card_of(row)])
    outbox.inbox_changed(row.run.conversation)


def look_for_stranded() -> int:
    """Note of pending approvals whether anybody is left who could decide. How many changed. Those first that were not
    looked at for longest."""
    due = Q(terms__checked_at=None) | Q(terms__checked_at__lt=timezone.now() - EACH)
    found = Approval.objects.filter(due, status=Approval.Status.PENDING).exclude(terms=None)
    rows = _rows(found.order_by(F("terms__checked_at").asc(nulls_first=True), "pk")[:AT_MOST])
    if not rows:
        return 0
    members = members_of(rows)
    changed = [row for row in rows if is_stranded(row, members) != row.terms.stranded]
    ApprovalTerms.objects.filter(approval__in=rows).update(checked_at=timezone.now())
    return sum(_turn(row) for row in changed)


@transaction.atomic
def _turn(row: Approval) -> int:
    before = row.terms.stranded
    changed = ApprovalTerms.objects.filter(approval=row, stranded=before).update(stranded=not before)
    if changed:
        tell(row)
    return changed


def is_stranded(row: Approval, members: Members) -> bool:
    """Whether fewer people are left than must still approve."""
    given = sum(not vote.void for vote in row.votes.all())
    was, row.terms.stranded = row.terms.stranded, False  # whoever may only since nobody else can does not count
    able = _able(row, members)
    row.terms.stranded = was
    return len(able) < row.terms.needed - given


def who_may(approval: Approval) -> list[User]:
    """Everybody who may approve it now; five queries at most."""
    (row,) = _rows(Approval.objects.filter(pk=approval.pk))
    return _able(row, members_of([row]))


def _able(row: Approval, members: Members) -> list[User]:
    conversation = row.run.conversation
    found = []
    for user, role, person in members.get(conversation.team_id, ()):
        if may(row, person, rights(user=user, conversation=conversation, role=role)).approve:
            found.append(user)
    return found


def _rows(found: Iterable[Approval]) -> list[Approval]:
    rows = list(found.select_related("terms", "call", "run__conversation"))
    read_terms(rows)
    return rows


def members_of(rows: Sequence[Approval]) -> Members:
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
