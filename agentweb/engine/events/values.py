"""Values that events of several kinds are made of."""

from dataclasses import dataclass

from agentweb.engine.enums import ErrorKind


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
class Passage:
    """The beginning of a text that nobody vouches for, and the call of the tool ``name`` that brought it."""

    call: str
    name: str
    text: str
