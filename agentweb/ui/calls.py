"""What a call card shows: words, icon, arguments, result and approval of one tool call, ready for the template."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from agentweb.engine.enums import ApprovalStatus, CallStatus, ResultKind
from agentweb.engine.events import Passage
from agentweb.llm.protocols.refusals import UNREADABLE
from agentweb.registry import answer_addresses
from agentweb.registry.models import Risk, Tool
from agentweb.runs.expiry import is_overdue
from agentweb.runs.grants import may_be_remembered
from agentweb.runs.models import Approval, Call, CallAnswer, Grant
from agentweb.runs.undoing import reverse_of
from agentweb.runs.votes import shown_digest
from agentweb.schema.json_text import pretty
from agentweb.ui.again import Again, asked_again
from agentweb.ui.deciders import DecidersPart, deciders_part
from agentweb.ui.diffs import Change, DiffLine, argument_changes, is_failed, preview_lines
from agentweb.ui.effects import effect_text
from agentweb.ui.excerpt import Excerpt, excerpt, of_ends
from agentweb.ui.hidden import hides_something
from agentweb.ui.labels import field_label
from agentweb.ui.running import how_it_ran
from agentweb.ui.schema_forms import SchemaForm, show
from agentweb.ui.time_left import time_left

ICONS = {
    "current_time": "calendar-clock",
    "calculator": "calculator",
    "weather": "cloud-sun",
    "list_files": "folder",
    "read_file": "file-text",
    "search_files": "file-search",
    "write_file": "file-plus",
    "edit_file": "file-pen",
    "delete_file": "trash-2",
    "restore_file": "rotate-ccw",
}
RISK_ICONS = {Risk.LOW: "shield-check", Risk.MEDIUM: "shield", Risk.HIGH: "shield-alert"}
RISK_WORDS = {
    Risk.LOW: gettext_lazy("Low risk"),
    Risk.MEDIUM: gettext_lazy("Medium risk"),
    Risk.HIGH: gettext_lazy("High risk"),
}
TELLING = ("path", "file", "query", "pattern", "expression", "city", "question", "url", "name")
SUMMARY = 100

STATES = {
    CallStatus.OPEN: ("", "circle-dashed", gettext_lazy("Not started yet")),
    CallStatus.WAITING: ("waiting", "circle-pause", gettext_lazy("Waiting for approval")),
    CallStatus.SUSPENDED: ("waiting", "circle-pause", gettext_lazy("Waiting for input")),
    CallStatus.STARTED: ("live", "loader-circle", gettext_lazy("Running")),
    CallStatus.REJECTED: ("failed", "ban", gettext_lazy("Rejected")),
    CallStatus.EXPIRED: ("failed", "clock", gettext_lazy("Expired, not run")),
    CallStatus.CANCELLED: ("", "ban", pgettext_lazy("state of a tool call", "Cancelled")),
    CallStatus.UNKNOWN: ("waiting", "circle-help", gettext_lazy("Outcome unknown")),
}
RESULTS = {
    ResultKind.OK: ("ok", "check", pgettext_lazy("state of a tool call", "Done")),
    ResultKind.ANSWERED: ("ok", "user", gettext_lazy("Answered by a person")),
    ResultKind.ERROR: ("failed", "circle-alert", pgettext_lazy("state of a tool call", "Failed")),
    ResultKind.TIMEOUT: ("failed", "clock", gettext_lazy("Timed out")),
    ResultKind.UNKNOWN_TOOL: ("failed", "circle-help", gettext_lazy("Unknown tool")),
    ResultKind.INVALID_ARGUMENTS: ("failed", "circle-alert", gettext_lazy("Arguments not valid")),
    ResultKind.DENIED: ("failed", "ban", gettext_lazy("Not allowed")),
    ResultKind.REJECTED: ("failed", "ban", gettext_lazy("Rejected")),
    ResultKind.EXPIRED: ("failed", "clock", gettext_lazy("Expired, not run")),
    ResultKind.CANCELLED: ("", "ban", pgettext_lazy("state of a tool call", "Cancelled")),
    ResultKind.NOT_RUN: ("", "ban", gettext_lazy("Not run")),
    ResultKind.UNKNOWN: ("failed", "circle-help", gettext_lazy("Outcome unknown")),
}
DECISIONS = {
    ApprovalStatus.APPROVED: ("ok", "circle-check", gettext_lazy("Approved")),
    ApprovalStatus.MODIFIED: ("ok", "pencil", gettext_lazy("Approved with changes")),
    ApprovalStatus.REJECTED: ("failed", "ban", gettext_lazy("Rejected")),
    ApprovalStatus.ANSWERED: ("ok", "message-square-reply", gettext_lazy("Answered by a person")),
    ApprovalStatus.EXPIRED: ("failed", "clock", gettext_lazy("Expired without a decision")),
    ApprovalStatus.CANCELLED: ("", "ban", gettext_lazy("The run was cancelled; nothing was run")),
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as a labelled field. ``text`` is plain text, to be shown with hidden characters made visible."""

    label: str
    text: str
    long: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalPart:
    """The approval of a call: the facts, and what may be done now. ``open`` means that a decision is wanted; ``failed``
    that nobody could work out what the call would do."""

    row: Approval
    risk_word: str
    risk_icon: str
    effect: str
    diff: list[DiffLine]
    text: str
    changes: list[Change]
    arguments: list[Argument]
    may_decide: bool
    decided: tuple[str, str, str] | None
    suspicious: bool
    left: str = ""  # the time left to decide, in words
    overdue: bool = False
    failed: bool = False
    again: Again | None = None
    may_remember: bool = False
    passages: list[Passage] = field(default_factory=list)
    remembered: Grant | None = None
    deciders: DecidersPart | None = None
    digest: str = ""  # of what is shown

    @property
    def open(self) -> bool:
        return self.row.status == Approval.Status.PENDING

    @property
    def high(self) -> bool:
        return self.row.requires_comment or self.row.risk == Risk.HIGH


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """What people say about the call itself. ``given`` is the latest answer; ``wanted`` says what is waited for:
    unknown (what became of the call), suspended (its result) or empty; ``prompt`` is what the tool asked for, and
    ``form`` what it wants filled in, if it says so."""

    given: CallAnswer | None
    wanted: str
    prompt: str
    may_answer: bool
    form: SchemaForm | None = None
    address: str = ""  # where a program may answer


@dataclass(frozen=True, slots=True)
class CallCard:
    """Everything that the card of one call shows to one person."""

    row: Call
    label: str
    icon: str
    summary: str
    css: str
    state_icon: str
    state: str
    arguments: list[Argument]
    raw: str
    result: Excerpt | None
    is_error: bool
    approval: ApprovalPart | None = None
    answer: AnswerPart | None = None
    grant: Grant | None = None
    claim: str = ""
    how: list[str] = field(default_factory=list)
    may_undo: bool = False
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def asks(self) -> str:
        """Names the question that this person may answer on the card, for as long as it stays the same; else empty."""
        if self.approval is not None and self.approval.open and self.approval.may_decide:
            return f"{self.approval.row.public_id} {self.approval.digest}"
        return self.answer.wanted if self.answer is not None and self.answer.may_answer else ""


def labels(calls: Iterable[Call]) -> dict[str, str]:
    """The display label of each tool that the calls name; one query."""
    names = {name for call in calls for name in (call.name, *(failure["tool"] for failure in call.failures))}
    return dict(Tool.objects.filter(name__in=names).values_list("name", "label"))


def call_card(call: Call, names: Mapping[str, str]) -> CallCard:
    """The card of a call that a selector gave out, which knows its ``approval`` and what this person may do. ``names``:
    the labels of tools."""
    label = names.get(call.name, "")
    css, state_icon, state = _state(call)
    shown = call.arguments if call.arguments is not None else call.asked_arguments
    approval = getattr(call, "approval", None)
    return CallCard(
        row=call,
        label=_("Unreadable reply") if call.name == UNREADABLE else _(label) if label else call.name,
        icon=ICONS.get(call.name, "wrench"),
        summary=_one_line(call.raw) if shown is None else summary(shown),
        css=css,
        state_icon=state_icon,
        state=str(state),
        arguments=arguments(shown),
        raw=call.raw if shown is None else pretty(shown) or call.raw,
        result=_result(call),
        is_error=call.result_kind not in ("", ResultKind.OK, ResultKind.ANSWERED),
        approval=approval_part(approval) if approval else None,
        answer=_answer_part(call),
        grant=used.grant if (used := getattr(call, "used", None)) else None,
        how=how_it_ran(call, names),
        may_undo=getattr(call, "may_undo", False) and reverse_of(call) is not None,
    )


def _answer_part(call: Call) -> AnswerPart | None:
    """None where nobody is asked and nobody has said anything, and where there is nobody to ask."""
    given, prompt = getattr(call, "answer", None), "" if call.invalid else call.detail
    pending = given is not None and given.taken_at is None
    asks = call.status in (CallStatus.UNKNOWN, CallStatus.SUSPENDED) and not pending and hasattr(call, "may_decide")
    if asks:
        form = None if call.answer_schema is None else show(call.answer_schema, {})
        outside = call.status == CallStatus.SUSPENDED and call.may_decide
        address = answer_addresses.address(str(call.public_id)) if outside else ""
        return AnswerPart(None, str(call.status), prompt, call.may_decide, form, address)
    return AnswerPart(given=given, wanted="", prompt=prompt, may_answer=False) if given is not None else None


def _result(call: Call) -> Excerpt | None:
    """From the ends that the database cut out, or from the whole text where a selector gave that."""
    if call.result is None:
        return None
    if (ends := vars(call)).get("characters") is None:
        return excerpt(call.result_full or call.result)
    return of_ends(ends["head"], ends["tail"], ends["characters"], ends["newlines"])


def approval_part(row: Approval) -> ApprovalPart:
    diff, text = preview_lines(row.preview)
    asked = arguments(row.arguments)
    return ApprovalPart(
        row=row,
        risk_word=str(RISK_WORDS.get(row.risk, row.risk)),
        risk_icon=RISK_ICONS.get(row.risk, "shield-alert"),
        effect=effect_text(row.effect),
        diff=diff,
        text=text,
        changes=argument_changes(row.arguments, row.final_arguments) if row.status == Approval.Status.MODIFIED else [],
        arguments=asked,
        may_decide=bool(getattr(row, "may_decide", False)) and not is_overdue(row),
        decided=DECISIONS.get(row.status),
        suspicious=any(hides_something(argument.text) for argument in asked),
        left=time_left(row.expires_at),
        overdue=is_overdue(row),
        failed=is_failed(row.preview),
        again=asked_again(row) if row.status == Approval.Status.PENDING else None,
        may_remember=may_be_remembered(row),
        passages=_passages(row),
        remembered=getattr(row, "grant", None) if row.status == Approval.Status.APPROVED else None,
        deciders=deciders_part(row),
        digest=shown_digest(row),
    )


def _passages(row: Approval) -> list[Passage]:
    """The untrusted texts that were shown with the question about a call."""
    recorded = row.facts.get("untrusted", []) if row.call_id and isinstance(row.facts, dict) else []
    return [Passage(**each) for each in recorded]


def arguments(values: Any) -> list[Argument]:
    """Labelled fields of an argument object; an empty list for anything else."""
    if not isinstance(values, Mapping):
        return []
    return [_argument(name, value) for name, value in values.items()]


def _argument(name: str, value: Any) -> Argument:
    text = value if isinstance(value, str) else pretty(value) or str(value)
    return Argument(label=field_label(name), text=text, long="\n" in text or len(text) > 80)


def summary(values: Any) -> str:
    """The one argument that says most, on one line."""
    if not isinstance(values, Mapping) or not values:
        return ""
    name = next((name for name in TELLING if isinstance(values.get(name), str)), next(iter(values)))
    value = values[name]
    return _one_line(value if isinstance(value, str) else pretty(value) or "")


def _one_line(text: str) -> str:
    line = " ".join(text[: SUMMARY * 4].split())
    return line if len(line) <= SUMMARY else line[: SUMMARY - 1] + "…"


def _state(call: Call) -> tuple[str, str, Any]:
    if call.status == CallStatus.FINISHED:
        return RESULTS.get(call.result_kind, RESULTS[ResultKind.OK])
    approval = getattr(call, "approval", None)
    if call.status == CallStatus.WAITING and approval is not None and approval.status in DECISIONS:
        return DECISIONS[approval.status]  # decided, and not taken up by the run yet
    return STATES[call.status]
