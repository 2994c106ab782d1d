"""The inbox of approvals beyond its list: what goes on meanwhile, who else is there, and several decisions at once."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from agentweb.chat.forms import text_of
from agentweb.runs import batches, notices, selectors, waiting
from agentweb.runs.batches import Pick
from agentweb.runs.errors import Invalid
from agentweb.runs.live import presence
from agentweb.runs.models import Approval, Call
from agentweb.runs.votes import said, shown_digest
from agentweb.teams.models import User
from agentweb.ui.answers import full_page, page
from agentweb.ui.calls import call_card, labels


@require_POST
@page
def approvals_pulse(request: HttpRequest) -> HttpResponse:
    """What has become of the approvals on a page, who else has them open, and how much waits in all.

    Posted every few seconds: ``shown`` names what is on the screen, ``at`` where the person is at work."""
    asked = [each for text in request.POST.getlist("shown")[: presence.MOST] if (each := _uuid(text))]
    rows = list(selectors.approvals_for(request.user).filter(public_id__in=asked))
    pending = [row for row in selectors.mark_decidable(request.user, rows) if row.status == row.Status.PENDING]
    names = [str(row.public_id) for row in pending]
    others = {name: _without(people, request.user) for name, people in presence.here(names).items()}
    at = request.POST.get("at", "")
    mine = [str(row.public_id) for row in pending if row.may_decide]
    presence.note(request.user.pk, {name: presence.DECIDES if name == at else presence.LOOKS for name in mine})
    return JsonResponse(
        {
            "states": {str(row.public_id): [row.status, shown_digest(row), said(row)] for row in rows},
            "here": _in_words(others),
            "count": waiting.waiting_count(request.user),
        }
    )


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _without(people: dict[int, str], user: Any) -> dict[int, str]:
    return {person: mode for person, mode in people.items() if person != user.pk}


def _in_words(others: dict[str, dict[int, str]]) -> dict[str, str]:
    """By approval, who else is there; approvals that nobody else has open are left out."""
    ids = {person for people in others.values() for person in people}
    users = {user.pk: user.display_name for user in User.objects.filter(pk__in=ids)} if ids else {}
    words = {}
    for approval, people in others.items():
        said = []
        for mode, sentence in (
            (presence.DECIDES, _("%(people)s: deciding now.")),
            (presence.LOOKS, _("%(people)s: looking at it too.")),
        ):
            if names := sorted(users[each] for each, how in people.items() if how == mode and each in users):
                said.append(sentence % {"people": ", ".join(names)})
        if said:
            words[approval] = " ".join(said)
    return words


def _with_approval(row: Approval, call: Call) -> Call:
    call.approval, call.run = row, row.run
    return call


@require_GET
@page
def approvals_together(request: HttpRequest, tool: str) -> HttpResponse:
    """The calls of one tool at low risk that wait for this person, to be decided at once."""
    rows = batches.together(request.user, tool)
    calls = [_with_approval(row, row.call) for row in rows if row.call is not None]
    names = labels(calls)
    cards = [call_card(call, names) for call in calls]
    return full_page(request, "chat/together.html", {"nav": "approvals", "cards": cards, "tool": tool})


@require_POST
@page
def approvals_decide_together(request: HttpRequest, tool: str) -> HttpResponse:
    picks = [Pick(*each.partition(" ")[::2]) for each in request.POST.getlist("pick")]
    decision, comment = request.POST.get("decision", ""), text_of(request, "comment")
    try:
        if decision == "reject" and not comment.strip():
            raise Invalid(_("Give a reason; the agent reads it."))
        decided = batches.decide_together(user=request.user, picks=picks, decision=decision, comment=comment)
    except Invalid as error:
        messages.error(request, error.text)
        return redirect("approvals_together", tool)
    words = ngettext("Decided about %(number)d call.", "Decided about %(number)d calls.", decided.done)
    messages.info(request, words % {"number": decided.done})
    for text in dict.fromkeys(decided.others):
        messages.warning(request, text)
    return redirect("approvals")


@require_POST
@page
def approvals_mail(request: HttpRequest) -> HttpResponse:
    """Whether this person wants a mail about what has waited for long."""
    notices.wish(user=request.user, mail=request.POST.get("mail") == "on")
    return redirect("approvals")
