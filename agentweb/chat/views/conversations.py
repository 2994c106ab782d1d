"""The list, the page of one conversation, and what its owner does with it."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from agentweb.chat.forms import key_for_form, text_of
from agentweb.runs import conversations, selectors, services
from agentweb.runs.errors import Invalid, RequestError
from agentweb.runs.looks import latest_looks
from agentweb.runs.models import Conversation, Visibility
from agentweb.runs.timeline import window
from agentweb.teams.access import default_team
from agentweb.ui.answers import full_page, is_fragment, page
from agentweb.ui.listing import listing
from agentweb.ui.model_badges import model_badges
from agentweb.ui.timeline import run_parts


@require_GET
@page
def home(request: HttpRequest) -> HttpResponse:
    return _home(request)


def _home(
    request: HttpRequest, *, problem: str = "", typed: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    may_start = default_team(user=request.user) is not None
    agents = list(selectors.agents_for(request.user)) if may_start else []
    badges = model_badges(agents)
    chosen = str((typed or {}).get("agent", ""))
    rows = [{"row": agent, "model": badges[agent.pk], "chosen": str(agent.public_id) == chosen} for agent in agents]
    if rows and not any(row["chosen"] for row in rows):
        rows[0]["chosen"] = True
    context = {
        "nav": "home",
        "agents": rows,
        "may_start": may_start,
        "listing": listing(request.user, show=request.GET.get("show", ""), query=request.GET.get("q", "")),
        "key": key_for_form(),
        "problem": problem,
        "typed": typed or {},
    }
    return full_page(request, "chat/home.html", context, status=status)


@require_GET
@page
def conversation_list(request: HttpRequest) -> HttpResponse:
    """The side column again with another filter or other words, or its next page."""
    current, before = request.GET.get("current", ""), request.GET.get("before", "")
    wanted = {"show": request.GET.get("show", ""), "query": request.GET.get("q", "")}
    found = listing(request.user, **wanted, before=before, current=current)
    place = "home" if request.GET.get("place") == "home" else "side"
    template = "chat/_conversation_rows.html" if before else "chat/_conversations.html"
    return render(request, template, {"listing": found, "place": place, "conversation": {"public_id": current[:36]}})


@require_POST
@page
def conversation_create(request: HttpRequest) -> HttpResponse:
    """A new conversation, with its first message when one was typed."""
    typed = {
        "agent": request.POST.get("agent", ""),
        "text": text_of(request),
        "visibility": request.POST.get("visibility"),
    }
    try:
        made = services.start_conversation(
            user=request.user,
            agent=selectors.agent_for(request.user, typed["agent"]),
            visibility=Visibility.TEAM if typed["visibility"] == "team" else Visibility.PRIVATE,
            text=typed["text"],
            key=request.POST.get("key", ""),
        )
    except RequestError as error:
        return _home(request, problem=error.text, typed=typed, status=422)
    return redirect("conversation", made.public_id)


@require_GET
@page
def conversation(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    return conversation_page(request, selectors.conversation_for(request.user, public_id))


def conversation_page(
    request: HttpRequest,
    shown: Conversation,
    *,
    problem: str = "",
    typed: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The whole page; with ``problem``, what was typed is still there."""
    context = _timeline(request, shown) | {
        "nav": "conversation",
        "may": shown.may,
        "looks": latest_looks(shown) if shown.owner_id == request.user.pk else (),
        "model": model_badges([shown.agent])[shown.agent_id],
        "key": key_for_form(),
        "problem": problem,
        "typed": typed or {},
    }
    return full_page(request, "chat/conversation.html", context, status=status)


@require_GET
@page
def conversation_messages(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """The runs before the one that ``before`` names, or behind the one that ``after`` names."""
    shown = selectors.conversation_for(request.user, public_id)
    context = _timeline(request, shown)
    context["newer" if "before" in request.GET else "older"] = ""  # what is there already
    return render(request, "chat/_runs.html", context)


def _timeline(request: HttpRequest, shown: Conversation) -> dict[str, Any]:
    place = _place(request, shown)
    latest = selectors.latest_run(shown)  # before its parts: what happens in between then comes over the socket
    found = window(shown, **place)
    runs = [view.run.public_id for view in found.views]
    return {
        "conversation": shown,
        "agent_name": shown.agent.name,
        "views": run_parts(found.views, may=shown.may, latest=latest),
        "older": runs[0] if runs and found.older else "",
        "newer": runs[-1] if runs and found.newer else "",
        "latest": latest,
    }


def _place(request: HttpRequest, shown: Conversation) -> dict[str, int]:
    """Which part of a conversation is asked for: the last one, unless ``before``, ``after`` or ``at`` names a place."""
    if before := request.GET.get("before"):
        return {"before": _run_of(shown, before)}
    if after := request.GET.get("after"):
        return {"since": _run_of(shown, after) + 1}
    run = selectors.place_in(shown, at) if (at := request.GET.get("at")) else None
    return {} if run is None else {"since": run}


def _run_of(shown: Conversation, public_id: str) -> int:
    return selectors.place_in(shown, f"run-{public_id}") or 0


@require_POST
@page
def conversation_rename(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    shown = selectors.conversation_for(request.user, public_id)
    return _done(
        request,
        shown,
        lambda: conversations.rename_conversation(
            user=request.user, conversation=shown, title=request.POST.get("title", "")
        ),
    )


@require_POST
@page
def conversation_share(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    shown = selectors.conversation_for(request.user, public_id)
    visibility = request.POST.get("visibility", "")
    return _done(
        request,
        shown,
        lambda: conversations.share_conversation(user=request.user, conversation=shown, visibility=visibility),
    )


@require_POST
@page
def conversation_archive(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """Out of the lists, or (``back``) into them again."""
    shown = selectors.conversation_for(request.user, public_id)
    archived = "back" not in request.POST
    conversations.archive_conversation(user=request.user, conversation=shown, archived=archived)
    if archived:
        messages.success(request, _("The conversation was archived. You find it under “Archived”."))
        return redirect("home")
    return redirect("conversation", shown.public_id)


def _done(request: HttpRequest, shown: Conversation, change: Any) -> HttpResponse:
    """Do it and go back to the page, with a sentence when it was not possible."""
    try:
        change()
    except Invalid as error:
        if is_fragment(request):
            raise
        messages.error(request, error.text)
    return redirect("conversation", shown.public_id)


@require_POST
@page
def conversation_delete(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    shown = selectors.conversation_for(request.user, public_id)
    conversations.delete_conversation(user=request.user, conversation=shown)
    messages.success(request, _("The conversation was deleted."))
    return redirect("home")
