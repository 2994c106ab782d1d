"""Sending, and what waits in a run's inbox."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from agentweb.chat.forms import key_for_form, text_of
from agentweb.chat.views.cards import foot_context, run_footer, view_context
from agentweb.chat.views.conversations import conversation_page
from agentweb.runs import selectors, services
from agentweb.runs.errors import Conflict, Invalid, RequestError
from agentweb.runs.models import Conversation, QueuedMessage
from agentweb.runs.timeline import RunView
from agentweb.ui.answers import changes_lists, is_fragment, page


@require_POST
@page
def send(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """Take a message. The composer gets a new key, the log the new run or the queue of the one that is live."""
    shown = selectors.conversation_for(request.user, public_id)
    text = text_of(request)
    try:
        sent = services.send_message(
            user=request.user,
            conversation=shown,
            text=text,
            delivery=request.POST.get("delivery", "auto"),
            key=request.POST.get("key", ""),
        )
    except (Invalid, Conflict) as error:
        return _refused(request, shown, text, error)
    if not is_fragment(request):
        return redirect("conversation", shown.public_id)
    return _taken(request, shown, sent)


def _taken(request: HttpRequest, shown: Conversation, sent: services.Sent) -> HttpResponse:
    if sent.row is not None:
        sent.row.shown_calls = []
        context = view_context(RunView(sent.run, [sent.row]), shown, latest=sent.run)
    else:
        context = foot_context(selectors.run_for(request.user, sent.run.public_id))
    context |= {"key": key_for_form(), "began": sent.delivered == "now"}
    return changes_lists(render(request, "chat/_sent.html", context))


def _refused(request: HttpRequest, shown: Conversation, text: str, error: RequestError) -> HttpResponse:
    if is_fragment(request):
        return render(request, "chat/_composer_problem.html", {"problem": error.text}, status=422)
    return conversation_page(request, shown, problem=error.text, typed={"text": text}, status=422)


@require_POST
@page
def queued_edit(request: HttpRequest, public_id: uuid.UUID, queued_id: uuid.UUID) -> HttpResponse:
    queued = _queued(request, public_id, queued_id)
    return run_footer(
        request, queued.run, lambda: services.edit_queued(user=request.user, queued=queued, text=text_of(request))
    )


@require_POST
@page
def queued_remove(request: HttpRequest, public_id: uuid.UUID, queued_id: uuid.UUID) -> HttpResponse:
    queued = _queued(request, public_id, queued_id)
    return run_footer(request, queued.run, lambda: services.remove_queued(user=request.user, queued=queued))


@require_POST
@page
def queued_next(request: HttpRequest, public_id: uuid.UUID, queued_id: uuid.UUID) -> HttpResponse:
    """Send a message that waits for the end of the run at once."""
    queued = _queued(request, public_id, queued_id)
    return run_footer(request, queued.run, lambda: services.deliver_next(user=request.user, queued=queued))


def _queued(request: HttpRequest, public_id: uuid.UUID, queued_id: uuid.UUID) -> QueuedMessage:
    run = selectors.run_for(request.user, public_id)
    return selectors.queued_for(request.user, run, queued_id)
