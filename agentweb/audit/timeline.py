"""A run as a reviewer reads it: each event in its place, with all that was recorded about it, and nothing to press."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from agentweb.audit.requests import fact_of
from agentweb.audit.telling import Telling, tell
from agentweb.engine import events
from agentweb.engine.events import Event as Fact
from agentweb.engine.usage import Usage
from agentweb.render import RENDERER_VERSION
from agentweb.runs.deciders import read_terms
from agentweb.runs.models import Approval, Call, Event, Message, Run
from agentweb.runs.selectors import calls_of
from agentweb.ui.calls import ApprovalPart, CallCard, approval_part, call_card, labels
from agentweb.ui.diffs import Change, argument_changes
from agentweb.ui.message_html import blocks_html


@dataclass(frozen=True, slots=True)
class Entry:
    """One event. ``offset`` is in seconds since the run began; ``fact`` is None where the event cannot be read.

    Of the rest only what belongs to the kind of event is there: messages that were said, the cards of the calls that a
    message asked for, the call that the event is about, what was shown for a decision, what a person changed."""

    number: int
    at: datetime
    offset: float
    kind: str
    fact: Fact | None
    told: Telling
    messages: list[Message] = field(default_factory=list)
    cards: list[CallCard] = field(default_factory=list)
    call: CallCard | None = None
    shown: ApprovalPart | None = None
    decision: Approval | None = None
    changes: list[Change] = field(default_factory=list)
    usage: Usage | None = None

    @property
    def seconds(self) -> float:
        """How long the model or the tool took; 0 where the event knows nothing of that."""
        return getattr(self.fact, "seconds", 0.0)

    @property
    def asks_model(self) -> bool:
        return isinstance(self.fact, events.ModelRequested | events.SummaryRequested)


def entries(run: Run, stored: Iterable[Event]) -> list[Entry]:
    """The run's events, in order; a constant number of queries for the rows that they name."""
    return Timeline(run, list(stored)).entries()


class Timeline:
    """The events of one run, and the rows by the ids that the events name."""

    def __init__(self, run: Run, stored: list[Event]) -> None:
        self._stored = [(event, fact_of(event)) for event in stored]
        self._calls = {str(call.public_id): call for call in calls_of(run)}
        self._labels = labels(self._calls.values())
        approvals = list(run.approvals.select_related("decided_by", "terms"))
        read_terms(approvals)
        self._approvals = {str(row.public_id): row for row in approvals}
        self._users = self._user_messages()
        self._asked: dict[str, events.ApprovalRequested] = {}

    def entries(self) -> list[Entry]:
        began = self._stored[0][0].at if self._stored else None
        return [
            self._entry(event, fact, (event.at - began).total_seconds() if began else 0.0)
            for event, fact in self._stored
        ]

    def _user_messages(self) -> dict[str, Message]:
        ids = set()
        for _event, fact in self._stored:
            match fact:
                case events.RunStarted(message=message):
                    ids.add(message)
                case events.SteeringTaken(messages=queued) | events.FollowUpTaken(messages=queued):
                    ids.update(each.id for each in queued)
        rows = Message.objects.filter(public_id__in=ids).select_related("author")
        return {str(row.public_id): row for row in rows}

    def _entry(self, event: Event, fact: Fact | None, offset: float) -> Entry:
        card = self._card(getattr(fact, "call", None))
        entry = Entry(event.number, event.at, offset, event.kind, fact, self._told(event, fact, card), call=card)
        match fact:
            case events.RunStarted(message=message):
                return replace(entry, messages=self._known([message]))
            case events.SteeringTaken(messages=queued) | events.FollowUpTaken(messages=queued):
                return replace(entry, messages=[self._queued(each) for each in queued])
            case events.MessageFinished():
                return self._with_message(entry, fact)
            case events.MessageInterrupted(message=message, text=text, thinking=thinking, usage=usage):
                said = _said(message, text, thinking, Message.Status.INTERRUPTED)
                return replace(entry, messages=[said], usage=usage)
            case events.ToolStarted(arguments=arguments) | events.ArgumentsRewritten(arguments=arguments):
                return replace(entry, changes=_changes(card, arguments))
            case events.ApprovalRequested(approval=approval):
                self._asked[approval] = fact
                return replace(entry, shown=_shown(fact))
            case events.PreviewRenewed(approval=approval) if approval in self._asked:
                renewed = replace(self._asked[approval], effect=fact.effect, preview=fact.preview)
                return replace(entry, shown=_shown(renewed))
            case events.ApprovalDecided():
                return self._decided(entry, fact)
            case events.QuestionDecided():
                return replace(entry, decision=self._approvals.get(fact.approval))
            case events.RunFinished(usage=usage) | events.ContextFolded(usage=usage):
                return replace(entry, usage=usage)
        return entry

    def _told(self, event: Event, fact: Fact | None, card: CallCard | None) -> Telling:
        """A call that another tool answers had events of the tool before."""
        name = getattr(fact, "name", "")
        label = card.label if card and card.row.name == name else self._labels.get(name, "")
        return tell(event.kind, fact, _(label) if label else (card.label if card else name))

    def _with_message(self, entry: Entry, fact: events.MessageFinished) -> Entry:
        said = fact.message
        message = _said(said.id, said.text, said.thinking, Message.Status.FINISHED)
        cards = [card for call in said.calls if (card := self._card(call.id)) is not None]
        return replace(entry, messages=[message], cards=cards, usage=fact.usage)

    def _decided(self, entry: Entry, fact: events.ApprovalDecided) -> Entry:
        asked = self._asked.get(fact.approval)
        known = asked is not None and fact.arguments is not None
        changes = argument_changes(asked.arguments, fact.arguments) if asked and known else []
        return replace(entry, decision=self._approvals.get(fact.approval), changes=changes)

    def _card(self, call: str | None) -> CallCard | None:
        """The call as it stands, without its approval: what was asked and decided has events of its own."""
        row: Call | None = self._calls.get(call or "")
        if row is None:
            return None
        row.approval = None
        return call_card(row, self._labels)

    def _known(self, ids: list[str]) -> list[Message]:
        return [self._users[each] for each in ids if each in self._users]

    def _queued(self, queued: events.Queued) -> Message:
        """The words as they were taken, with the author of the row."""
        row = self._users.get(queued.id)
        return Message(
            public_id=queued.id, role=Message.Role.USER, text=queued.text, author=row.author if row else None
        )


def _changes(card: CallCard | None, runs_with: Mapping[str, Any]) -> list[Change]:
    """In what the arguments that run differ from those that the model asked for."""
    asked = card.row.asked_arguments if card else None
    return argument_changes(asked, runs_with) if asked is not None else []


def _said(public_id: str, text: str, thinking: str, status: Message.Status) -> Message:
    """A model's message from the record itself, drawn by the same template as in the conversation."""
    return Message(
        public_id=public_id,
        role=Message.Role.ASSISTANT,
        status=status,
        text=text,
        thinking=thinking,
        html=blocks_html(text),
        html_version=RENDERER_VERSION,
    )


def _shown(fact: events.ApprovalRequested) -> ApprovalPart:
    """What people were shown, from the record itself."""
    return approval_part(
        Approval(
            public_id=fact.approval,
            arguments=fact.arguments,
            risk=fact.risk.value,
            rule=fact.rule,
            requires_comment=fact.requires_comment,
            fact=fact.fact,
            effect=fact.effect,
            preview=fact.preview,
        )
    )
