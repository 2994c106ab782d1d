"""Everything that can be said about a run: immutable, in the past tense, numbered by the journal.

The class name is the ``kind`` under which an event is stored, so a name here is an interface. ``Delta`` and
``ToolProgressed`` are live only: they are shown, never stored and never numbered.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentweb.engine.enums import (
    ApprovalStatus,
    CallStatus,
    DecisionKind,
    DeltaKind,
    ErrorKind,
    NoteKind,
    Outcome,
    Purpose,
    Question,
    Reason,
    Resolution,
    Risk,
    StopAfter,
    Strategy,
)
from agentweb.engine.messages import AssistantMessage, Json, ToolResult
from agentweb.engine.usage import Usage


@dataclass(frozen=True, slots=True)
class ModelFault:
    """Why a model call failed, in a sentence for people. ``retryable``: the same request may work later."""

    kind: ErrorKind
    message: str
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Queued:
    """A message in the run's inbox. ``revision`` grows with each edit, so an edit between look and take shows."""

    id: str
    text: str
    author: str = ""
    revision: int = 0


@dataclass(frozen=True, slots=True)
class GoalResult:
    """One goal check of an answer. ``kind`` and ``subject`` say what was checked, ``label`` is the name that people
    gave it; ``problem`` is what the model is told, empty when the check passed."""

    kind: str
    subject: str
    label: str
    passed: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run exists. ``message`` is the user message that it answers; ``snapshot`` the digest of all that it uses."""

    message: str
    agent: str
    model: str
    max_turns: int
    snapshot: str


@dataclass(frozen=True, slots=True)
class RunClaimed:
    """A worker took the right to advance the run; ``epoch`` is its fencing number."""

    worker: str
    epoch: int


@dataclass(frozen=True, slots=True)
class RunResumed:
    """The run goes on after a pause or after its worker was lost (``recovered``)."""

    recovered: bool = False


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn: int


@dataclass(frozen=True, slots=True)
class SteeringTaken:
    turn: int
    messages: tuple[Queued, ...]


@dataclass(frozen=True, slots=True)
class FollowUpTaken:
    turn: int
    messages: tuple[Queued, ...]


@dataclass(frozen=True, slots=True)
class GoalsChecked:
    """The model had answered, and the goals of the agent were checked."""

    turn: int
    results: tuple[GoalResult, ...]


@dataclass(frozen=True, slots=True)
class NoteAdded:
    """The loop itself says something to the model, as the message ``message``; ``about`` says why, ``by`` names the
    extension that wants it, ``key`` a note that is given only once."""

    message: str
    turn: int
    about: NoteKind
    text: str
    by: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class SummaryRequested:
    """A model is asked to sum up ``messages`` (ids) and the older ``folds`` (their messages' ids), for the fold
    ``message``. It gets ``room`` tokens of them to read at most; ``notes``: working notes are wanted too.
    ``digest`` as of any request."""

    message: str
    turn: int
    attempt: int
    model: str
    digest: str
    messages: tuple[str, ...]
    folds: tuple[str, ...]
    room: int
    notes: bool = False


@dataclass(frozen=True, slots=True)
class ContextFolded:
    """From here on ``text`` is sent to the model, as the message ``message``, instead of ``messages`` (ids) and of what
    stood for the older ``folds`` (their messages' ids), ``count`` messages in all. ``before`` and ``after`` are tokens
    of a request, estimated. ``error``: why there is no summary although the strategy wanted one. ``notes``: the facts
    that the model is to keep in mind from here on; empty: those that it had."""

    message: str
    turn: int
    strategy: Strategy
    messages: tuple[str, ...]
    folds: tuple[str, ...]
    count: int
    text: str
    before: int
    after: int
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    error: ModelFault | None = None
    notes: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequested:
    """A model call begins; the message ``message`` starts here and its deltas follow.

    ``digest`` is the SHA-256 of the exact request body, ``attempt`` counts from 1 within the turn."""

    message: str
    turn: int
    attempt: int
    model: str
    digest: str
    purpose: Purpose = Purpose.TURN


@dataclass(frozen=True, slots=True)
class MessageFinished:
    """The whole model message, exactly what was streamed, with what it cost. ``seconds`` is the length of the call."""

    message: AssistantMessage
    usage: Usage
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class MessageInterrupted:
    """A model call ended in the middle. Its text is kept for people, and no call of it ever runs."""

    message: str
    text: str
    thinking: str
    error: ModelFault
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class ModelRetried:
    """The failed model call is tried again after ``wait`` seconds."""

    turn: int
    attempt: int
    error: ModelFault
    wait: float


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """Intent, recorded before the side effect. ``arguments`` are those that run; ``rule`` says what allowed it."""

    call: str
    name: str
    arguments: Mapping[str, Json]
    rule: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The one result of a call, and the status that the call ends in. ``seconds`` is 0 where nothing ran."""

    call: str
    name: str
    result: ToolResult
    status: CallStatus = CallStatus.FINISHED
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolSuspended:
    """The tool waits for something from outside; ``prompt`` says for what."""

    call: str
    name: str
    prompt: str


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The call had started when its worker was lost: it may or may not have happened, and a person must say."""

    call: str
    name: str


@dataclass(frozen=True, slots=True)
class OutcomeSettled:
    """What became of a call whose worker was lost: said by a person, who has the id ``answer``, or by a seam."""

    call: str
    name: str
    outcome: Resolution
    by: str
    comment: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class ResultReceived:
    """The result that a suspended call waited for came from outside; ``answer`` is its id there."""

    call: str
    name: str
    by: str
    answer: str


@dataclass(frozen=True, slots=True)
class StopRequested:
    """An extension, ``by``, wants the run to stop after reasoning or after acting, and says why."""

    after: StopAfter
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ThinkAgainRequested:
    """An extension wants the model to be asked again within the turn; ``granted`` unless that was so too often."""

    turn: int
    by: str
    granted: bool = True


@dataclass(frozen=True, slots=True)
class ArgumentsRewritten:
    """An extension changed the arguments of a call before it was judged."""

    call: str
    name: str
    by: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class SeamFailed:
    """An extension raised an error at one of its points; ``effect`` says what was done about it."""

    seam: str
    point: str
    error: str
    effect: str


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The run asks people about one call. ``digest`` binds the decision to arguments, tool definition and policy."""

    approval: str
    call: str
    name: str
    arguments: Mapping[str, Json]
    risk: Risk
    digest: str
    rule: str
    requires_comment: bool = False
    effect: str = ""
    preview: Mapping[str, Json] | None = None
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """A person's decision (or the end of the wait), as the run takes it up. ``arguments`` are the final ones."""

    approval: str
    call: str
    status: ApprovalStatus
    decision: DecisionKind | None = None
    by: str = ""
    comment: str = ""
    arguments: Mapping[str, Json] | None = None
    response: str = ""


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The run asks people whether it may go on, as the approval ``approval``. ``facts`` are what they should know,
    ``offer`` is what they agree to with a plain yes; ``digest`` binds the decision to both. ``admins``: only they may
    decide."""

    approval: str
    about: Question
    facts: Mapping[str, Json]
    offer: Mapping[str, Json]
    digest: str
    rule: str = ""
    admins: bool = False


@dataclass(frozen=True, slots=True)
class QuestionDecided:
    """What people said (or the end of the wait), as the run takes it up. ``arguments``: the offer, or what it was
    changed into; None where the run may not go on."""

    approval: str
    about: Question
    status: ApprovalStatus
    decision: DecisionKind | None = None
    by: str = ""
    comment: str = ""
    arguments: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class TurnFinished:
    turn: int


@dataclass(frozen=True, slots=True)
class RunPaused:
    """Nothing can go on until someone outside acts on one of ``calls``; the worker is free again.

    ``lost``: no call is waited for; the worker was lost, and a person must say that the run goes on. ``question``: the
    approval that asks about the run itself."""

    calls: tuple[str, ...]
    usage: Usage
    lost: bool = False
    question: str = ""


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The end, with totals. ``text`` says the reason in plain words."""

    outcome: Outcome
    reason: Reason
    text: str
    usage: Usage
    error: ModelFault | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """A streamed fragment. ``offset`` counts Unicode code points of that message and kind."""

    message: str
    kind: DeltaKind
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """A note from a running tool; ``fraction`` is between 0 and 1 when the tool knows."""

    call: str
    text: str
    fraction: float | None = None


Event = (
    RunStarted
    | RunClaimed
    | RunResumed
    | TurnStarted
    | SteeringTaken
    | FollowUpTaken
    | GoalsChecked
    | NoteAdded
    | SummaryRequested
    | ContextFolded
    | ModelRequested
    | MessageFinished
    | MessageInterrupted
    | ModelRetried
    | ToolStarted
    | ToolFinished
    | ToolSuspended
    | OutcomeUnknown
    | OutcomeSettled
    | ResultReceived
    | StopRequested
    | ThinkAgainRequested
    | ArgumentsRewritten
    | SeamFailed
    | ApprovalRequested
    | ApprovalDecided
    | QuestionAsked
    | QuestionDecided
    | TurnFinished
    | RunPaused
    | RunFinished
)
Live = Delta | ToolProgressed
Batch = tuple[Event, ...]  # the events of one boundary: recorded together, in this order, or not at all
Step = Batch | Live
