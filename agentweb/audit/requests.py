"""The exact request of a model call, made again from the record alone and held against the digest recorded then.

The events of the conversation are replayed by the engine's own transcript, up to the call; prompt, tools and model
come from the run's snapshot; the module that talks to models builds the body. No key and no endpoint is touched.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from asgiref.sync import async_to_sync
from django.utils.translation import gettext as _

from agentweb.engine.codec import decode
from agentweb.engine.events import Event as Fact
from agentweb.engine.events import ModelRequested, RunStarted, SummaryRequested
from agentweb.engine.extending import SHAPING, shaped
from agentweb.engine.folding import summary_request
from agentweb.engine.messages import UserMessage
from agentweb.engine.ports import ModelRequest
from agentweb.engine.seams import About
from agentweb.engine.spending import spent
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Limits, Usage
from agentweb.llm.config import ConfigError
from agentweb.llm.recorded import config_of
from agentweb.llm.request import WireRequest, build_request
from agentweb.registry.seams import installed
from agentweb.registry.snapshots import specs_in
from agentweb.runs.errors import NotFound
from agentweb.runs.models import Event, Message, Run

# What a model reads later.
SAYS = ("RunStarted", "SteeringTaken", "FollowUpTaken", "NoteAdded", "ContextFolded", "MessageFinished", "ToolFinished")
Asked = ModelRequested | SummaryRequested
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError)  # what a record raises that makes no sense any more


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """``body`` is what was sent, if it ``matches`` the record. ``problem`` says why there is no body."""

    asked: Asked
    body: Mapping[str, Any]
    digest: str
    problem: str = ""

    @property
    def matches(self) -> bool:
        return bool(self.digest) and self.digest == self.asked.digest


def fact_of(event: Event) -> Fact | None:
    """The event as the engine knows it; None for one that was changed until it could not be read."""
    try:
        return decode(event.kind, json.loads(event.payload))
    except UNREADABLE:
        return None


def rebuild(run: Run, number: int) -> Rebuilt:
    """The request of the run's event ``number``. Raises NotFound when that event is no model call."""
    event = run.events.filter(number=number).first()
    asked = fact_of(event) if event else None
    if not isinstance(asked, Asked):
        raise NotFound(_("There is no such model call."))
    try:
        built = _build(run, number, asked)
    except ConfigError as error:  # it could not be called then either
        return Rebuilt(asked, {}, "", str(error))
    except UNREADABLE:
        return Rebuilt(asked, {}, "", _("The record cannot be read, so the request cannot be made again."))
    return Rebuilt(asked, built.body, built.digest)


def _build(run: Run, number: int, asked: Asked) -> WireRequest:
    """Raises one of UNREADABLE, and ConfigError for a model that cannot be used."""
    snapshot = json.loads(run.snapshot.data)
    said = _said_before(run, number)
    request = _request(asked, said, snapshot)
    return build_request(config_of(_model(asked, snapshot)), _shaped(run, number, asked, request, said))


def _model(asked: Asked, snapshot: Mapping[str, Any]) -> Mapping[str, Any]:
    """The agent's model, the cheaper one where people chose that, or its fallback."""
    others = [snapshot[which] for which in ("cheaper", "fallback") if snapshot.get(which)]
    found: Mapping[str, Any] = next((one for one in others if one["name"] == asked.model), snapshot["model"])
    return found


def _request(asked: Asked, said: Transcript, snapshot: Mapping[str, Any]) -> ModelRequest:
    match asked:
        case ModelRequested():
            return ModelRequest(asked.message, snapshot["system"], said.history(), specs_in(snapshot), asked.purpose)
        case SummaryRequested():
            return summary_request(said, asked.message, asked.messages, asked.folds, asked.room, asked.notes)


def _shaped(run: Run, number: int, asked: Asked, request: ModelRequest, said: Transcript) -> ModelRequest:
    """The request as the extensions that are installed now want it; other ones then show in the digest."""
    seams = installed()
    if not any(seams.at(point) for point in SHAPING):
        return request
    facts = [_decoded(event) for event in run.events.filter(number__lt=number).order_by("number")]
    snapshot = json.loads(run.snapshot.data)
    about = About(
        run=str(run.public_id),
        conversation=str(run.conversation.public_id),
        agent=snapshot["agent"]["name"],
        turn=asked.turn,
        messages=said.history(whole=True),
        tools=specs_in(snapshot),
        usage=sum((spent(fact) for fact in facts), Usage()),
        limits=Limits(max_turns=snapshot["max_turns"]),
    )
    return async_to_sync(shaped)(seams, None, request, lambda: about).request


def _said_before(run: Run, number: int) -> Transcript:
    """What was said in the conversation before the run's event ``number``."""
    rows = Event.objects.filter(run__conversation=run.conversation_id, kind__in=SAYS)
    earlier = rows.filter(run__lt=run.pk).order_by("run_id", "number")
    facts = [_decoded(event) for event in (*earlier, *rows.filter(run=run.pk, number__lt=number).order_by("number"))]
    return replay(facts, _questions(facts))


def replay(facts: Iterable[Fact], questions: Mapping[str, UserMessage]) -> Transcript:
    """The transcript that the events make. ``questions``: the messages that runs were started by, by id."""
    transcript = Transcript()
    asked: set[str] = set()
    for fact in facts:
        if isinstance(fact, RunStarted) and fact.message in questions and fact.message not in asked:
            asked.add(fact.message)  # a run that was tried again answers a message that is there already
            transcript.messages.append(questions[fact.message])
        transcript.apply(fact)
    return transcript


def _questions(facts: Iterable[Fact]) -> dict[str, UserMessage]:
    """An event names the message that a run answers; its words are in the row."""
    ids = [fact.message for fact in facts if isinstance(fact, RunStarted)]
    rows = Message.objects.filter(public_id__in=ids).select_related("author")
    return {
        str(row.public_id): UserMessage(str(row.public_id), row.text, row.author.display_name if row.author else "")
        for row in rows
    }


def _decoded(event: Event) -> Fact:
    return decode(event.kind, json.loads(event.payload))
