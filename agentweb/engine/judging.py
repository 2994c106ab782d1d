"""What may happen to each open call: settled without running, held for someone, to be asked about, or cleared to run.

Decisions that people made and the policy in force now are both looked at here, right before anything starts.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from agentweb.engine import sentences
from agentweb.engine.closing import after_failures, decided
from agentweb.engine.digest import call_digest, canonical
from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import CallStatus, DecisionKind, ResultKind
from agentweb.engine.events import ArgumentsRewritten, Event, OutcomeUnknown, ToolFinished, ToolStarted
from agentweb.engine.extending import before_tool
from agentweb.engine.messages import Json, ToolCall, ToolResult
from agentweb.engine.ports import Allow, Ask, Decision, Deny, Tool, Verdict
from agentweb.engine.seams import Point
from agentweb.engine.work import Work

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settled:
    """The call gets its result without running."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """The call waits for someone outside."""

    reads: bool
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A call that could run with ``arguments``; ``decision`` is a person's consent, if there is one.

    ``events`` take that decision up. ``changed_by``: an extension that has just changed the arguments."""

    entry: CallEntry
    tool: Tool
    arguments: Mapping[str, Json]
    decision: Decision | None
    events: tuple[Event, ...]
    changed_by: str = ""

    @property
    def reads(self) -> bool:
        return self.tool.spec.reads

    @property
    def shown(self) -> Mapping[str, Json]:
        return self.arguments if self.entry.shown is None else self.entry.shown


@dataclass(frozen=True, slots=True)
class Asked:
    """People must be asked first."""

    candidate: Candidate
    ask: Ask

    @property
    def reads(self) -> bool:
        return self.candidate.reads


@dataclass(frozen=True, slots=True)
class Cleared:
    """The call may start as soon as its turn comes. ``asks``: what people were asked, and agreed to."""

    candidate: Candidate
    rule: str
    asks: Ask | None = None
    grant: str = ""
    untrusted: bool = False

    @property
    def reads(self) -> bool:
        return self.candidate.reads

    @property
    def start(self) -> ToolStarted:
        entry, arguments = self.candidate.entry, self.candidate.arguments
        attempt = entry.attempt + 1
        return ToolStarted(
            entry.call.id, entry.tool, arguments, self.rule, attempt, self.grant, untrusted=self.untrusted
        )


Ruling = Settled | Held | Asked | Cleared


async def rule(work: Work) -> tuple[Ruling, ...]:
    """One ruling per open call, in the order the model asked. All verdicts come from one look at the policy."""
    sorted_calls = [_sort(work, entry) for entry in work.transcript.open_calls()]
    if work.setup.seams.at(Point.BEFORE_TOOL):
        sorted_calls = [await _extended(work, one) for one in sorted_calls]
    verdicts = await _verdicts(work, [one for one in sorted_calls if isinstance(one, Candidate)])
    return tuple(
        _rule(one, *verdicts[one.entry.call.id]) if isinstance(one, Candidate) else one for one in sorted_calls
    )


def _sort(work: Work, entry: CallEntry) -> Settled | Held | Candidate:
    """What can be said about a call before the policy is asked."""
    tool = work.setup.tools.find(entry.tool)
    if entry.waits:
        return Held(reads=_reads(tool))
    decision = _applicable(entry)
    match decision:
        case None if entry.expired and entry.status is CallStatus.WAITING:
            return _settled(entry, ResultKind.EXPIRED, sentences.EXPIRED, CallStatus.EXPIRED)
        case Decision(kind=DecisionKind.REJECT, by=by, comment=reason):
            return _settled(entry, ResultKind.REJECTED, sentences.rejected(by, reason), CallStatus.REJECTED)
        case Decision(kind=DecisionKind.RESPOND, by=by, response=response):
            return _settled(entry, ResultKind.ANSWERED, sentences.answered(by, response))
    if entry.status is CallStatus.STARTED and not (tool and tool.spec.repeatable):
        # Lost with its worker, and nobody was asked what became of it: whatever else happens, it does not run now.
        return Held(_reads(tool), (OutcomeUnknown(entry.call.id, entry.tool),))
    return _examined(work, entry, tool, decision)


async def _extended(work: Work, one: Settled | Held | Candidate) -> Settled | Held | Candidate:
    """The call as extensions leave it. Consent was given to other arguments when they change some."""
    if not isinstance(one, Candidate):
        return one
    entry = one.entry
    looked = await before_tool(work, entry.as_sent, one.tool.spec, one.arguments)
    if looked.blocked:
        return _settled(entry, ResultKind.DENIED, looked.blocked)
    if looked.arguments == one.arguments:
        return one
    if problems := one.tool.problems(looked.arguments):
        return _settled(entry, ResultKind.INVALID_ARGUMENTS, sentences.wrong_arguments(problems, looked.by))
    rewritten = ArgumentsRewritten(entry.call.id, entry.tool, looked.by, looked.arguments)
    return replace(
        one, arguments=looked.arguments, decision=None, events=(*one.events, rewritten), changed_by=looked.by
    )


def _applicable(entry: CallEntry) -> Decision | None:
    """The decision that speaks about the call as it stands now: consent does not outlive the start it was given for."""
    return None if entry.taken and entry.status is CallStatus.OPEN else entry.decision


def _examined(work: Work, entry: CallEntry, tool: Tool | None, decision: Decision | None) -> Settled | Candidate:
    """Whether there is such a tool and its arguments are sound."""
    call = entry.call
    if call.invalid is not None or call.arguments is None:
        form = canonical(tool.spec.parameters) if tool is not None else ""
        return _settled(entry, ResultKind.INVALID_ARGUMENTS, sentences.invalid(call.invalid, call.detail, form))
    if tool is None:
        names = (spec.name for spec in work.setup.tools.specs)
        return _settled(entry, ResultKind.UNKNOWN_TOOL, sentences.unknown_tool(call.name, names))
    arguments = _final(entry, decision)
    try:
        problems = tool.problems(arguments)
    except Exception as error:  # the tool's own code must not end the run
        logger.exception("The tool %s could not check its arguments", call.name)
        return _settled(entry, ResultKind.ERROR, sentences.crashed(error))
    if problems:
        by = decision.by if decision is not None and decision.kind is DecisionKind.MODIFY else ""
        return _settled(entry, ResultKind.INVALID_ARGUMENTS, sentences.wrong_arguments(problems, by))
    return Candidate(entry, tool, arguments, decision, decided(entry))


def _final(entry: CallEntry, decision: Decision | None) -> Mapping[str, Json]:
    """The arguments that would run: a person's own, else those that the person saw, else the model's."""
    shown = None if decision is None else entry.shown if decision.arguments is None else decision.arguments
    return (entry.runs_with or {}) if shown is None else shown


async def _verdicts(work: Work, candidates: list[Candidate]) -> dict[str, tuple[Verdict, Verdict]]:
    """By call id, the verdicts on the arguments that would run and on those that were shown when people were asked."""
    changed = [one for one in candidates if one.shown != one.arguments]
    calls = [(_with(one, one.arguments), one.tool.spec) for one in candidates]
    calls += [(_with(one, one.shown), one.tool.spec) for one in changed]
    if not calls:
        return {}
    verdicts = await work.setup.policy.judge(tuple(calls))
    both = {
        one.entry.call.id: (verdict, verdict)
        for one, verdict in zip(candidates, verdicts[: len(candidates)], strict=True)
    }
    for one, verdict in zip(changed, verdicts[len(candidates) :], strict=True):
        both[one.entry.call.id] = (both[one.entry.call.id][0], verdict)
    return both


def _with(candidate: Candidate, arguments: Mapping[str, Json]) -> ToolCall:
    return replace(candidate.entry.as_sent, arguments=arguments)


def _rule(candidate: Candidate, final: Verdict, shown: Verdict) -> Settled | Asked | Cleared:
    final, shown = _guarded(candidate, final), _guarded(candidate, shown)
    match final:
        case Deny(rule=name, reason=reason):
            return _settled(candidate.entry, ResultKind.DENIED, sentences.denied(reason), rule=name)
        case Allow(instead_of=Ask() as ask) if _consented(candidate, ask, _asked(shown)):
            return Cleared(
                candidate, ask.rule, ask, untrusted=ask.untrusted
            )  # what was said about this very call comes before any grant
        case Allow(rule=name, grant=grant, untrusted=untrusted):
            # Nobody would be asked about this call now, so an older ask has nothing to protect any more.
            return Cleared(candidate, name, grant=grant, untrusted=untrusted)
        case Ask(rule=name):
            consented = _consented(candidate, final, _asked(shown))
            return Cleared(candidate, name, final, untrusted=final.untrusted) if consented else Asked(candidate, final)
        case _:
            assert_never(final)


def _asked(shown: Verdict) -> Verdict:
    """What was asked about the call as people saw it, though a grant covers it since."""
    return shown.instead_of if isinstance(shown, Allow) and shown.instead_of else shown


def _guarded(candidate: Candidate, verdict: Verdict) -> Verdict:
    """A call that was only found in the text of an answer is never allowed without a person."""
    if isinstance(verdict, Allow) and candidate.entry.call.recovered:
        return verdict.instead_of or Ask(verdict.rule, candidate.tool.spec.risk, untrusted=verdict.untrusted)
    return verdict


def _consented(candidate: Candidate, final: Ask, shown: Verdict) -> bool:
    """A person agreed, to exactly this: same arguments shown, same tool definition, same rule, also after changes."""
    decision = candidate.decision
    if decision is None or decision.kind not in (DecisionKind.APPROVE, DecisionKind.MODIFY):
        return False
    if final.requires_comment and not decision.comment:
        return False
    bound = call_digest(candidate.shown, candidate.tool.spec.digest, shown.rule, candidate.entry.seen)
    return final.rule == shown.rule and decision.digest == bound


def _settled(
    entry: CallEntry, kind: ResultKind, text: str, status: CallStatus = CallStatus.FINISHED, rule: str = ""
) -> Settled:
    result = ToolResult(entry.call.id, after_failures(entry, text), kind)
    return Settled((*decided(entry), ToolFinished(entry.call.id, entry.tool, result, status, rule=rule)))


def _reads(tool: Tool | None) -> bool:
    return tool is not None and tool.spec.reads
