"""Everything that people do to conversations and runs. Each is one transaction; pages, API and commands call these."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import BigAutoField, CharField
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentweb.engine.enums import NoteKind, StopAfter
from agentweb.engine.events import RunStarted
from agentweb.registry import snapshots
from agentweb.registry.models import Agent
from agentweb.registry.placeholders import Values
from agentweb.runs import journal, live, outbox
from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound
from agentweb.runs.idempotency import Answer, once
from agentweb.runs.models import (
    Approval,
    Conversation,
    Message,
    QueuedMessage,
    Run,
    Snapshot,
    Visibility,
)
from agentweb.schema.json_text import digest
from agentweb.schema.text import clean
from agentweb.teams import fixed
from agentweb.teams.access import default_team, role_in
from agentweb.teams.models import Role, Team, User

MAX_TEXT = 100_000
MAX_TITLE = 200
MAX_TURNS = 200
DELIVERIES = ("auto", "steer", "follow_up")


_LIVE = fixed.Query(
    lambda conversation: (
        Run.objects.select_for_update().filter(conversation=conversation).exclude(status=Run.Status.FINISHED).order_by()
    ),
    conversation=BigAutoField(),
)
_AGENT = fixed.Query(
    lambda pk: Agent.objects.select_related("model", "prompt").filter(pk=pk).order_by(), pk=BigAutoField()
)
_SNAPSHOT = fixed.Query(lambda digest: Snapshot.objects.filter(digest=digest).order_by().only("pk"), digest=CharField())
_ACTIVE = fixed.Update(lambda pk: Conversation.objects.filter(pk=pk, deleted_at=None), pk=BigAutoField())
_UNNAMED = fixed.Update(lambda pk: Conversation.objects.filter(pk=pk, title=""), pk=BigAutoField())


@dataclass(frozen=True, slots=True)
class Sent:
    """Where a message went: ``delivered`` is now, steering or follow_up. ``row``: the message that began the run."""

    message: str
    run: Run
    delivered: str
    row: Message | None = None


# --- conversations --------------------------------------------------------------------------------------------------


def create_conversation(
    *, user: User, agent: Agent, team: Team | None = None, title: str = "", visibility: str = Visibility.PRIVATE
) -> Conversation:
    """A new, empty conversation. Raises Forbidden when the person does not chat in the team."""
    team = team or agent.team or default_team(user=user)
    if team is None or role_in(user=user, team_id=team.pk) not in (Role.MEMBER, Role.ADMIN):
        raise Forbidden(_("You can start conversations only in a team of which you are a member."))
    if agent.team_id not in (None, team.pk):
        raise Forbidden(_("This agent belongs to another team."))
    return Conversation.objects.create(
        team=team, owner=user, agent=agent, title=title_of(title), visibility=visibility_of(visibility)
    )


def start_conversation(
    *, user: User, agent: Agent, visibility: str = Visibility.PRIVATE, text: str = "", key: str = ""
) -> Conversation:
    """A new conversation with its first message, if there is one: both, or neither. ``key`` as for `send_message`."""

    def start() -> tuple[Conversation, Answer]:
        made = create_conversation(user=user, agent=agent, visibility=visibility)
        if text.strip():
            _begin(user, made, _text(text))
        return made, {"conversation": str(made.public_id)}

    def again(answer: Answer) -> Conversation:
        return Conversation.objects.get(public_id=answer["conversation"])

    return once(user, key, digest([str(agent.public_id), visibility, text]), start, again)


# --- messages -------------------------------------------------------------------------------------------------------


def send_message(
    *,
    user: User,
    conversation: Conversation,
    text: str,
    delivery: str = "auto",
    key: str = "",
    attended: bool = True,
) -> Sent:
    """Store what a person says and get it to the agent: at once when no run is live, else into the run's inbox.

    Not ``attended``: nobody will be there to decide in the run that begins; a live run stays as it was started.
    ``key`` makes the request idempotent: sent again, it changes nothing and gets the same answer.
    """
    needs(conversation.may.write)
    text = _text(text)
    if delivery not in DELIVERIES:
        raise Invalid(_("The delivery is not one of auto, steer, follow_up."), [("delivery", _("Unknown delivery."))])

    def send() -> tuple[Sent, Answer]:
        sent = _send(user, conversation, text, delivery, attended)
        return sent, {"message": sent.message, "run": str(sent.run.public_id), "delivered": sent.delivered}

    said = [str(conversation.public_id), text, delivery, *([] if attended else ["unattended"])]
    return once(user, key, digest(said), send, _sent)


def _sent(answer: Answer) -> Sent:
    run = Run.objects.select_related("conversation").get(public_id=answer["run"])
    return Sent(answer["message"], run, answer["delivered"])


def _send(user: User, conversation: Conversation, text: str, delivery: str, attended: bool) -> Sent:
    run: Run | None = _LIVE.first(conversation=conversation.pk)
    if run is None:
        return _begin(user, conversation, text, attended=attended)
    run.conversation = conversation
    return _queue(user, run, text, delivery)


def _begin(
    user: User, conversation: Conversation, text: str, max_turns: int | None = None, *, attended: bool = True
) -> Sent:
    message = Message(conversation=conversation, role=Message.Role.USER, author=user, text=text)
    return begun_by(message, _start_run(user, conversation, message, max_turns, attended=attended))


def begun_by(message: Message, run: Run) -> Sent:
    """Store the message that the new run answers."""
    conversation, text, message.run = message.conversation, message.text, run
    fixed.insert(message)
    if not conversation.title:
        conversation.title = title_of(" ".join(text.split())[:80])
        _UNNAMED({"title": conversation.title}, pk=conversation.pk)
    return Sent(str(message.public_id), run, "now", message)


def _start_run(
    user: User,
    conversation: Conversation,
    message: Message,
    max_turns: int | None = None,
    *,
    attended: bool = True,
) -> Run:
    """``message`` is the one that the run answers; it need not be stored yet."""
    now = timezone.now()
    if not _ACTIVE({"active_at": now, "archived_at": None}, pk=conversation.pk):
        raise NotFound(_("There is no such conversation, or it is not yours to see."))
    agent: Agent = _AGENT.first(pk=conversation.agent_id)
    if not agent.enabled:
        raise Conflict(_("The agent %(agent)s is switched off. Ask an admin.") % {"agent": agent.name})
    try:
        built = snapshots.build(agent, max_turns=max_turns, of_run=_of_run(conversation, message, now))
    except snapshots.NoModel as error:
        raise Conflict(_("No model is set up. Ask an admin.")) from error
    run = Run(conversation=conversation, agent=agent, requested_by=user, attended=attended)
    return start_run(run, message, built, max_turns or agent.max_turns)


def start_run(run: Run, message: Message, built: snapshots.Built, limit: int) -> Run:
    """Queue a new run that uses what the snapshot says and has so many turns."""
    snapshot = _SNAPSHOT.first(digest=built.digest)
    if snapshot is None:
        snapshot, _created = Snapshot.objects.get_or_create(digest=built.digest, defaults={"data": built.text})
    run.snapshot, run.queued_at, run.enqueued_at = snapshot, *[timezone.now()] * 2
    began = RunStarted(str(message.public_id), run.agent.name, built.model_name, limit, built.digest, run.attended)
    journal.start(run, (began,))
    outbox.enqueue(str(run.public_id))
    return run


def _of_run(conversation: Conversation, message: Message, now: datetime) -> Values:
    """What a system prompt may say of the run that begins; looked up only where one does."""
    return {
        "question": lambda: message.text,
        "notes": lambda: _notes(conversation),
        "date": lambda: now.strftime("%Y-%m-%d, %A"),
        "team": lambda: conversation.team.name,
    }


def _notes(conversation: Conversation) -> str:
    """The working notes that were made when older messages were folded last."""
    folds = conversation.messages.filter(role=Message.Role.SYSTEM, why=NoteKind.FOLDED.value).order_by("-pk")
    return next((extra["notes"] for extra in folds.values_list("extra", flat=True)[:20] if extra.get("notes")), "")


def _queue(user: User, run: Run, text: str, delivery: str) -> Sent:
    kind = QueuedMessage.Delivery.FOLLOW_UP if delivery == "follow_up" else QueuedMessage.Delivery.STEERING
    queued = QueuedMessage.objects.create(run=run, author=user, delivery=kind, text=text)
    outbox.touch(run)
    return Sent(str(queued.public_id), run, kind.value)


def edit_queued(*, user: User, queued: QueuedMessage, text: str) -> QueuedMessage:
    """Change a message that waits. Raises Conflict once the run has taken it."""
    needs(queued.run.conversation.may.write)
    text = _text(text)
    changed = QueuedMessage.objects.filter(pk=queued.pk, status=QueuedMessage.Status.QUEUED).update(
        text=text, revision=queued.revision + 1
    )
    return _after_change(queued, changed)


def remove_queued(*, user: User, queued: QueuedMessage) -> QueuedMessage:
    """Take back a message that waits. Raises Conflict once the run has taken it."""
    needs(queued.run.conversation.may.write)
    changed = QueuedMessage.objects.filter(pk=queued.pk, status=QueuedMessage.Status.QUEUED).update(
        status=QueuedMessage.Status.REMOVED, revision=queued.revision + 1
    )
    return _after_change(queued, changed)


def deliver_next(*, user: User, queued: QueuedMessage) -> QueuedMessage:
    """Let the agent read a waiting message before its next step, not only at its end. Raises Conflict once taken."""
    needs(queued.run.conversation.may.write)
    changed = QueuedMessage.objects.filter(pk=queued.pk, status=QueuedMessage.Status.QUEUED).update(
        delivery=QueuedMessage.Delivery.STEERING, revision=queued.revision + 1
    )
    return _after_change(queued, changed)


def _after_change(queued: QueuedMessage, changed: int) -> QueuedMessage:
    run = queued.run
    queued.refresh_from_db()
    queued.run = run
    if not changed:
        raise Conflict(
            _("This message is no longer queued: %(state)s.") % {"state": queued.get_status_display()},
            {"status": queued.status},
        )
    outbox.touch(run)
    return queued


# --- runs -----------------------------------------------------------------------------------------------------------


def cancel_run(*, user: User, run: Run) -> bool:
    """End the run as soon as possible; True when this was the first to ask. Nothing that waits for a decision runs."""
    needs(run.conversation.may.cancel)
    now = timezone.now()
    with transaction.atomic():
        changed = (
            Run.objects.filter(pk=run.pk, cancel_requested_at=None)
            .exclude(status=Run.Status.FINISHED)
            .update(cancel_requested_at=now, cancel_requested_by=user)
        )
        if changed:
            Approval.objects.filter(run=run, status=Approval.Status.PENDING).update(
                status=Approval.Status.CANCELLED, decided_at=now
            )
            journal.mark_queued(run, release=True)
            outbox.touch(run)
            transaction.on_commit(lambda: live.control(str(run.public_id)), robust=True)
    run.refresh_from_db(fields=["status", "outcome", "cancel_requested_at", "enqueued_at"])
    return bool(changed)


def stop_run(*, user: User, run: Run, after: str) -> bool:
    """End the run at the next seam, after reasoning or after acting; True when this changed something."""
    needs(run.conversation.may.cancel)
    if after not in tuple(StopAfter):
        raise Invalid(_("A run can be stopped after reasoning or after acting."), [("after", _("Unknown seam."))])
    with transaction.atomic():
        changed = Run.objects.filter(pk=run.pk).exclude(status=Run.Status.FINISHED).update(stop_after=after)
        if changed:
            journal.mark_queued(run, release=True)
            outbox.touch(run)
            transaction.on_commit(lambda: live.control(str(run.public_id)), robust=True)
    if not changed:
        raise Conflict(_("The run is finished already."), {"status": Run.Status.FINISHED.value})
    return True


def resume_run(*, user: User, run: Run) -> None:
    """Let a run go on that is held since its worker was lost. Raises Conflict when it is not."""
    needs(run.conversation.may.decide)
    with transaction.atomic():
        if not Run.objects.filter(pk=run.pk, held_at__isnull=False, halt=None).exists() or not journal.mark_queued(
            run, release=True
        ):
            raise Conflict(_("The run does not wait for someone to let it go on."), {"status": run.status})
        outbox.touch(run)


def retry_run(*, user: User, run: Run) -> Run:
    """Try again after a run that did not answer: a new run for the same conversation as it stands."""
    needs(run.conversation.may.write)
    if run.status != Run.Status.FINISHED or run.outcome == Run.Outcome.ANSWERED:
        raise Conflict(_("Only a run that ended without an answer can be tried again."), {"status": run.status})
    message = run.conversation.messages.filter(role=Message.Role.USER, turn=0).order_by("-pk").first()
    if message is None or _moved_on(run):
        raise Conflict(_("The conversation has moved on since this run."), {"status": run.status})
    try:
        with transaction.atomic():
            return _start_run(user, run.conversation, message)
    except IntegrityError as error:
        raise Conflict(_("Another run of this conversation has just started."), {}) from error


def continue_run(*, user: User, run: Run, turns: int | None = None) -> Run:
    """Go on after a limit: a new run that knows all that was done, with so many turns (without: the agent's limit).

    Raises Conflict when the run did not end at a limit or the conversation has moved on; Invalid for the turns."""
    needs(run.conversation.may.write)
    if run.status != Run.Status.FINISHED or run.outcome != Run.Outcome.LIMIT_REACHED:
        state = {"status": run.status, "outcome": run.outcome or None}
        raise Conflict(_("Only a run that ended at a limit can be continued."), state)
    if _moved_on(run):
        raise Conflict(_("The conversation has moved on since this run."), {"status": run.status})
    turns = run.agent.max_turns if turns is None else _turns(turns)
    words = ngettext(
        "Please go on. You have %(turns)d more turn.", "Please go on. You have %(turns)d more turns.", turns
    )
    try:
        with transaction.atomic():
            return _begin(user, run.conversation, words % {"turns": turns}, turns).run
    except IntegrityError as error:
        raise Conflict(_("Another run of this conversation has just started."), {}) from error


def _moved_on(run: Run) -> bool:
    return run.conversation.runs.filter(pk__gt=run.pk).exists()


def _turns(turns: Any) -> int:
    if type(turns) is not int or not 1 <= turns <= MAX_TURNS:
        words = _("Enter a whole number of turns from 1 to %(limit)d.") % {"limit": MAX_TURNS}
        raise Invalid(words, [("turns", words)])
    return turns


# --- shared checks --------------------------------------------------------------------------------------------------


def needs(allowed: bool) -> None:
    if not allowed:
        raise Forbidden(_("You can read this conversation but not change it."))


def _text(text: Any) -> str:
    if not isinstance(text, str) or not (text := clean(text)).strip():
        raise Invalid(_("The message is empty."), [("text", _("Write something first."))])
    if len(text) > MAX_TEXT:
        words = _("The message is longer than %(limit)d characters.") % {"limit": MAX_TEXT}
        raise Invalid(words, [("text", words)])
    return text


def title_of(title: str) -> str:
    title = " ".join(clean(title).split())
    if len(title) > MAX_TITLE:
        words = _("The title is longer than %(limit)d characters.") % {"limit": MAX_TITLE}
        raise Invalid(words, [("title", words)])
    return title


def visibility_of(visibility: str) -> str:
    if visibility not in Visibility.values:
        raise Invalid(_("Visibility is private or team."), [("visibility", _("Unknown visibility."))])
    return visibility
