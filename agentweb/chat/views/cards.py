"""The parts of a conversation, one by one, as the page fetches them when they changed; and what is done to a run."""

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from agentweb.runs import selectors, services, taint, totals
from agentweb.runs.errors import Conflict, Invalid, RequestError
from agentweb.runs.models import Call, Conversation, Run
from agentweb.runs.timeline import RunView, foot_of, whole_run
from agentweb.ui.answers import changes_lists, full_page, is_fragment, page
from agentweb.ui.calls import CallCard, labels
from agentweb.ui.timeline import one_card, run_parts


@require_GET
@page
def card_message(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    message = selectors.message_for(request.user, public_id)
    context = {"message": message, "agent_name": message.conversation.agent.name}
    return render(request, "chat/_message.html", context)


@require_GET
@page
def card_call(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    call = selectors.call_for(request.user, public_id)
    return render(request, "chat/_call.html", {"card": card_of(call), "back": place_of(request.GET.get("back"))})


def card_of(call: Call) -> CallCard:
    return one_card(call, call.message, labels([call]))


def place_of(text: str | None) -> str:
    """Where a decision leads back to: the inbox, or (empty) the conversation."""
    return "inbox" if text == "inbox" else ""


@require_GET
@page
def call_result(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """The whole result of a call, to be kept and never shown in place."""
    call = selectors.call_for(request.user, public_id)
    response = HttpResponse(call.result_full or call.result or "", content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{call.public_id}.txt"'
    return response


@require_GET
@page
def card_run(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """The footer of a run, or with ``part=section`` the whole run."""
    run = selectors.run_for(request.user, public_id)
    if request.GET.get("part") == "section":
        response = render(request, "chat/_run.html", run_context(run))
    else:
        response = render(request, "chat/_run_state.html", foot_context(run))
    return changes_lists(response) if run.status in (Run.Status.WAITING, Run.Status.FINISHED) else response


@require_GET
@page
def run_spent(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """What a run has spent, turn by turn, and the whole conversation with it."""
    run = selectors.run_for(request.user, public_id)
    conversation = run.conversation
    messages = list(run.messages.only("public_id", "role", "status", "turn", "usage"))
    context = {
        "run": run,
        "conversation": conversation,
        "turns": totals.of_turns(messages),
        "window": totals.window_after(run, messages),
        "whole": totals.of_conversation(conversation),
    }
    if is_fragment(request):
        return render(request, "chat/_spent.html", context)
    return full_page(request, "chat/spent.html", context)


def run_context(run: Run) -> dict[str, Any]:
    """One run for the templates, as it is now."""
    conversation = run.conversation
    return view_context(whole_run(run), conversation, latest=selectors.latest_run(conversation))


def foot_context(run: Run) -> dict[str, Any]:
    """The footer of a run that was just read."""
    conversation = run.conversation
    latest = None if run.live else selectors.latest_run(conversation)  # a live run offers no new one
    return view_context(foot_of(run), conversation, latest=latest)


def view_context(view: RunView, conversation: Conversation, *, latest: Run | None) -> dict[str, Any]:
    (part,) = run_parts([view], may=conversation.may, latest=latest)
    return {"view": part, "conversation": conversation, "agent_name": conversation.agent.name}


def run_footer(request: HttpRequest, run: Run, change: Callable[[], object]) -> HttpResponse:
    """Do something to a run and show how it stands then; a conflict is shown beside the true state."""
    problem, status = "", 200
    try:
        change()
    except (Conflict, Invalid) as error:
        problem, status = error.text, 409
        if not is_fragment(request):
            raise
    if not is_fragment(request):
        return redirect("conversation", run.conversation.public_id)
    return _footer(request, run, problem, status)


def _footer(request: HttpRequest, run: Run, problem: str = "", status: int = 200) -> HttpResponse:
    now = selectors.run_for(request.user, run.public_id)
    return render(request, "chat/_run_state.html", foot_context(now) | {"conflict": problem}, status=status)


@require_POST
@page
def run_cancel(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    run = selectors.run_for(request.user, public_id)
    return run_footer(request, run, lambda: services.cancel_run(user=request.user, run=run))


@require_POST
@page
def run_stop(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    run = selectors.run_for(request.user, public_id)
    after = request.POST.get("after", "")
    return run_footer(request, run, lambda: services.stop_run(user=request.user, run=run, after=after))


@require_POST
@page
def run_clear(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """A person vouches for the untrusted text that was read in the run's conversation until now."""
    run = selectors.run_for(request.user, public_id)
    shown = request.POST.get("shown", "")
    return run_footer(request, run, lambda: taint.clear(user=request.user, conversation=run.conversation, shown=shown))


@require_POST
@page
def run_resume(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """Let a run go on that is held since its worker was lost."""
    run = selectors.run_for(request.user, public_id)
    return run_footer(request, run, lambda: services.resume_run(user=request.user, run=run))


@require_POST
@page
def run_retry(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """Try again: the new run is put behind the old one."""
    run = selectors.run_for(request.user, public_id)
    return new_run(request, run, lambda: services.retry_run(user=request.user, run=run))


@require_POST
@page
def run_continue(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """Go on after a limit, with as many turns as the button says."""
    run = selectors.run_for(request.user, public_id)
    turns = request.POST.get("turns", "")
    more = int(turns) if turns.isdecimal() else None
    return new_run(request, run, lambda: services.continue_run(user=request.user, run=run, turns=more))


def new_run(request: HttpRequest, run: Run, start: Callable[[], Run]) -> HttpResponse:
    """Start a run and show it behind the others; a conflict is shown at the old one."""
    try:
        started = start()
    except (Conflict, Invalid) as error:
        return _not_again(request, run, error)
    if not is_fragment(request):
        return redirect("conversation", run.conversation.public_id)
    new, old = (selectors.run_for(request.user, each.public_id) for each in (started, run))
    context = foot_context(old) | {"new": run_context(new)["view"]}
    return changes_lists(render(request, "chat/_retried.html", context))


def _not_again(request: HttpRequest, run: Run, error: RequestError) -> HttpResponse:
    if not is_fragment(request):
        raise error
    return _footer(request, run, error.text, 409)
