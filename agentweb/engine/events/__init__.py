"""Everything that can be said about a run: immutable, in the past tense, numbered by the journal.

The class name is the ``kind`` under which an event is stored, so a name here is an interface. Everyone imports from
here; the modules of this package part the events by what they are about. ``Delta`` and ``ToolProgressed`` are live
only: they are shown, never stored and never numbered.
"""

from agentweb.engine.events.call import (
    ArgumentsRewritten,
    OutcomeSettled,
    OutcomeUnknown,
    ResultReceived,
    ToolFinished,
    ToolReplaced,
    ToolStarted,
    ToolSuspended,
)
from agentweb.engine.events.consent import (
    ApprovalDecided,
    ApprovalRequested,
    PreviewRenewed,
    QuestionAsked,
    QuestionDecided,
)
from agentweb.engine.events.live import Delta, ToolProgressed
from agentweb.engine.events.model import (
    ContextFolded,
    MessageFinished,
    MessageInterrupted,
    ModelReplaced,
    ModelRequested,
    ModelRetried,
    SummaryRequested,
)
from agentweb.engine.events.run import (
    FollowUpTaken,
    GoalsChecked,
    NoteAdded,
    RunClaimed,
    RunFinished,
    RunHeld,
    RunPaused,
    RunResumed,
    RunStarted,
    SeamFailed,
    SteeringTaken,
    StopRequested,
    ThinkAgainRequested,
    TurnFinished,
    TurnStarted,
)
from agentweb.engine.events.values import GoalResult, ModelFault, Passage, Queued

__all__ = [
    "ApprovalDecided",
    "ApprovalRequested",
    "ArgumentsRewritten",
    "Batch",
    "ContextFolded",
    "Delta",
    "Event",
    "FollowUpTaken",
    "GoalResult",
    "GoalsChecked",
    "Live",
    "MessageFinished",
    "MessageInterrupted",
    "ModelFault",
    "ModelReplaced",
    "ModelRequested",
    "ModelRetried",
    "NoteAdded",
    "OutcomeSettled",
    "OutcomeUnknown",
    "Passage",
    "PreviewRenewed",
    "QuestionAsked",
    "QuestionDecided",
    "Queued",
    "ResultReceived",
    "RunClaimed",
    "RunFinished",
    "RunHeld",
    "RunPaused",
    "RunResumed",
    "RunStarted",
    "SeamFailed",
    "SteeringTaken",
    "Step",
    "StopRequested",
    "SummaryRequested",
    "ThinkAgainRequested",
    "ToolFinished",
    "ToolProgressed",
    "ToolReplaced",
    "ToolStarted",
    "ToolSuspended",
    "TurnFinished",
    "TurnStarted",
]

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
    | ModelReplaced
    | ToolStarted
    | ToolFinished
    | ToolSuspended
    | ToolReplaced
    | OutcomeUnknown
    | OutcomeSettled
    | ResultReceived
    | StopRequested
    | ThinkAgainRequested
    | ArgumentsRewritten
    | SeamFailed
    | ApprovalRequested
    | ApprovalDecided
    | PreviewRenewed
    | QuestionAsked
    | QuestionDecided
    | TurnFinished
    | RunPaused
    | RunHeld
    | RunFinished
)
Live = Delta | ToolProgressed
Batch = tuple[Event, ...]  # the events of one boundary: recorded together, in this order, or not at all
Step = Batch | Live
