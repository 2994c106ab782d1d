"""Remembered approvals: what one would cover, where they are listed, and how they are revoked."""

import uuid
from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from agentweb.chat.views.cards import card_of, place_of
from agentweb.runs import granted, grants, selectors
from agentweb.runs.errors import Conflict, Forbidden, NotFound
from agentweb.runs.models import Approval, Grant
from agentweb.ui.answers import full_page, is_fragment, page
from agentweb.ui.grants import grant_lines, offer

LONGEST_HOURS = 30 * 24


@require_safe
@page
def approval_remember(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """What a remembered approval would cover, in words, with one button for each scope."""
    approval = selectors.approval_for(request.user, public_id)
    if approval.call is None:
        raise NotFound(_("There is no such approval, or it is not yours to see."))
    if not approval.may_decide:
        raise Forbidden(_("You may not decide about this call."))
    if approval.status != Approval.Status.PENDING:
        raise Conflict(_("This call no longer waits for a decision."), {"status": approval.status})
    card = card_of(selectors.call_for(request.user, approval.call.public_id))
    context = {
        "panel": "chat/_remember.html",
        "in_place": is_fragment(request),
        "card": card,
        "part": card.approval,
        "row": approval,
        "offer": offer(request.user, approval, card.label),
        "conversation": approval.run.conversation,
        "back": place_of(request.GET.get("back")),
    }
    if is_fragment(request):
        return render(request, "chat/_remember.html", context)
    return full_page(request, "chat/remember.html", context)


def wish_of(request: HttpRequest) -> grants.Wish | None:
    """How the person wants the approval to be remembered, if at all."""
    scope = request.POST.get("remember", "")
    if not scope:
        return None
    hours = request.POST.get("hours", "")
    until = None
    if scope == Grant.Scope.PERSON and hours.isascii() and hours.isdigit() and 0 < int(hours[:6]) <= LONGEST_HOURS:
        until = timezone.now() + timedelta(hours=int(hours[:6]))
    return grants.Wish(scope, until, request.POST.get("vary") == "yes", tuple(request.POST.getlist("free")))


@require_safe
@page
def conversation_grants(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    conversation = selectors.conversation_for(request.user, public_id)
    lines = grant_lines(granted.grants_in(request.user, conversation))
    return full_page(request, "chat/grants.html", {"conversation": conversation, "lines": lines})


@require_safe
@page
def own_grants(request: HttpRequest) -> HttpResponse:
    lines = grant_lines(granted.grants_by(request.user))
    return full_page(request, "chat/grants.html", {"nav": "approvals", "lines": lines})


@require_POST
@page
def grant_revoke(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    grant = granted.grant_for(request.user, public_id)
    grants.revoke(user=request.user, grant=grant)
    if request.POST.get("back") == "own":
        return redirect("grants")
    return redirect("conversation_grants", grant.run.conversation.public_id)
