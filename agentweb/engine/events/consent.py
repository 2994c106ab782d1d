"""Events of what people are asked: about one call, or about the run itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentweb.engine.enums import ApprovalStatus, DecisionKind, Question, Risk
from agentweb.engine.events.values import Passage
from agentweb.engine.messages import Json
from agentweb.engine.terms import Consent, Terms


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The run asks people about one call. ``digest`` binds the decision to the arguments, to the tool's ``definition``,
    to the rule with the version of its policy, and to the preview, whose digest is ``seen``. ``replaces`` is the
    approval that does not hold any more. ``terms``: those that rules make, which hold for this approval whatever
    becomes of the rules. ``untrusted``: texts from outside that were read before. ``fact``: what the call does, in the
    words of an admin."""

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
    definition: str = ""
    seen: str = ""
    untrusted: tuple[Passage, ...] = ()
    fact: str = ""


@dataclass(frozen=True, slots=True)
class PreviewRenewed:
    """Someone looked again before deciding, and the call would do something else by now: the decision binds to this."""

    approval: str
    call: str
    name: str
    digest: str
    effect: str = ""
    preview: Mapping[str, Json] | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """A person's decision (or the end of the wait), as the run takes it up. ``arguments`` are the final ones, ``seen``
    is the digest of the preview that was shown for them. Where several people had to approve, ``consents`` are all of
    them."""

    approval: str
    call: str
    status: ApprovalStatus
    decision: DecisionKind | None = None
    by: str = ""
    comment: str = ""
    arguments: Mapping[str, Json] | None = None
    response: str = ""
    seen: str = ""
    consents: tuple[Consent, ...] = ()


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
