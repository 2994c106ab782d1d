"""Events of what people are asked: about one call, or about the run itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentweb.engine.enums import ApprovalStatus, DecisionKind, Question, Risk
from agentweb.engine.messages import Json
from agentweb.engine.terms import Terms


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The run asks people about one call. ``digest`` binds the decision to arguments, tool definition and policy;
    ``terms``: those that rules make, which hold for this approval whatever becomes of the rules."""

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
    terms: Terms | None = None


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
