"""How one tool call stands: the fold of the events that are about it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agentweb.engine.enums import ApprovalStatus, CallStatus, Resolution
from agentweb.engine.events import (
    ApprovalDecided,
    ApprovalRequested,
    ArgumentsRewritten,
    OutcomeSettled,
    OutcomeUnknown,
    PreviewRenewed,
    ResultReceived,
    ToolFinished,
    ToolReplaced,
    ToolStarted,
    ToolSuspended,
)
from agentweb.engine.messages import Json, ToolCall, ToolResult
from agentweb.engine.ports import Answer, Decision

CallEvent = (
    ToolStarted
    | ToolFinished
    | ToolSuspended
    | ToolReplaced
    | OutcomeUnknown
    | OutcomeSettled
    | ResultReceived
    | ArgumentsRewritten
    | ApprovalRequested
    | ApprovalDecided
    | PreviewRenewed
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A tool that was tried, and what it told the model instead of an answer."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class CallEntry:
    """One call and all that has happened to it.

    ``arguments`` are those that run (None: those of the model); ``shown`` those of the latest approval, whose id and
    digest are ``approval`` and ``approval_digest``, and whose preview has the digest ``seen``. ``decision`` is what a
    person said last about this call, ``taken`` tells whether the run has recorded that (ApprovalDecided); a decision
    that was taken before the call was suspended or its worker was lost says nothing about what to do now. ``expired``:
    nobody decided in time. ``answer`` came from outside about a call that waits for it, and is there until the run has
    recorded it. ``failures`` are the tools that were tried until now, and ``instead`` the one that is to answer.
    """

    call: ToolCall
    status: CallStatus = CallStatus.OPEN
    result: ToolResult | None = None
    decision: Decision | None = None
    approval: str = ""
    approval_digest: str = ""
    seen: str = ""
    arguments: Mapping[str, Json] | None = None
    attempt: int = 0
    shown: Mapping[str, Json] | None = None
    taken: bool = False
    expired: bool = False
    answer: Answer | None = None
    failures: tuple[Failure, ...] = ()
    instead: str = ""

    @property
    def tool(self) -> str:
        """The name of the tool that is to answer."""
        return self.instead or self.call.name

    @property
    def as_sent(self) -> ToolCall:
        """The call, addressed to that tool."""
        return replace(self.call, name=self.tool) if self.instead else self.call

    @property
    def replaces(self) -> str:
        """The approval that the next one takes the place of: none where that was about a tool that failed."""
        return "" if self.instead and self.status is CallStatus.OPEN else self.approval

    @property
    def runs_with(self) -> Mapping[str, Json] | None:
        return self.call.arguments if self.arguments is None else self.arguments

    @property
    def waits(self) -> bool:
        """Someone outside must act before this call can go on."""
        match self.status:
            case CallStatus.WAITING:
                return self.decision is None and not self.expired
            case CallStatus.SUSPENDED | CallStatus.UNKNOWN:
                return True
            case _:
                return False


def moved(entry: CallEntry, event: CallEvent) -> CallEntry:
    """The call as it stands after the event."""
    match event:
        case ToolStarted():
            return replace(entry, status=CallStatus.STARTED, arguments=event.arguments, attempt=event.attempt)
        case ToolFinished():
            return replace(entry, status=event.status, result=event.result)
        case ToolSuspended():
            return replace(entry, status=CallStatus.SUSPENDED)
        case ToolReplaced(name=name, by=by, failure=failure):
            failures = (*entry.failures, Failure(name, failure.content))
            return replace(entry, status=CallStatus.OPEN, attempt=0, failures=failures, instead=by)
        case OutcomeUnknown():
            return replace(entry, status=CallStatus.UNKNOWN)
        case OutcomeSettled():
            status = CallStatus.OPEN if event.outcome is Resolution.NOT_DONE else entry.status
            return replace(entry, status=status, answer=None)
        case ResultReceived():
            return replace(entry, answer=None)
        case ArgumentsRewritten():
            return replace(entry, arguments=event.arguments)
        case ApprovalRequested():
            return replace(
                entry,
                status=CallStatus.WAITING,
                approval=event.approval,
                approval_digest=event.digest,
                seen=event.seen,
                arguments=event.arguments,
                shown=event.arguments,
                decision=None,
                taken=False,
            )
        case PreviewRenewed():
            return replace(entry, approval_digest=event.digest, seen=event.seen)
        case ApprovalDecided():
            expired = event.status is ApprovalStatus.EXPIRED
            decision = _decision(entry, event)
            return replace(entry, approval=event.approval, decision=decision, taken=True, expired=expired)


def _decision(entry: CallEntry, event: ApprovalDecided) -> Decision | None:
    if event.decision is None:
        return None
    return Decision(
        approval=event.approval,
        kind=event.decision,
        by=event.by,
        digest=entry.approval_digest,
        arguments=event.arguments,
        comment=event.comment,
        response=event.response,
        seen=event.seen,
        consents=event.consents,
    )
