"""Questions about a run as a whole: their cards, and the answers of people."""

import uuid
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from agentweb.chat.forms import text_of
from agentweb.chat.views.cards import place_of
from agentweb.engine.enums import DecisionKind
from agentweb.runs import decisions, selectors
from agentweb.runs.errors import Conflict, Invalid, NotFound
from agentweb.runs.models import Approval
from agentweb.schema.json_text import JsonError, parse_json
from agentweb.ui.answers import changes_lists, full_page, is_fragment, page
from agentweb.ui.questions import question_card

CHOICES = ("compact", "cheaper")  # what may come with more of a budget


@require_GET
@page
def card_question(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    context = {"question": question_card(_question(request, public_id)), "back": place_of(request.GET.get("back"))}
    return render(request, "chat/_question.html", context)


@require_POST
@page
def question_decide(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """One answer. Whoever comes too late gets the card as it truly is; what was typed stays."""
    row = _question(request, public_id)
    typed = {name: text_of(request, name) for name in ("comment", "amount", *CHOICES)}
    try:
        decisions.decide(
            user=request.user,
            approval=row,
            **_decision(request, row),
            digest=request.POST.get("digest", ""),
            comment=typed["comment"],
        )
    except Conflict as error:
        return _card(request, public_id, conflict=error.text, status=409)
    except Invalid as error:
        fields = {"amount" if name == "amount" else "other": words for name, words in error.errors}
        problems = fields or {"other": error.text}
        return _card(request, public_id, problems=problems, typed=typed, status=422)
    if is_fragment(request):
        return changes_lists(_card(request, public_id, focus=True))
    if place_of(request.POST.get("back")) == "inbox":
        return redirect("approvals")
    response = redirect("conversation", row.run.conversation.public_id)
    response["Location"] += f"#question-{row.public_id}"
    return response


def _decision(request: HttpRequest, row: Approval) -> dict[str, Any]:
    """Yes to what is offered, or to another amount. Raises Invalid for one that is no number."""
    decision, amount = request.POST.get("decision", ""), request.POST.get("amount", "").strip()
    if decision != DecisionKind.APPROVE or "amount" not in row.arguments:
        return {"decision": decision}
    try:
        number = parse_json(amount) if amount else row.arguments["amount"]
    except JsonError as error:
        words = _("Enter a number.")
        raise Invalid(words, [("amount", words)]) from error
    choices = {name: request.POST.get(name) == "yes" for name in CHOICES if name in row.arguments}
    wanted = {**row.arguments, "amount": number, **choices}
    if wanted == row.arguments:
        return {"decision": decision}
    return {"decision": DecisionKind.MODIFY, "arguments": wanted}


def _question(request: HttpRequest, public_id: uuid.UUID) -> Approval:
    row = selectors.approval_for(request.user, public_id)
    if row.call is not None:
        raise NotFound(_("There is no such question."))
    return row


def _card(
    request: HttpRequest,
    public_id: uuid.UUID,
    *,
    problems: dict[str, str] | None = None,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    row = _question(request, public_id)
    question = replace(question_card(row), problems=problems or {})
    context |= {"question": question, "back": place_of(request.POST.get("back"))}
    if is_fragment(request):
        return render(request, "chat/_question.html", context, status=status)
    context["conversation"] = row.run.conversation
    return full_page(request, "chat/question.html", context, status=status)
