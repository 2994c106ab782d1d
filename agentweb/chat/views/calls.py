"""What people say about a call itself: its result, or what became of it."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from agentweb.chat.forms import text_of
from agentweb.chat.views.cards import card_of, place_of
from agentweb.runs import answers, selectors
from agentweb.runs.errors import Conflict, Invalid
from agentweb.runs.models import Call
from agentweb.ui.answers import changes_lists, full_page, is_fragment, page


@require_POST
@page
def call_resolve(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """Done, not done, or not known."""
    call = selectors.call_for(request.user, public_id)
    typed = {name: text_of(request, name) for name in ("content", "comment")}
    outcome = request.POST.get("outcome", "")
    return _answer(
        request, call, typed, lambda: answers.resolve(user=request.user, call=call, outcome=outcome, **typed)
    )


@require_POST
@page
def call_supply(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """The result of a suspended call."""
    call = selectors.call_for(request.user, public_id)
    typed = {"content": text_of(request, "content"), "is_error": request.POST.get("is_error") == "yes"}
    given = answers.Given(str(call.public_id), **typed)
    return _answer(request, call, typed, lambda: answers.supply(user=request.user, run=call.run, results=[given]))


def _answer(request: HttpRequest, call: Call, typed: dict[str, Any], say: Callable[[], object]) -> HttpResponse:
    """Say it and show the card. Whoever comes too late gets it as it truly is; what was typed stays."""
    try:
        say()
    except Conflict as error:
        return _card(request, call, conflict=error.text, status=409)
    except Invalid as error:
        fields = {name.rpartition(".")[2]: words for name, words in error.errors}
        problems = {name if name in typed else "other": words for name, words in fields.items()}
        return _card(request, call, problems=problems, typed=typed, status=422)
    if is_fragment(request):
        return changes_lists(_card(request, call, focus=True))
    if place_of(request.POST.get("back")) == "inbox":
        return redirect("approvals")
    response = redirect("conversation", call.run.conversation.public_id)
    response["Location"] += f"#call-{call.public_id}"
    return response


def _card(
    request: HttpRequest, call: Call, *, problems: dict[str, str] | None = None, status: int = 200, **context: Any
) -> HttpResponse:
    """The card as it stands, or the whole page around it where no script runs."""
    shown = selectors.call_for(request.user, call.public_id)
    card = replace(card_of(shown), problems=problems or {})
    context |= {"card": card, "back": place_of(request.POST.get("back"))}
    if is_fragment(request):
        return render(request, "chat/_call.html", context, status=status)
    context["conversation"] = shown.run.conversation
    return full_page(request, "chat/card.html", context, status=status)
