"""Remembering an approval: who may, what it covers, where it counts, and how it ends."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.engine import events
from agentweb.engine.enums import Risk
from agentweb.engine.ports import Ask
from agentweb.policy import grants
from agentweb.registry import catalog, snapshots
from agentweb.registry.models import Tool
from agentweb.runs.errors import Conflict, Forbidden, Invalid
from agentweb.runs.grant_models import Grant, GrantUse
from agentweb.runs.models import Approval, Call, Run
from agentweb.runs.rights import CHATS
from agentweb.schema.json_text import parse_json
from agentweb.teams.models import Membership, User

LONGEST = timedelta(days=90)
FINAL = (Approval.Status.APPROVED, Approval.Status.MODIFIED)


@dataclass(frozen=True, slots=True)
class Wish:
    """How a person wants an approval to be remembered. ``until``: only with the scope that has this name; ``vary``:
    the arguments that an admin marked may differ; then ``free`` are their names as the person saw them."""

    scope: str
    until: datetime | None = None
    vary: bool = False
    free: tuple[str, ...] | None = None


# --- giving ---------------------------------------------------------------------------------------------------------


def may_be_remembered(approval: Approval) -> bool:
    """Whether the question on the card is one that a grant may answer."""
    if approval.call is None or approval.call.recovered or approval.on_terms is not None:
        return False
    return grants.rememberable(Ask(approval.rule, Risk(approval.risk), approval.requires_comment))


def scopes_for(user: User, approval: Approval) -> list[Grant.Scope]:
    """What may be chosen. For all of one's runs people answer only for themselves, so only who asked may."""
    if not may_be_remembered(approval):
        return []
    own = approval.run.requested_by_id == user.pk
    return [Grant.Scope.RUN, Grant.Scope.CONVERSATION, *([Grant.Scope.PERSON] if own else [])]


def free_arguments(approval: Approval) -> list[str]:
    """The names of arguments that an admin lets vary, of those that the tool has."""
    if approval.call is None:
        return []
    row = Tool.objects.filter(name=approval.call.name).only("free_arguments").first()
    known = _definition(approval)
    has = known.parameters.get("properties", {}) if known else {}
    return [name for name in row.free if name in has] if row else []


def check(user: User, approval: Approval, decision: str, wish: Wish) -> None:
    """Whether the approval may be remembered so. Raises Invalid with the field named, Forbidden, Conflict."""
    if decision != "approve":
        raise _invalid("decision", _("Only a plain approval can be remembered."))
    if wish.scope not in Grant.Scope.values:
        raise _invalid("scope", _("The scope is one of run, conversation, until."))
    if not may_be_remembered(approval):
        raise Forbidden(_("At this risk level each call is decided by itself; nothing is remembered."))
    if wish.scope not in scopes_for(user, approval):
        raise Forbidden(_("Only who started the run can agree to calls in later runs of theirs."))
    _check_end(wish)
    free = free_arguments(approval) if wish.vary else []
    if wish.vary and not free:
        raise _invalid("vary", _("No argument of this tool may vary."))
    if wish.vary and wish.free is None:
        raise _invalid("free", _("Name the arguments that may vary: %(names)s.") % {"names": ", ".join(free)})
    shown, code = _definition(approval), catalog.find_one(approval.call.name if approval.call else "")
    if shown is None or code is None or shown.digest != code.spec.digest:
        raise Conflict(_("The tool has changed since the run began, so the approval cannot be remembered."), {})


def _check_end(wish: Wish) -> None:
    now = timezone.now()
    if wish.scope != Grant.Scope.PERSON:
        if wish.until is not None:
            raise _invalid("until", _("Only a grant until a date has one."))
    elif wish.until is None or timezone.is_naive(wish.until):
        raise _invalid("until", _("Say until when, with a time zone."))
    elif not now < wish.until <= now + LONGEST:
        raise _invalid("until", _("Choose a moment in the next %(days)d days.") % {"days": LONGEST.days})


def give(*, user: User, approval: Approval, wish: Wish) -> Grant:
    """Store what ``check`` has let through, inside the transaction that decides. Raises Conflict where other arguments
    may vary by now than the person saw: the grant would be another than they agreed to."""
    run, shown = approval.run, _definition(approval)
    assert approval.call is not None and shown is not None
    free = free_arguments(approval) if wish.vary else []
    if wish.vary and set(wish.free or ()) != set(free):
        raise Conflict(_("Other arguments may vary by now than you were shown. Look again at what you agree to."), {})
    return Grant.objects.create(
        scope=wish.scope,
        team=run.conversation.team,
        agent_id=run.agent_id,
        run=run,
        approval=approval,
        given_by=user,
        tool=approval.call.name,
        tool_digest=shown.digest,
        arguments=approval.arguments,
        free=free,
        expires_at=wish.until,
    )


def _definition(approval: Approval) -> Any:
    """The tool as the run was told of it."""
    return snapshots.use_of(_snapshot(approval), approval.call.name) if approval.call else None


def _snapshot(approval: Approval) -> Mapping[str, Any]:
    read: Mapping[str, Any] = parse_json(approval.run.snapshot.data)
    return read


def _invalid(field: str, words: str) -> Invalid:
    return Invalid(words, [(f"grant.{field}", words)])


# --- what counts ----------------------------------------------------------------------------------------------------


def covering(run: int, conversation: int, agent: int, team: int, user: int) -> Q:
    """The grants whose scope holds a run: row ids of the run, its conversation, agent and team, and who started it."""
    here = Q(scope=Grant.Scope.RUN, run=run) | Q(scope=Grant.Scope.CONVERSATION, run__conversation=conversation)
    return Q(agent=agent) & (here | Q(scope=Grant.Scope.PERSON, given_by=user, team=team))


def in_force(now: datetime) -> QuerySet[Grant]:
    """Grants that have not ended, of people who still chat in the team."""
    still = Membership.objects.filter(user=OuterRef("given_by"), team=OuterRef("team"), role__in=CHATS)
    return Grant.objects.filter(Exists(still), ended_at=None, given_by__is_active=True).exclude(expires_at__lte=now)


def counting(holds: Q, tools: Sequence[str]) -> list[grants.Grant]:
    """What counts now for calls of these tools, the newest first. Grants of a tool that has changed end here."""
    found = list(in_force(timezone.now()).filter(holds, tool__in=tools).select_related("given_by"))
    code = catalog.find(row.tool for row in found)
    changed = [row for row in found if row.tool not in code or code[row.tool].spec.digest != row.tool_digest]
    if changed:
        _end(Grant.objects.filter(pk__in=[row.pk for row in changed]), Grant.Ended.CHANGED, None)
    return [row.as_grant for row in found if row not in changed]


def lasting(ids: Collection[str]) -> set[str]:
    """Those of the grants (public ids) that count at this moment, locked until the transaction ends: who revokes one
    is either before the start of a call, which then does not happen, or after it."""
    found = in_force(timezone.now()).select_for_update(of=("self",)).filter(public_id__in=ids)
    return {str(grant.public_id) for grant in found.order_by("pk")}


def used(run: Run, event: events.ToolStarted) -> None:
    """Keep by which grant a call ran."""
    call = Call.objects.only("pk").get(public_id=event.call, run=run)
    grant = Grant.objects.only("pk").get(public_id=event.grant)
    GrantUse.objects.update_or_create(call=call, defaults={"grant": grant})


# --- ending ---------------------------------------------------------------------------------------------------------


def revoke(*, user: User, grant: Grant) -> None:
    """End a grant: its giver may, and whoever decides in its conversation. Raises Forbidden, Conflict."""
    if not grant.may_revoke:
        raise Forbidden(_("You may look at this grant but not revoke it."))
    if not _end(Grant.objects.filter(pk=grant.pk), Grant.Ended.REVOKED, user):
        raise Conflict(_("The grant has ended already."), {})


def revoke_all(*, user: User, rows: QuerySet[Grant]) -> int:
    """End those that have not ended, on behalf of an office. How many there were."""
    return _end(Grant.objects.filter(pk__in=rows.values("pk")), Grant.Ended.REVOKED, user)


def withdraw(*, user: User, approval: Approval) -> None:
    """A call was rejected, so nobody's earlier yes to calls of this tool counts here any more."""
    run = approval.run
    if approval.call is None:
        return
    holds = covering(run.pk, run.conversation_id, run.agent_id, run.conversation.team_id, run.requested_by_id)
    _end(Grant.objects.filter(holds, tool=approval.call.name), Grant.Ended.REJECTED, user)


def _end(rows: QuerySet[Grant], why: Grant.Ended, user: User | None) -> int:
    return rows.filter(ended_at=None).update(ended_at=timezone.now(), ended_why=why, ended_by=user)
