"""The state of a run as the fold of its events: what was said, and how each call stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agentweb.engine.entry import CallEntry, CallEvent, moved
from agentweb.engine.enums import (
    ApprovalStatus,
    CallStatus,
    ErrorKind,
    NoteKind,
    Question,
    StopAfter,
    Strategy,
)
from agentweb.engine.events import (
    ContextFolded,
    Event,
    FollowUpTaken,
    MessageFinished,
    MessageInterrupted,
    ModelReplaced,
    ModelRequested,
    NoteAdded,
    QuestionAsked,
    QuestionDecided,
    RunStarted,
    SteeringTaken,
    StopRequested,
    ThinkAgainRequested,
    TurnFinished,
    TurnStarted,
)
from agentweb.engine.messages import AssistantMessage, Json, Message, UserMessage
from agentweb.engine.ports import Decision
from agentweb.engine.sentences import with_notes
from agentweb.engine.usage import Usage


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about the run that was not answered with yes. ``decision`` is what people said, ``taken`` tells
    whether the run has recorded that or the end of the wait; ``expired``: nobody decided in time."""

    approval: str
    about: Question
    facts: Mapping[str, Json]
    offer: Mapping[str, Json]
    decision: Decision | None = None
    taken: bool = False
    expired: bool = False

    @property
    def waits(self) -> bool:
        return self.decision is None and not self.expired and not self.taken


@dataclass(frozen=True, slots=True)
class Fold:
    """``text`` is sent to the model, as a message of its own, instead of ``messages`` (ids) and of older ``folds``
    (their messages' ids); ``count`` messages in all. ``notes``: working notes made with it."""

    message: str
    strategy: Strategy
    messages: tuple[str, ...]
    folds: tuple[str, ...]
    count: int
    text: str
    notes: str = ""


@dataclass(slots=True)
class Transcript:
    """The messages of a conversation and the place that its live run has reached.

    ``turn`` and ``turn_open`` belong to this run; ``replied``: the open turn already has its model message;
    ``streaming`` is the id of the message that a model call is writing, ``attempt`` the number of that call within
    the turn. Results are not in ``messages``, they stand with their calls. ``stop`` is what an extension asked for,
    ``thought_again`` how often the model was asked again for one. ``question`` is what people were asked about the run.
    ``usages`` are what model messages cost, by id. ``folds``: what is sent instead of older messages, ``folded_at`` how
    many messages there were at the last of them; ``overflows``: so often in the open turn the context was too long for
    the model; ``must_fold``: it is to be folded before the next call; ``cheaper``: people chose the cheaper model for
    the rest of the run; ``fallback``: the model failed for good, and its fallback is asked. ``began``: so many of the
    messages were there when this run began. Built from plain values; a call that ``calls`` does not mention is open.
    """

    messages: list[UserMessage | AssistantMessage] = field(default_factory=list)
    calls: dict[str, CallEntry] = field(default_factory=dict)
    turn: int = 0
    turn_open: bool = False
    replied: bool = False
    streaming: str = ""
    attempt: int = 0
    stop: StopRequested | None = None
    thought_again: int = 0
    question: Asked | None = None
    usages: dict[str, Usage] = field(default_factory=dict)
    folds: list[Fold] = field(default_factory=list)
    folded_at: int = 0
    overflows: int = 0
    must_fold: bool = False
    cheaper: bool = False
    fallback: bool = False
    began: int = 0

    def __post_init__(self) -> None:
        for message in self.messages:
            self._expect(message)

    def apply(self, event: Event) -> None:
        """Fold one event in. The loop and a replay both come through here, and nothing else changes a transcript."""
        if isinstance(event, CallEvent):
            self.calls[event.call] = moved(self.calls[event.call], event)
            return
        match event:
            case RunStarted():
                while self.answered:  # tried again: the model is asked anew, and what it said to this before is no part
                    self.usages.pop(self.messages.pop().id, None)
                self.turn, self.turn_open, self.replied, self.attempt, self.stop = 0, False, False, 0, None
                self.began, self.thought_again, self.question = len(self.messages), 0, None
                self.overflows, self.must_fold, self.cheaper, self.fallback = 0, False, False, False
            case TurnStarted(turn=turn):
                self.turn, self.turn_open, self.replied, self.attempt, self.overflows = turn, True, False, 0, 0
            case TurnFinished():
                self.turn_open = False
            case SteeringTaken(messages=queued) | FollowUpTaken(messages=queued):
                self.messages.extend(UserMessage(one.id, one.text, one.author) for one in queued)
            case NoteAdded(message=message, about=about, text=text, key=key):
                self.messages.append(UserMessage(message, text, about=about, key=key))
            case ThinkAgainRequested(granted=True):
                self.replied, self.thought_again = False, self.thought_again + 1
            case ModelRequested() | MessageFinished() | MessageInterrupted() | ContextFolded():
                self._reasoned(event)
            case QuestionAsked():
                self.question = Asked(event.approval, event.about, event.facts, event.offer)
            case QuestionDecided():
                self.question = _answered(self.question, event)
                chosen = event.arguments or {}
                self.must_fold = self.must_fold or bool(chosen.get("compact"))
                if chosen.get("cheaper"):  # what people want now comes before what failed until then
                    self.cheaper, self.fallback = True, False
            case ModelReplaced():
                self.fallback, self.attempt, self.overflows = True, 0, 0
            case StopRequested():
                self.stop = self.stop if self.stop and self.stop.after is StopAfter.REASONING else event
            case _:  # claims, pauses, retries and the end leave what was said as it is
                pass

    def _reasoned(self, event: ModelRequested | MessageFinished | MessageInterrupted | ContextFolded) -> None:
        match event:
            case ModelRequested(message=message, attempt=attempt):
                self.streaming, self.attempt = message, attempt
            case MessageFinished(message=finished, usage=usage):
                self.messages.append(finished)
                self.usages[finished.id] = usage
                self._expect(finished)
                self.streaming, self.replied, self.attempt = "", True, 0
            case MessageInterrupted(error=error):
                self.streaming = ""
                if error.kind is ErrorKind.CONTEXT_LENGTH:
                    self.overflows, self.must_fold = self.overflows + 1, True
            case ContextFolded():
                self.folds.append(_fold(event))
                self.folded_at, self.must_fold = len(self.messages), False

    @property
    def folded(self) -> dict[str, Fold]:
        """By message, the fold that stands for it now."""
        stands: dict[str, Fold] = {}
        replaced: dict[str, Fold] = {}
        for fold in reversed(self.folds):
            last = replaced.get(fold.message, fold)
            stands.update(dict.fromkeys(fold.messages, last))
            replaced.update(dict.fromkeys(fold.folds, last))
        return stands

    def shown_folds(self) -> tuple[Fold, ...]:
        """The folds that no later one has replaced, the oldest first."""
        replaced = {id for fold in self.folds for id in fold.folds}
        return tuple(fold for fold in self.folds if fold.message not in replaced)

    @property
    def notes(self) -> str:
        """The working notes that hold: the newest of the folds that are shown."""
        return next((fold.notes for fold in reversed(self.shown_folds()) if fold.notes), "")

    def history(self, *, whole: bool = False) -> tuple[Message, ...]:
        """What the model is sent: each assistant message with the results of its calls right behind it, in the order
        it asked; what stands for a fold where its first message was, unless ``whole``. A message that says nothing and
        asks nothing is left out, since providers refuse it."""
        history: list[Message] = []
        folded = {} if whole else self.folded
        last, told = self.shown_folds()[-1:], set[str]()
        for message in self.messages:
            if fold := folded.get(message.id):
                if fold.message not in told:
                    text = with_notes(fold.text, self.notes) if fold in last else fold.text
                    history.append(UserMessage(fold.message, text, about=NoteKind.FOLDED))
                told.add(fold.message)
            elif isinstance(message, UserMessage):
                history.append(message)
            elif message.text or message.calls:
                history.append(message)
                results = (self.calls[call.id].result for call in message.calls)
                history.extend(result for result in results if result is not None)
        return tuple(history)

    def open_calls(self) -> tuple[CallEntry, ...]:
        """The calls of the last assistant message that have no result yet, in the order the model asked."""
        for message in reversed(self.messages):
            if isinstance(message, AssistantMessage):
                entries = (self.calls[call.id] for call in message.calls)
                return tuple(entry for entry in entries if entry.result is None)
        return ()

    @property
    def answered(self) -> bool:
        """The last word is the model's, and it asked for nothing more."""
        last = self.messages[-1] if self.messages else None
        return isinstance(last, AssistantMessage) and not last.calls

    @property
    def called(self) -> bool:
        """The last word is the model's, and it asked for tools."""
        last = self.messages[-1] if self.messages else None
        return isinstance(last, AssistantMessage) and bool(last.calls)

    @property
    def acted(self) -> bool:
        """The last word is the model's, it asked for tools, and all of them have their results."""
        return self.called and not self.open_calls()

    @property
    def fresh(self) -> bool:
        """The last word is the model's message of the open turn, and nothing was done about it."""
        last = self.messages[-1] if self.messages else None
        if not (self.turn_open and self.replied and isinstance(last, AssistantMessage)):
            return False
        entries = (self.calls[call.id] for call in last.calls)
        return all(entry.status is CallStatus.OPEN and not entry.attempt and not entry.instead for entry in entries)

    @property
    def at_rest(self) -> bool:
        """Nothing is under way, so a worker can let the run go here and lose nothing: no message streams, no tool runs.

        Left in the middle of a call instead, the call's outcome would be unknown."""
        return not self.streaming and all(entry.status is not CallStatus.STARTED for entry in self.open_calls())

    def _expect(self, message: UserMessage | AssistantMessage) -> None:
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                self.calls.setdefault(call.id, CallEntry(call))


def _fold(event: ContextFolded) -> Fold:
    return Fold(event.message, event.strategy, event.messages, event.folds, event.count, event.text, event.notes)


def _answered(asked: Asked | None, event: QuestionDecided) -> Asked | None:
    """What is left of a question: nothing once it was answered with yes."""
    if asked is None or event.arguments is not None:
        return None
    decision = None
    if event.decision is not None:
        decision = Decision(event.approval, event.decision, event.by, "", comment=event.comment)
    return replace(asked, decision=decision, taken=True, expired=event.status is ApprovalStatus.EXPIRED)
