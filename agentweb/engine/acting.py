"""Acting: the open calls of the last message are answered round by round, until none can go on by itself.

A round is every read that may run, together, and at most one call with side effects: those keep the model's order.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing

from agentweb.engine.digest import call_digest, preview_digest
from agentweb.engine.enums import CallStatus
from agentweb.engine.events import ApprovalRequested, Event, Step, ToolProgressed
from agentweb.engine.executing import End, Report, execute
from agentweb.engine.facts import filled
from agentweb.engine.judging import Asked, Candidate, Cleared, Held, Ruling, Settled, rule
from agentweb.engine.ports import Preview
from agentweb.engine.previewing import look_in_time, shown
from agentweb.engine.racing import Feed, unless_cancelled
from agentweb.engine.recovering import take_up
from agentweb.engine.work import Work


async def act(work: Work) -> AsyncGenerator[Step, None]:
    """Run, ask, suspend or refuse what is open. Starts are recorded before anything runs."""
    if work.may_act:
        await take_up(work)
    while work.may_act and (rulings := await _seen_again(work, await rule(work))):
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


async def _seen_again(work: Work, rulings: tuple[Ruling, ...]) -> tuple[Ruling, ...]:
    """The same rulings, but that people are asked again about what would start now and do something else than they saw.

    A call that was lost with its worker has perhaps done a part of it, so its preview proves nothing any more."""
    starts = [one for one in _startable(rulings, work.setup.sequential) if one.asks is not None]
    checked = [one.candidate for one in starts if one.candidate.entry.status is not CallStatus.STARTED]
    previews = await _previews(work, checked)
    changed = {
        one.entry.call.id: preview
        for one, preview in zip(checked, previews, strict=False)
        if one.decision is not None and preview_digest(preview) != one.decision.seen
    }
    return tuple(
        Asked(one.candidate, one.asks)
        if isinstance(one, Cleared) and one.asks is not None and one.candidate.entry.call.id in changed
        else one
        for one in rulings
    )


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
    previews = await _previews(work, [one.candidate for one in asked])
    return {
        one.candidate.entry.call.id: _request(work, one, preview) for one, preview in zip(asked, previews, strict=False)
    }


async def _previews(work: Work, candidates: list[Candidate]) -> list[Preview | None]:
    """What each call would do; all at the same time. Empty when cancelled."""
    if not candidates:
        return []
    tools = work.setup.tools
    looks = (look_in_time(one.tool, one.arguments, tools.context(one.entry.call.id)) for one in candidates)
    return await unless_cancelled(work.setup.controls, asyncio.gather(*looks)) or []


def _request(work: Work, asked: Asked, preview: Preview | None) -> ApprovalRequested:
    candidate, ask, seen = asked.candidate, asked.ask, preview_digest(preview)
    return ApprovalRequested(
        approval=work.setup.new_id(),
        call=candidate.entry.call.id,
        name=candidate.entry.tool,
        arguments=candidate.arguments,
        risk=ask.risk,
        digest=call_digest(candidate.arguments, candidate.tool.spec.digest, ask.rule, seen),
        rule=ask.rule,
        requires_comment=ask.requires_comment,
        effect=preview.effect if preview is not None else "",
        preview=shown(preview),
        replaces=candidate.entry.replaces,
        terms=ask.terms,
        definition=candidate.tool.spec.digest,
        seen=seen,
        untrusted=ask.passages,
        fact=filled(candidate.tool.spec.fact, candidate.arguments),
    )
