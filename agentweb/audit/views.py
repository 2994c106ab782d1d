"""What reviewers see: the runs of their teams, one run event by event, and the exact request of a model call."""

import json
import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agentweb.audit import records, selectors
from agentweb.audit.filters import Filters
from agentweb.audit.listing import choices, listing
from agentweb.audit.requests import rebuild
from agentweb.audit.shown_request import shown
from agentweb.audit.timeline import entries
from agentweb.runs import totals
from agentweb.ui.answers import full_page, is_fragment, page


@require_GET
@page
def runs(request: HttpRequest) -> HttpResponse:
    """The runs that match; for htmx the list alone, or its next page."""
    teams = selectors.teams_for(request.user)
    filters = Filters.read(request.GET)
    context = {"nav": "audit", "found": listing(teams, filters), "filters": filters, "several": len(teams) > 1}
    if is_fragment(request):
        template = "audit/_rows.html" if filters.before else "audit/_results.html"
        return render(request, template, context)
    return full_page(request, "audit/runs.html", context | {"choices": choices(teams)})


@require_GET
@page
def run(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    found = selectors.run_for(request.user, public_id)
    stored = records.read(found)
    broken = records.check(found, stored)
    context = {
        "nav": "audit",
        "run": found,
        "agent_name": found.agent.name,
        "entries": entries(found, stored),
        "prompt": json.loads(found.snapshot.data).get("prompt"),
        "whole": totals.of_conversation(found.conversation),
        "broken": records.sentence(broken) if broken else "",
    }
    return full_page(request, "audit/run.html", context)


@require_GET
@page
def model_request(request: HttpRequest, public_id: uuid.UUID, number: int) -> HttpResponse:
    """The request of the model call that is event ``number``; with ``download`` its body to be kept."""
    found = selectors.run_for(request.user, public_id)
    rebuilt = rebuild(found, number)
    if "download" in request.GET:
        body = json.dumps(rebuilt.body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        response = HttpResponse(body, content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="{found.public_id}-{number}.json"'
        return response
    context = {"nav": "audit", "run": found, "number": number, "rebuilt": rebuilt, "shown": shown(rebuilt.body)}
    if is_fragment(request):
        return render(request, "audit/_request.html", context)
    return full_page(request, "audit/request.html", context)
