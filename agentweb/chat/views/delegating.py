"""Handing an approval to somebody else of the team."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from agentweb.chat.forms import text_of
from agentweb.chat.views.approvals import back_to, card_answer, of_a_call, panel_answer
from agentweb.runs import delegating
from agentweb.runs.deciders import WORDS, Why
from agentweb.runs.errors import Conflict, Forbidden, Invalid
from agentweb.runs.expiry import is_overdue
from agentweb.runs.models import Approval
from agentweb.ui.answers import changes_lists, is_fragment, page

PANEL = "chat/_hand_over.html"


@require_http_methods(["GET", "HEAD", "POST"])
@page
def approval_delegate(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """GET: to whom it may be handed. POST: hand it over."""
    approval = of_a_call(request, public_id)
    if approval.status != Approval.Status.PENDING or is_overdue(approval):
        return card_answer(request, approval, conflict=_("This call no longer waits for a decision."), status=409)
    if not approval.may_decide:
        raise Forbidden(str(WORDS[approval.why_not or Why.LOOKS_ONLY]))
    if request.method != "POST":
        return panel_answer(request, approval, PANEL, 200, people=delegating.candidates(approval))
    to, comment = request.POST.get("to", ""), text_of(request, "comment")
    try:
        delegating.hand_over(user=request.user, approval=approval, to=to, comment=comment)
    except Conflict as error:
        return card_answer(request, approval, conflict=error.text, status=409)
    except Invalid as error:
        context = {"people": delegating.candidates(approval), "problem": error.text, "typed": {"comment": comment}}
        return panel_answer(request, approval, PANEL, 422, **context)
    if not is_fragment(request):
        return back_to(request, approval)
    return changes_lists(card_answer(request, approval, focus=True))
