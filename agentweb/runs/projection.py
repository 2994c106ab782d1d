"""What each event changes in the rows that are derived from it. Called by the journal only, inside its transaction."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from functools import singledispatchmethod
from typing import Any

from django.db.models import BigAutoField, UUIDField

from agentweb.engine import events
from agentweb.engine.codec import encode
from agentweb.engine.enums import ApprovalStatus, CallStatus, NoteKind, Question, Resolution
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.spending import spent
from agentweb.engine.usage import Usage
from agentweb.registry.models import Risk
from agentweb.runs import answering, asking, grants, spending, taint
from agentweb.runs.expiry import end_of_wait
from agentweb.runs.folded import oldest_of
from agentweb.runs.models import Approval, Call, CallAnswer, Conversation, Halt, Message, QueuedMessage, Run
from agentweb.teams import fixed

COUNTED = tuple(field.name for field in fields(Usage))

_MESSAGE = fixed.Update(lambda public_id: Message.objects.filter(public_id=public_id), public_id=UUIDField())
_MESSAGE_ID = fixed.Query(
    lambda public_id: Message.objects.filter(public_id=public_id).order_by().values_list("pk", flat=True),
    public_id=UUIDField(),
)
_CALL = fixed.Update(
    lambda public_id, run: Call.objects.filter(public_id=public_id, run=run), public_id=UUIDField(), run=BigAutoField()
)
_CONVERSATION = fixed.Update(lambda pk: Conversation.objects.filter(pk=pk), pk=BigAutoField())


class Stale(Exception):
    """The rows are no longer as the loop saw them (a queued message was edited or taken back): look again."""


@dataclass
class Projection:
    """Applies events to rows and gathers what must change on the run's own row."""

    run: Run
    now: datetime
    changes: dict[str, Any] = field(default_factory=dict)
    broken_off: str = ""  # the message of this batch that does not count

    def apply(self, batch: Iterable[events.Event]) -> dict[str, Any]:
        """The changed fields of the run. Raises Stale."""
        batch = tuple(batch)
        for event in batch:
            self._spend(spent(event))
            self._apply(event)
        self._account(sum(map(spent, batch), Usage()))
        return self.changes

    def _add(self, name: str, amount: Any) -> None:
        self.changes[name] = self.changes.get(name, getattr(self.run, name)) + amount

    def _spend(self, usage: Usage) -> None:
        for name in COUNTED:
            if amount := getattr(usage, name):
                self._add(name, amount)

    def _account(self, usage: Usage) -> None:
        run = self.run
        team = run.conversation.team_id
        spending.add(team=team, agent=run.agent_id, user=run.requested_by_id, usage=usage, moment=self.now)

    def _call(self, call: str, **changes: Any) -> None:
        _CALL(changes, public_id=call, run=self.run.pk)

    @singledispatchmethod
    def _apply(self, event: events.Event) -> None:
        """Events that change no row but their own: claims and turns that end."""

    @_apply.register
    def _(self, event: events.SteeringTaken) -> None:
        self._take(event)

    @_apply.register
    def _(self, event: events.FollowUpTaken) -> None:
        self._take(event)

    def _take(self, event: events.SteeringTaken | events.FollowUpTaken) -> None:
        for queued in event.messages:
            row = QueuedMessage.objects.filter(
                public_id=queued.id, run=self.run, status=QueuedMessage.Status.QUEUED, revision=queued.revision
            ).first()
            if row is None:
                raise Stale(queued.id)
            message = Message.objects.create(
                public_id=row.public_id,
                conversation_id=self.run.conversation_id,
                run=self.run,
                role=Message.Role.USER,
                author_id=row.author_id,
                text=row.text,
                turn=event.turn,
            )
            QueuedMessage.objects.filter(pk=row.pk).update(
                status=QueuedMessage.Status.TAKEN, turn=event.turn, message=message
            )

    @_apply.register
    def _(self, event: events.GoalsChecked) -> None:
        self.changes["goals"] = encode(event.results)

    @_apply.register
    def _(self, event: events.NoteAdded) -> None:
        extra = {name: value for name, value in (("by", event.by), ("key", event.key)) if value}
        self._system_says(event, event.about, extra)

    @_apply.register
    def _(self, event: events.ContextFolded) -> None:
        extra = {
            "strategy": event.strategy.value,
            "messages": list(event.messages),
            "folds": list(event.folds),
            "count": event.count,
            "notes": event.notes,
            **oldest_of(event),
        }
        self._system_says(event, NoteKind.FOLDED, extra, encode(event.usage))

    def _system_says(
        self,
        event: events.NoteAdded | events.ContextFolded,
        about: NoteKind,
        extra: dict[str, Any],
        usage: dict[str, Any] | None = None,
    ) -> None:
        Message.objects.create(
            public_id=event.message,
            conversation_id=self.run.conversation_id,
            run=self.run,
            role=Message.Role.SYSTEM,
            text=event.text,
            why=about.value,
            turn=event.turn,
            extra=extra,
            usage=usage or {},
        )

    @_apply.register
    def _(self, event: events.ModelRequested) -> None:
        fixed.insert(
            Message(
                public_id=event.message,
                conversation_id=self.run.conversation_id,
                run=self.run,
                role=Message.Role.ASSISTANT,
                status=Message.Status.STREAMING,
                turn=event.turn,
            )
        )

    @_apply.register
    def _(self, event: events.MessageFinished) -> None:
        said = event.message
        values = {
            "conversation_id": self.run.conversation_id,
            "run_id": self.run.pk,
            "role": Message.Role.ASSISTANT,
            "status": Message.Status.FINISHED,
            "text": said.text,
            "thinking": said.thinking,
            "finish": said.finish.value,
            "extra": encode(said.extra),
            "finished_at": self.now,
            "turn": self.changes.get("turns", self.run.turns),
            "usage": encode(event.usage),
        }
        if not _MESSAGE(values, public_id=said.id):
            fixed.insert(Message(public_id=said.id, **values))
        if said.calls:
            fixed.insert_all(self._calls(said, _MESSAGE_ID.first(public_id=said.id)))

    def _calls(self, said: AssistantMessage, message_id: int) -> list[Call]:
        return [
            Call(
                public_id=call.id,
                run=self.run,
                message_id=message_id,
                position=position,
                name=call.name[:200],
                provider_id=call.provider_id[:200],
                raw=call.raw,
                asked_arguments=encode(call.arguments),
                arguments=encode(call.arguments),
                invalid=call.invalid.value if call.invalid else "",
                detail=call.detail,
                recovered=call.recovered,
                extra=encode(call.extra),
            )
            for position, call in enumerate(said.calls)
        ]

    @_apply.register
    def _(self, event: events.MessageInterrupted) -> None:
        self.broken_off = event.message
        Message.objects.filter(public_id=event.message).update(
            status=Message.Status.INTERRUPTED,
            text=event.text,
            thinking=event.thinking,
            finish="error",
            why=event.error.kind.value,
            extra={"fault": event.error.message},
            usage=encode(event.usage),
            finished_at=self.now,
        )

    @_apply.register
    def _(self, event: events.ModelRetried) -> None:
        self._went_on(event.error.message, wait=round(event.wait, 1))

    @_apply.register
    def _(self, event: events.ModelReplaced) -> None:
        self._went_on(event.error.message, by=event.by)

    def _went_on(self, fault: str, **how: Any) -> None:
        """What followed a message that broke off stands with it."""
        if self.broken_off:
            Message.objects.filter(public_id=self.broken_off).update(extra={"fault": fault, **how})

    @_apply.register
    def _(self, event: events.ToolStarted) -> None:
        self._call(
            event.call,
            status=CallStatus.STARTED.value,
            arguments=encode(event.arguments),
            attempt=event.attempt,
            started_at=self.now,
        )
        if event.untrusted:
            taint.started(self.run, event, self.now)
        if event.grant:
            grants.used(self.run, event)

    @_apply.register
    def _(self, event: events.ToolFinished) -> None:
        self._call(
            event.call,
            status=event.status.value,
            result=event.result.content,
            result_full=event.result.full,
            result_kind=event.result.kind.value,
            seconds=event.seconds,
            tries=event.attempts,
            kept_s=event.kept_s,
            finished_at=self.now,
        )
        answering.finished(self.run, event, self.now)
        taint.arrived(event, self.now)

    @_apply.register
    def _(self, event: events.ToolReplaced) -> None:
        self._call(event.call, **answering.by_another(self.run, event))

    @_apply.register
    def _(self, event: events.ToolSuspended) -> None:
        wanted = encode(event.schema)
        self._call(event.call, status=CallStatus.SUSPENDED.value, detail=event.prompt, answer_schema=wanted)

    @_apply.register
    def _(self, event: events.OutcomeUnknown) -> None:
        self._call(event.call, status=CallStatus.UNKNOWN.value)

    @_apply.register
    def _(self, event: events.ArgumentsRewritten) -> None:
        self._call(event.call, arguments=encode(event.arguments))

    @_apply.register
    def _(self, event: events.StopRequested) -> None:
        if not self.run.stop_after:  # what a person wants comes first
            self.changes.setdefault("stop_after", event.after.value)

    def _take_answer(self, answer: str) -> None:
        CallAnswer.objects.filter(public_id=answer, run=self.run).update(taken_at=self.now)

    @_apply.register
    def _(self, event: events.ResultReceived) -> None:
        self._take_answer(event.answer)

    @_apply.register
    def _(self, event: events.OutcomeSettled) -> None:
        if event.answer:
            self._take_answer(event.answer)
        if event.outcome is Resolution.NOT_DONE:
            self._call(event.call, status=CallStatus.OPEN.value)

    @_apply.register
    def _(self, event: events.ApprovalRequested) -> None:
        call = Call.objects.only("pk").get(public_id=event.call, run=self.run)
        approval = Approval.objects.create(
            public_id=event.approval,
            run=self.run,
            call=call,
            arguments=encode(event.arguments),
            risk=event.risk.value,
            digest=event.digest,
            rule=event.rule[:300],
            requires_comment=event.requires_comment,
            fact=event.fact,
            effect=event.effect,
            preview=encode(event.preview),
            facts={"untrusted": encode(event.untrusted)} if event.untrusted else None,
            expires_at=end_of_wait(event.terms, self.now),
            previewed_at=self.now if event.seen else None,
            definition=event.definition,
            seen=event.seen,
            replaces=self._replaced(event.replaces),
        )
        asking.keep(approval, event.terms, self.now)
        self._call(event.call, status=CallStatus.WAITING.value)

    def _replaced(self, approval: str) -> Approval | None:
        return Approval.objects.only("pk").filter(public_id=approval, run=self.run).first() if approval else None

    @_apply.register
    def _(self, event: events.PreviewRenewed) -> None:
        Approval.objects.filter(public_id=event.approval, run=self.run).update(
            digest=event.digest,
            effect=event.effect,
            preview=encode(event.preview),
            previewed_at=self.now,
            seen=event.seen,
        )

    @_apply.register
    def _(self, event: events.QuestionAsked) -> None:
        Approval.objects.create(
            public_id=event.approval,
            run=self.run,
            question=event.about.value,
            facts=encode(event.facts),
            arguments=encode(event.offer),
            risk=Risk.MEDIUM,
            digest=event.digest,
            rule=event.rule[:300],
            for_admins=event.admins,
        )

    @_apply.register
    def _(self, event: events.QuestionDecided) -> None:
        self._decided(event)
        if event.about is Question.BUDGET and event.arguments is not None:
            row = Approval.objects.only("pk", "facts").get(public_id=event.approval)
            more = Decimal(str(event.arguments["amount"]))
            spending.top_up(approval=row.pk, run=self.run.pk, facts=row.facts or {}, more=more)

    @_apply.register
    def _(self, event: events.ApprovalDecided) -> None:
        self._decided(event)

    def _decided(self, event: events.ApprovalDecided | events.QuestionDecided) -> None:
        Approval.objects.filter(public_id=event.approval, taken_at=None).update(taken_at=self.now)
        if event.status in (ApprovalStatus.EXPIRED, ApprovalStatus.CANCELLED):
            Approval.objects.filter(public_id=event.approval, status=Approval.Status.PENDING).update(
                status=event.status.value, decided_at=self.now
            )

    @_apply.register
    def _(self, event: events.RunPaused) -> None:
        self.changes |= {
            "status": Run.Status.WAITING,
            "owner": None,
            "attempts": 0,
            "held_at": self.now if event.lost else None,
        }

    @_apply.register
    def _(self, event: events.RunHeld) -> None:
        halt = Halt.objects.only("pk").get(public_id=event.halt)
        held = {"status": Run.Status.WAITING, "owner": None, "attempts": 0, "held_at": self.now, "halt_id": halt.pk}
        self.changes |= held

    @_apply.register
    def _(self, event: events.RunFinished) -> None:
        self.changes |= {
            "status": Run.Status.FINISHED,
            "owner": None,
            "outcome": event.outcome.value,
            "reason": event.reason.value,
            "reason_text": event.text,
            "error": encode(event.error),
            "finished_at": self.now,
        }
        self.run.queue.filter(status=QueuedMessage.Status.QUEUED).update(status=QueuedMessage.Status.RETURNED)
        _CONVERSATION({"active_at": self.now}, pk=self.run.conversation_id)
