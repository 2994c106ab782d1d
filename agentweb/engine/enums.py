"""The closed vocabularies of the engine; the same values are stored by the tables."""

from enum import StrEnum


class Risk(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    FINISHED = "finished"


class Outcome(StrEnum):
    """How a run ended; only a finished run has one."""

    ANSWERED = "answered"
    LIMIT_REACHED = "limit_reached"
    STOPPED = "stopped"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Reason(StrEnum):
    """Why a run ended, as a code; people read the sentence that goes with it."""

    DONE = "done"
    TURNS = "turns"
    CIRCLES = "circles"
    MALFORMED = "malformed"
    TOKENS = "tokens"
    COST = "cost"
    TIME = "time"
    AFTER_REASONING = "after_reasoning"
    AFTER_ACTING = "after_acting"
    BY_PERSON = "by_person"
    MODEL_ERROR = "model_error"
    INTERNAL = "internal"
    ATTEMPTS = "attempts"


class CallStatus(StrEnum):
    OPEN = "open"
    WAITING = "waiting"
    SUSPENDED = "suspended"
    STARTED = "started"
    FINISHED = "finished"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


CLOSED_CALLS = frozenset({CallStatus.FINISHED, CallStatus.REJECTED, CallStatus.EXPIRED, CallStatus.CANCELLED})


class ApprovalStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    MODIFIED = "modified"
    REJECTED = "rejected"
    ANSWERED = "answered"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class DecisionKind(StrEnum):
    """What a person says about an approval."""

    APPROVE = "approve"
    MODIFY = "modify"
    REJECT = "reject"
    RESPOND = "respond"


class Finish(StrEnum):
    """How a model message ended, after our own reading of it."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CANCELLED = "cancelled"
    ERROR = "error"


class Invalid(StrEnum):
    """Why a call can never run: its arguments, or the form of the whole reply that it stands in."""

    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    NOT_OBJECT = "not_object"
    FORM = "form"


class ErrorKind(StrEnum):
    """What went wrong with a model or a tool."""

    PROVIDER_ERROR = "provider_error"
    RATE_LIMIT = "rate_limit"
    CONTEXT_LENGTH = "context_length"
    STREAM_INTERRUPTED = "stream_interrupted"
    TIMEOUT = "timeout"
    BAD_RESPONSE = "bad_response"
    EMPTY_RESPONSE = "empty_response"
    CONNECTION = "connection"
    AUTH = "auth"
    INTERNAL = "internal"


class ResultKind(StrEnum):
    """Where the text of a tool result comes from; everything but OK, ANSWERED and CACHED is an error."""

    OK = "ok"
    ANSWERED = "answered"  # a person answered in place of the tool
    ERROR = "error"  # the tool said so
    TIMEOUT = "timeout"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    DENIED = "denied"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    NOT_RUN = "not_run"
    UNKNOWN = "unknown"  # it had started, and nobody found out whether it took effect


class Resolution(StrEnum):
    """What became of a call whose worker was lost."""

    DONE = "done"
    NOT_DONE = "not_done"
    TELL_MODEL = "tell_model"  # nobody knows, and the model is told so


class StopAfter(StrEnum):
    """The seam at which a person asked the run to stop."""

    REASONING = "reasoning"
    ACTING = "acting"


class DeltaKind(StrEnum):
    TEXT = "text"
    THINKING = "thinking"


class NoteKind(StrEnum):
    """Why the loop itself says something to the model."""

    CIRCLES = "circles"  # it repeats itself, and is told to change its method
    GOALS = "goals"  # checks of its answer failed, and it is told which
    EXTENSION = "extension"  # an extension of the loop has something to say
    FOLDED = "folded"  # what stands for messages that are no longer sent
    ALLOWED = "allowed"  # it repeats itself, and a person has looked and lets it go on


class Question(StrEnum):
    """What people are asked about a run as a whole, not about one of its calls."""

    CIRCLES = "circles"  # it repeats itself: may it go on?
    BUDGET = "budget"  # a budget is nearly used up: how much more?


class Strategy(StrEnum):
    """How a conversation is folded that has become too long for the model."""

    WINDOW = "window"  # only the last turns are sent
    SUMMARY = "summary"  # a model sums up all that is older
    LAYERED = "layered"  # a model sums up what is older, piece by piece


class Unit(StrEnum):
    """What a budget counts."""

    TOKENS = "tokens"
    COST = "cost"
    SECONDS = "seconds"


class Circling(StrEnum):
    """How a run goes in circles."""

    SAME_CALL = "same_call"
    PING_PONG = "ping_pong"
    NOTHING_NEW = "nothing_new"


class Purpose(StrEnum):
    """Why the model is called."""

    TURN = "turn"
    WRAP_UP = "wrap_up"
    FOLD = "fold"  # older messages are to be summed up
