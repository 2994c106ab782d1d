"""Acting: the open calls of the last message are answered round by round, until none can go on by itself.

A round is every read that may run, together, and at most one call with side effects: those keep the model's order.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing

from agentweb.engine import sentences
from agentweb.engine.digest import call_digest
from agentweb.engine.events import ApprovalRequested, Event, Step, ToolProgressed
from agentweb.engine.executing import End, Report, execute
from agentweb.engine.judging import Asked, Candidate, Cleared, Held, Ruling, Settled, rule
from agentweb.engine.messages import Json
from agentweb.engine.ports import Preview, ToolError
from agentweb.engine.racing import Feed, unless_cancelled
from agentweb.engine.recovering import take_up
from agentweb.engine.work import Work

logger = logging.getLogger(__name__)
PREVIEW_S = 10.0  # a preview that takes longer is left out, since people wait for the card


async def act(work: Work) -> AsyncGenerator[Step, None]:
    """Run, ask, suspend or refuse what is open. Starts are recorded before anything runs."""
    if work.may_act:
        await take_up(work)
    while work.may_act and (rulings := await rule(work)):
        asked = [one for one in rulings if isinstance(one, Asked)]
        if asked and work.pending:
            yield work.take()  # results do not wait for previews
        requests = await _requests(work, asked)
        if not work.may_act:
            return
        starts = _startable(rulings, work.setup.sequential)
        for one in rulings:
            work.add(*_events(one, requests, started=one in starts))
        if not starts:
            return
        yield work.take()
        if work.cancelled:
            return
        async with aclosing(_round(work, [one.candidate for one in starts])) as steps:
            async for step in steps:
                yield step


def _startable(rulings: Iterable[Ruling], sequential: bool) -> list[Cleared]:
    """Reads wait for nobody; a call with side effects waits for every such call before it, whatever that waits for."""
    starts: list[Cleared] = []
    held = False
    for one in rulings:
        if isinstance(one, Settled):
            continue
        waits_for_none = one.reads and not sequential
        if isinstance(one, Cleared) and (waits_for_none or not held):
            starts.append(one)
        held = held or not waits_for_none
    return starts


def _events(ruling: Ruling, requests: Mapping[str, ApprovalRequested], *, started: bool) -> tuple[Event, ...]:
    match ruling:
        case Settled(events=events) | Held(events=events):
            return events
        case Asked(candidate=candidate):
            return (*candidate.events, requests[candidate.entry.call.id])
        case Cleared(candidate=candidate):
            return (*candidate.events, ruling.start) if started else candidate.events


async def _round(work: Work, candidates: list[Candidate]) -> AsyncGenerator[Step, None]:
    """Run calls side by side. All but the last results are recorded as they come; the last go with what follows."""
    feed = Feed[Report](work.setup.controls)
    async with feed:
        for one in candidates:
            feed.start(execute(work, one, feed.put))
        running = len(candidates)
        while running and not work.cancelled:
            for report in await feed.take():
                if isinstance(report, ToolProgressed):
                    yield report
                else:
                    work.add(report)
                    running -= isinstance(report, End)
            if running and work.pending:
                yield work.take()
    # Cancelled: what ended in the meantime keeps its real result, the rest is closed with the run.
    work.add(*(report for report in feed.rest() if not isinstance(report, ToolProgressed)))


async def _requests(work: Work, asked: list[Asked]) -> dict[str, ApprovalRequested]:
    """By call id, what to ask people; previews are made at the same time. Incomplete only when cancelled."""
    if not asked:
        return {}
    previews = await unless_cancelled(
        work.setup.controls, asyncio.gather(*(_preview(work, one.candidate) for one in asked))
    )
    return {
        one.candidate.entry.call.id: _request(work, one, preview)
        for one, preview in zip(asked, previews or [], strict=False)
    }


def _request(work: Work, asked: Asked, preview: Preview | None) -> ApprovalRequested:
    candidate, ask = asked.candidate, asked.ask
    shown: Mapping[str, Json] | None = None
    if preview is not None and preview.kind:
        shown = {"kind": preview.kind, "data": dict(preview.data)}
    return ApprovalRequested(
        approval=work.setup.new_id(),
        call=candidate.entry.call.id,
        name=candidate.entry.call.name,
        arguments=candidate.arguments,
        risk=ask.risk,
        digest=call_digest(candidate.arguments, candidate.tool.spec.digest, ask.rule),
        rule=ask.rule,
        requires_comment=ask.requires_comment,
        effect=preview.effect if preview is not None else "",
        preview=shown,
        replaces=candidate.entry.approval,
        terms=ask.terms,
    )


async def _preview(work: Work, candidate: Candidate) -> Preview | None:
    """What the call would do, or a sentence that nobody knows: a failed preview must not keep people from deciding."""
    try:
        context = work.setup.tools.context(candidate.entry.call.id)
        preview = asyncio.to_thread(candidate.tool.preview, candidate.arguments, context)
        return await asyncio.wait_for(preview, PREVIEW_S)
    except ToolError as error:
        return Preview(str(error))
    except Exception:
        logger.warning("The tool %s has no preview for a call", candidate.entry.call.name, exc_info=True)
        return Preview(sentences.NO_PREVIEW)
