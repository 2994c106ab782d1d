"""Emergency stops: a tool, an agent or everything, with the runs that it would hold, and how it is let go on."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from agentweb.chat.forms import text_of
from agentweb.registry.models import Agent, Tool
from agentweb.runs import halting
from agentweb.runs.errors import Invalid, NotFound
from agentweb.runs.halts import affected
from agentweb.runs.models import Halt
from agentweb.teams.models import Team
from agentweb.ui.answers import full_page, page

SHOWN = 100
OVER = 10
EVERYWHERE = "everywhere"


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be stopped, where, and why."""

    kind: str
    agent: Agent | None
    tool: str
    team: Team | None
    reason: str

    @property
    def what(self) -> dict[str, Any]:
        return {"kind": self.kind, "agent": self.agent, "tool": self.tool, "team": self.team}


@require_http_methods(["GET", "HEAD", "POST"])
@page
def halts(request: HttpRequest) -> HttpResponse:
    """The stops that count, and a form for another. POST shows what it would hold; with ``step=confirm`` it begins."""
    teams = halting.teams_for(request.user)
    if not teams:
        raise NotFound(_("There is no such page."))
    if request.method != "POST":
        return _page(request, teams)
    try:
        choice = _choice(request)
        if request.POST.get("step") == "confirm":
            halting.begin(user=request.user, reason=choice.reason, **choice.what)
            return redirect("halts")
    except Invalid as error:
        return _page(request, teams, status=422, problem=error.text)
    runs = affected(**choice.what)
    context = {"choice": choice, "runs": runs[:SHOWN], "count": runs.count()}
    return _page(request, teams, **context)


def _page(request: HttpRequest, teams: list[Team], status: int = 200, **more: Any) -> HttpResponse:
    found = halting.halts_for(request.user)
    context = {
        "standing": halting.mark(request.user, list(found.filter(ended_at=None))),
        "over": found.exclude(ended_at=None)[:OVER],
        "teams": teams,
        "everywhere": halting.may_everywhere(request.user),
        "agents": halting.agents_for(request.user),
        "tools": Tool.objects.filter(enabled=True),
        "typed": {name: text_of(request, name) for name in ("what", "where", "reason")},
    }
    return full_page(request, "chat/halts.html", context | more, status=status)


def _choice(request: HttpRequest) -> Choice:
    """As posted. Raises Invalid."""
    kind, _colon, name = text_of(request, "what").partition(":")
    where = text_of(request, "where")
    chosen = halting.choose(
        request.user,
        kind=kind,
        agent=name if kind == Halt.Kind.AGENT else "",
        tool=name if kind != Halt.Kind.AGENT else "",
        team=None if where == EVERYWHERE else where,
    )
    return Choice(**chosen, reason=text_of(request, "reason"))


@require_POST
@page
def halt_lift(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    halting.lift(user=request.user, halt=halting.halt_for(request.user, public_id))
    return redirect("halts")
