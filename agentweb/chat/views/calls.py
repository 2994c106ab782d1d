"""What people say about a call itself: its result, or what became of it."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from agentweb.chat.forms import text_of
from agentweb.chat.views.cards import card_of, new_run, place_of
from agentweb.runs import answers, selectors, undoing
from agentweb.runs.errors import Conflict, Invalid
from agentweb.runs.models import Call
from agentweb.ui import schema_forms
from agentweb.ui.answers import changes_lists, full_page, is_fragment, page
from agentweb.ui.schema_forms import SchemaForm


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
    typed: dict[str, Any] = {"content": text_of(request, "content"), "is_error": request.POST.get("is_error") == "yes"}
    content, form = typed["content"], None
    if call.answer_schema is not None and not typed["is_error"]:
        form = schema_forms.read(call.answer_schema, request.POST, {})
        if form.arguments is None:
            return _card(request, call, typed=typed, form=form, status=422)
        content = form.arguments
    given = answers.Given(str(call.public_id), content, typed["is_error"])
    say = partial(answers.supply, user=request.user, run=call.run, results=[given])
    return _answer(request, call, typed, say, form)


@require_POST
@page
def call_undo(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """Take back what a call did, in a run of its own behind the others."""
    call = selectors.call_for(request.user, public_id)
    return new_run(request, call.run, lambda: undoing.undo(user=request.user, call=call))


def _answer(
    request: HttpRequest, call: Call, typed: dict[str, Any], say: Callable[[], object], form: SchemaForm | None = None
) -> HttpResponse:
    """Say it and show the card. Whoever comes too late gets it as it truly is; what was typed stays."""
    try:
        say()
    except Conflict as error:
        return _card(request, call, conflict=error.text, status=409)
    except Invalid as error:
        fields = {name.rpartition(".")[2]: words for name, words in error.errors}
        problems = {name if name in typed else "other": words for name, words in fields.items()}
        return _card(request, call, problems=problems, typed=typed, form=form, status=422)
    if is_fragment(request):
        return changes_lists(_card(request, call, focus=True))
    if place_of(request.POST.get("back")) == "inbox":
        return redirect("approvals")
    response = redirect("conversation", call.run.conversation.public_id)
    response["Location"] += f"#call-{call.public_id}"
    return response


def _card(
    request: HttpRequest,
    call: Call,
    *,
    problems: dict[str, str] | None = None,
    form: SchemaForm | None = None,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """The card as it stands, or the whole page around it where no script runs. ``form``: as it was filled in."""
    shown = selectors.call_for(request.user, call.public_id)
    card = replace(card_of(shown), problems=problems or {})
    if form is not None and card.answer is not None and card.answer.form is not None:
        card = replace(card, answer=replace(card.answer, form=form))
    context |= {"card": card, "back": place_of(request.POST.get("back"))}
    if is_fragment(request):
        return render(request, "chat/_call.html", context, status=status)
    context["conversation"] = shown.run.conversation
    return full_page(request, "chat/card.html", context, status=status)
