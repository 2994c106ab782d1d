"""What each event adds to a run's usage: the one place that the loop and the stored totals both count by."""

from agentweb.engine.events import (
    ContextFolded,
    Event,
    MessageFinished,
    MessageInterrupted,
    ModelRequested,
    SummaryRequested,
    ToolFinished,
    ToolReplaced,
    ToolStarted,
    TurnStarted,
)
from agentweb.engine.usage import Usage

NOTHING = Usage()


def spent(event: Event) -> Usage:
    """Model calls count when they are asked for, tools when they start, so a crash loses neither."""
    match event:
        case TurnStarted():
            return Usage(turns=1)
        case ModelRequested() | SummaryRequested():
            return Usage(model_calls=1)
        case MessageFinished(usage=usage) | MessageInterrupted(usage=usage) | ContextFolded(usage=usage):
            return usage
        case ToolStarted():
            return Usage(tool_calls=1)
        case ToolFinished(seconds=seconds) | ToolReplaced(seconds=seconds):
            return Usage(seconds=seconds)
        case _:
            return NOTHING
