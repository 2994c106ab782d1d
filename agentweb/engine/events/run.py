"""Events of the run itself: its life, its turns, what people and extensions put in."""

from dataclasses import dataclass

from agentweb.engine.enums import NoteKind, Outcome, Reason, StopAfter
from agentweb.engine.events.values import GoalResult, ModelFault, Queued
from agentweb.engine.usage import Usage


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run exists. ``message`` is the user message that it answers; ``snapshot`` the digest of all that it uses.
    Not ``attended``: nobody is there to decide, so what would be asked is refused."""

    message: str
    agent: str
    model: str
    max_turns: int
    snapshot: str
    attended: bool = True


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
class SeamFailed:
    """An extension raised an error at one of its points; ``effect`` says what was done about it."""

    seam: str
    point: str
    error: str
    effect: str


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
class RunHeld:
    """An emergency stop, whose id is ``halt``, holds the run until somebody ends it. ``what`` names the tool or agent
    that is stopped, and is empty for everything."""

    halt: str
    what: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The end, with totals. ``text`` says the reason in plain words."""

    outcome: Outcome
    reason: Reason
    text: str
    usage: Usage
    error: ModelFault | None = None
