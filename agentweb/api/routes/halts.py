"""Emergency stops: a tool, an agent or everything, until it is let go on."""

from typing import Any, Literal

from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from ninja import Router

from agentweb.api.shapes import Body, Text, time_out
from agentweb.runs import halting
from agentweb.runs.errors import NotFound
from agentweb.runs.models import Halt

router = Router(tags=["emergency stops"])


class HaltIn(Body):
    kind: Literal["all", "agent", "tool"]
    reason: Text
    agent: Text = ""
    tool: Text = ""
    team: Text | None = None


@router.get("/halts")
def halts(request: HttpRequest):
    """The emergency stops that count now and concern the teams that you are an admin of, newest first."""
    _admit(request)
    rows = list(halting.halts_for(request.user).filter(ended_at=None))
    return {"items": [_out(row) for row in halting.mark(request.user, rows)]}


@router.post("/halts")
def stop(request: HttpRequest, body: HaltIn):
    """Stop a tool (by name), an agent (by id) or everything, in a team (by id) or, for staff, in all teams.

    What is at work on it ends within seconds; what comes to it is held until the stop is lifted."""
    _admit(request)
    what = halting.choose(request.user, kind=body.kind, agent=body.agent, tool=body.tool, team=body.team)
    begun = halting.begin(user=request.user, reason=body.reason, **what)
    return JsonResponse(_out(halting.halt_for(request.user, begun.public_id)), status=201)


@router.post("/halts/{halt_id}/lift")
def lift(request: HttpRequest, halt_id: str):
    """Let it go on: ``released`` says how many held runs went back into the queue. 409 when it goes on already."""
    halt = halting.halt_for(request.user, halt_id)
    released = halting.lift(user=request.user, halt=halt)
    return {**_out(halting.halt_for(request.user, halt_id)), "released": released}


def _admit(request: HttpRequest) -> None:
    """Who may stop nothing anywhere is not even told that this is there."""
    if not halting.teams_for(request.user):
        raise NotFound(_("There is no such page."))


def _out(row: Halt) -> dict[str, Any]:
    return {
        "id": str(row.public_id),
        "kind": row.kind,
        "agent": str(row.agent.public_id) if row.agent else None,
        "tool": row.tool or None,
        "team": str(row.team.public_id) if row.team else None,
        "reason": row.reason,
        "by": row.by.username,
        "begun_at": time_out(row.created_at),
        "ended_at": time_out(row.ended_at),
        "ended_by": row.ended_by.username if row.ended_by else None,
        "holds": row.holds,
        "may_lift": row.may_lift,
    }
