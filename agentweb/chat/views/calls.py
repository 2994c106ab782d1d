"""What people say about a call itself: what became of one whose outcome is unknown."""

import uuid
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
    """Done, not done, or not known. Whoever comes too late gets the card as it truly is."""
    call = selectors.call_for(request.user, public_id)
    typed = {name: text_of(request, name) for name in ("content", "comment")}
    try:
        answers.resolve(user=request.user, call=call, outcome=request.POST.get("outcome", ""), **typed)
    except Conflict as error:
        return _card(request, call, conflict=error.text, status=409)
    except Invalid as error:
        problems = {name if name in typed else "other": words for name, words in error.errors}
        return _card(request, call, problems=problems, typed=typed, status=422)
    if is_fragment(request):
        return changes_lists(_card(request, call, focus=True))
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
