"""Deciding about calls: on the card, with changed arguments, and from the inbox of all that waits."""

import uuid
from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agentweb.chat.forms import text_of
from agentweb.chat.views.cards import card_of, place_of
from agentweb.chat.views.grants import wish_of
from agentweb.engine.enums import DecisionKind
from agentweb.runs import decisions, looking, notices, selectors, votes, waiting
from agentweb.runs.deciders import WORDS, Why
from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound
from agentweb.runs.expiry import is_overdue
from agentweb.runs.models import Approval, Call
from agentweb.schema.json_text import JsonError, canonical, parse_json
from agentweb.schema.problems import render as render_problem
from agentweb.ui import schema_forms
from agentweb.ui.answers import changes_lists, full_page, is_fragment, page
from agentweb.ui.calls import approval_part, labels
from agentweb.ui.diffs import argument_changes
from agentweb.ui.questions import question_card
from agentweb.ui.timeline import one_card

INBOX = 100
FORM = "chat/_modify_form.html"


@require_GET
@page
def approvals(request: HttpRequest) -> HttpResponse:
    """What waits for this person: first the calls that only people can settle, then the riskiest of the rest.

    With ``show=decided``: what was decided last."""
    show = "decided" if request.GET.get("show") == "decided" else "waiting"
    cards = _inbox(request, show)
    context = {
        "nav": "approvals",
        "show": show,
        "cards": cards,
        "groups": _groups(cards),
        "mail": notices.wants_mail(request.user),
    }
    return full_page(request, "chat/approvals.html", context)


def _groups(items: list[dict[str, Any]]) -> list[tuple[str, int, str]]:
    """Tools of which several calls at low risk are listed: name, how many, label."""
    cards = [item["card"] for item in items if "card" in item]
    light = [card for card in cards if card.approval and card.approval.open and not card.approval.high]
    found = Counter((card.row.name, card.label) for card in light if card.approval.row.risk == "low")
    return [(name, number, label) for (name, label), number in found.items() if number > 1]


def _inbox(request: HttpRequest, show: str) -> list[dict[str, Any]]:
    if show == "decided":
        found = selectors.approvals_for(request.user).exclude(decided_by=None).order_by("-decided_at")
        rows = selectors.mark_decidable(request.user, found.select_related("call__message")[:INBOX])
        lost: list[Call] = []
    else:
        rows, lost = waiting.inbox(request.user, INBOX)
    asked = [row.call for row in rows if row.call is not None]
    names = labels([*asked, *lost])
    return [_call_item(call, names, call.started_at) for call in lost] + [_item(row, names) for row in rows]


def _item(row: Approval, names: dict[str, str]) -> dict[str, Any]:
    if row.call is None:
        item = {"since": row.created_at, "conversation": row.run.conversation}
        return item | {"question": question_card(row), "anchor": f"question-{row.public_id}"}
    row.call.approval, row.call.run = row, row.run
    return _call_item(row.call, names, row.created_at)


def _call_item(call: Call, names: dict[str, str], since: datetime | None) -> dict[str, Any]:
    card = one_card(call, call.message, names)
    return {"since": since, "conversation": call.run.conversation, "card": card, "anchor": f"call-{call.public_id}"}


@require_GET
@page
def approvals_count(request: HttpRequest) -> HttpResponse:
    place = "top" if request.GET.get("place") == "top" else "side"
    return render(request, "chat/_count.html", {"place": place})


@require_POST
@page
def approval_decide(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """One decision. Whoever comes too late, or left something out, gets the card as it truly is."""
    approval = of_a_call(request, public_id)
    kind = request.POST.get("decision", "")
    try:
        _complete(request, approval, kind)
        decisions.decide(
            user=request.user,
            approval=approval,
            decision=kind,
            digest=request.POST.get("digest", ""),
            arguments=_posted_arguments(request) if kind == DecisionKind.MODIFY else None,
            comment=text_of(request, "comment"),
            response=text_of(request, "response"),
            seen=request.POST.get("seen"),
            remember=wish_of(request),
        )
    except looking.Changed as error:
        return _preview_again(request, approval, Invalid(error.text))
    except Conflict as error:
        return card_answer(request, approval, conflict=error.text, status=409)
    except Invalid as error:
        return _refused(request, approval, kind, error)
    if not is_fragment(request):
        return back_to(request, approval)
    return changes_lists(card_answer(request, approval, focus=True))


@require_POST
@page
def approval_look(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """Show anew what the call would do; the card says so when that has changed."""
    approval = of_a_call(request, public_id)
    try:
        changed = looking.look_again(approval=approval)
    except Conflict as error:
        return card_answer(request, approval, conflict=error.text, status=409)
    if not is_fragment(request):
        return back_to(request, approval)
    words = _("The call would do something else by now. What you see is how it stands.")
    return card_answer(request, approval, conflict=words if changed else "")


def of_a_call(request: HttpRequest, public_id: uuid.UUID) -> Approval:
    approval = selectors.approval_for(request.user, public_id)
    if approval.call is None:
        raise NotFound(_("There is no such approval, or it is not yours to see."))
    return approval


def _call_id(approval: Approval) -> uuid.UUID:
    assert approval.call is not None
    return approval.call.public_id


def _complete(request: HttpRequest, approval: Approval, kind: str) -> None:
    """What a page asks for beyond the rules for programs. Raises Invalid, with all that is missing."""
    missing = []
    commented = bool(text_of(request, "comment").strip())
    if kind == DecisionKind.REJECT and not commented:
        missing.append(("comment", _("Give a reason; the agent reads it.")))
    if kind in (DecisionKind.APPROVE, DecisionKind.MODIFY):
        if approval.requires_comment and not commented:
            missing.append(("comment", _("A comment is required at this risk level.")))
        if _is_high(approval) and request.POST.get("checked") != "yes":
            missing.append(("checked", _("Tick this first: at high risk you must have looked at the call.")))
    if missing:
        raise Invalid(missing[0][1], missing)


def _is_high(approval: Approval) -> bool:
    return approval.requires_comment or approval.risk == "high"


def _posted_arguments(request: HttpRequest) -> Any:
    try:
        return parse_json(request.POST.get("arguments", ""))
    except JsonError as error:
        raise Invalid(render_problem(error.keyword, error.params, _), []) from error


def _refused(request: HttpRequest, approval: Approval, kind: str, error: Invalid) -> HttpResponse:
    """The same form again, with the errors at their fields and all that was typed."""
    if kind == DecisionKind.MODIFY:
        return _preview_again(request, approval, error)
    problems: dict[str, str] = {}
    for field, words in error.errors or [("", error.text)]:
        name = "reason" if field == "comment" and kind == DecisionKind.REJECT else field
        problems[name if name in ("comment", "checked", "reason", "response") else "other"] = words
    comment = text_of(request, "comment")
    typed = {
        "comment": comment if kind != DecisionKind.REJECT else "",
        "reason": comment if kind == DecisionKind.REJECT else "",
        "response": text_of(request, "response"),
        "checked": request.POST.get("checked") == "yes",
    }
    return card_answer(request, approval, problems=problems, typed=typed, status=422)


def card_answer(
    request: HttpRequest,
    approval: Approval,
    *,
    problems: dict[str, str] | None = None,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """The call's card as it stands, or the whole page around it where no script runs."""
    call = selectors.call_for(request.user, _call_id(approval))
    card = replace(card_of(call), problems=problems or {})
    context |= {"card": card, "back": place_of(request.POST.get("back"))}
    if is_fragment(request):
        return render(request, "chat/_call.html", context, status=status)
    context["conversation"] = call.run.conversation
    return full_page(request, "chat/card.html", context, status=status)


def back_to(request: HttpRequest, approval: Approval) -> HttpResponse:
    if place_of(request.POST.get("back")) == "inbox":
        return redirect("approvals")
    response = redirect("conversation", approval.run.conversation.public_id)
    response["Location"] += f"#call-{_call_id(approval)}"
    return response


# --- changing the arguments -----------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@page
def approval_modify(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """GET: a form made from the tool's schema. POST: what would change, or the form again (``step=edit``, errors)."""
    approval = of_a_call(request, public_id)
    if not approval.may_decide:
        raise Forbidden(str(WORDS[approval.why_not or Why.LOOKS_ONLY]))
    if approval.status != Approval.Status.PENDING or is_overdue(approval):
        return card_answer(request, approval, conflict=_("This call no longer waits for a decision."), status=409)
    schema = decisions.parameters(approval)
    if request.method != "POST":
        return _form(request, approval, schema_forms.show(schema, votes.shown_arguments(approval)))
    if request.POST.get("step") == "edit":
        return _form(request, approval, schema_forms.show(schema, _object(_posted_arguments(request))))
    form = schema_forms.read(schema, request.POST, votes.shown_arguments(approval))
    if form.arguments is None:
        return _form(request, approval, form, status=422)
    return _preview(request, approval, form.arguments)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Invalid(_("The arguments must be a JSON object."), [])
    return value


def _form(request: HttpRequest, approval: Approval, form: schema_forms.SchemaForm, status: int = 200) -> HttpResponse:
    return panel_answer(request, approval, FORM, status, form=form)


def _preview(request: HttpRequest, approval: Approval, arguments: Any, status: int = 200, **more: Any) -> HttpResponse:
    changes = argument_changes(approval.arguments, arguments)
    look = looking.look_at(approval, arguments)
    shown = approval_part(Approval(arguments=arguments, risk=approval.risk, effect=look.effect, preview=look.preview))
    context = {"changes": changes, "arguments_json": canonical(arguments), "would": shown, "seen": look.seen, **more}
    return panel_answer(request, approval, "chat/_modify_preview.html", status, **context)


def _preview_again(request: HttpRequest, approval: Approval, error: Invalid) -> HttpResponse:
    """Approving with changes was not possible: the changes again, or the form when the arguments are the trouble."""
    typed = {"comment": text_of(request, "comment")}
    words = [message for _field, message in error.errors] or [error.text]
    schema = decisions.parameters(approval)
    try:
        arguments = _object(_posted_arguments(request))
    except Invalid as unreadable:
        form = schema_forms.show(schema, votes.shown_arguments(approval))
        return panel_answer(request, approval, FORM, 422, form=form, problems=[unreadable.text])
    if problems := schema_forms.problems_of(schema, arguments):
        return _form(request, approval, schema_forms.show(schema, arguments, problems), status=422)
    return _preview(request, approval, arguments, status=422, problems=words, typed=typed)


def panel_answer(request: HttpRequest, approval: Approval, panel: str, status: int, **context: Any) -> HttpResponse:
    card = card_of(selectors.call_for(request.user, _call_id(approval)))
    fragment = is_fragment(request)
    context |= {
        "panel": panel,
        "in_place": fragment,
        "card": card,
        "part": card.approval,
        "row": approval,
        "conversation": approval.run.conversation,
        "back": place_of(request.POST.get("back") or request.GET.get("back")),
    }
    if fragment:
        return render(request, panel, context, status=status)
    return full_page(request, "chat/modify.html", context, status=status)
