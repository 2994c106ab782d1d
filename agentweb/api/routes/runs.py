"""Runs: state, events, calls, and what a person may ask of them."""

from typing import Annotated

from django.http import HttpRequest, JsonResponse
from ninja import Query, Router

from agentweb.api import stream
from agentweb.api.shapes import ContinueIn, QueuedIn, ResolutionIn, ResultsIn, StopIn, call_out, queued_out, run_out
from agentweb.runs import answers, selectors, services, undoing

router = Router(tags=["runs"])


@router.get("/runs/{run_id}")
def run(request: HttpRequest, run_id: str):
    return run_out(selectors.run_for(request.user, run_id))


@router.get("/runs/{run_id}/events")
async def events(
    request: HttpRequest, run_id: str, after: str = "0", wait: Annotated[float, Query(ge=0, le=stream.MOST_WAIT)] = 0
):
    """Events behind ``after``, waiting up to ``wait`` seconds for one; with Accept: text/event-stream, live."""
    return await stream.answer(request, run_id, after, wait)


@router.get("/runs/{run_id}/calls")
def calls(request: HttpRequest, run_id: str):
    return {"items": [call_out(row) for row in selectors.calls_of(selectors.run_for(request.user, run_id))]}


@router.post("/runs/{run_id}/cancel")
def cancel(request: HttpRequest, run_id: str):
    """End the run as soon as possible. 202 the first time, 200 with the state after that."""
    found = selectors.run_for(request.user, run_id)
    first = services.cancel_run(user=request.user, run=found)
    return JsonResponse(run_out(found), status=202 if first else 200)


@router.post("/runs/{run_id}/stop")
def stop(request: HttpRequest, run_id: str, body: StopIn):
    """End the run at the next seam: after reasoning, or after acting."""
    found = selectors.run_for(request.user, run_id)
    services.stop_run(user=request.user, run=found, after=body.after)
    found.refresh_from_db()
    return JsonResponse(run_out(found), status=202)


@router.post("/runs/{run_id}/resume")
def resume(request: HttpRequest, run_id: str):
    """Let a run go on that is held since its worker was lost, where recovery is switched off."""
    found = selectors.run_for(request.user, run_id)
    services.resume_run(user=request.user, run=found)
    found.refresh_from_db()
    return JsonResponse(run_out(found), status=202)


@router.post("/runs/{run_id}/continue")
def go_on(request: HttpRequest, run_id: str, body: ContinueIn | None = None):
    """A new run that goes on where this one ended at a limit, with so many turns (without: the agent's limit)."""
    found = selectors.run_for(request.user, run_id)
    started = services.continue_run(user=request.user, run=found, turns=body.turns if body else None)
    return JsonResponse({"run": str(started.public_id)}, status=202)


@router.post("/runs/{run_id}/results")
def supply(request: HttpRequest, run_id: str, body: ResultsIn):
    """Results from outside for suspended calls. Only with the last of what is waited for may text come too; the agent
    reads it before it goes on."""
    found = selectors.run_for(request.user, run_id)
    given = [answers.Given(one.call, one.content, one.is_error) for one in body.results]
    answers.supply(user=request.user, run=found, results=given, text=body.text)
    found.refresh_from_db()
    return JsonResponse(run_out(found), status=202)


@router.post("/runs/{run_id}/calls/{call_id}/resolution")
def resolve(request: HttpRequest, run_id: str, call_id: str, body: ResolutionIn):
    """Say what became of a call whose outcome is unknown: its worker was lost after it had started."""
    found = selectors.call_in(request.user, run_id, call_id)
    answers.resolve(user=request.user, call=found, outcome=body.outcome, content=body.content, comment=body.comment)
    return call_out(found)


@router.post("/runs/{run_id}/calls/{call_id}/undo")
def undo(request: HttpRequest, run_id: str, call_id: str):
    """Take back what a call did, where its tool knows how: a new run that makes the reverse call, judged as any."""
    found = selectors.call_in(request.user, run_id, call_id)
    started = undoing.undo(user=request.user, call=found)
    return JsonResponse({"run": str(started.public_id)}, status=202)


@router.get("/runs/{run_id}/queue")
def queue(request: HttpRequest, run_id: str):
    """Steering and follow-ups that wait."""
    return {"items": [queued_out(row) for row in selectors.queue_of(selectors.run_for(request.user, run_id))]}


@router.patch("/runs/{run_id}/queue/{message_id}")
def edit(request: HttpRequest, run_id: str, message_id: str, body: QueuedIn):
    queued = selectors.queued_for(request.user, selectors.run_for(request.user, run_id), message_id)
    return queued_out(services.edit_queued(user=request.user, queued=queued, text=body.text))


@router.delete("/runs/{run_id}/queue/{message_id}")
def remove(request: HttpRequest, run_id: str, message_id: str):
    queued = selectors.queued_for(request.user, selectors.run_for(request.user, run_id), message_id)
    return queued_out(services.remove_queued(user=request.user, queued=queued))
