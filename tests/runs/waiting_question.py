"""A run that asks about itself and waits, written through the journal as the worker would."""

from uuid import uuid4

from agentweb.engine import enums, events
from agentweb.engine.digest import question_digest
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.runs.models import Approval, Run
from agentweb.runs.selectors import approval_for
from tests.cast import Cast, make_worker

CIRCLES = {"sign": "same_call", "name": "read_file", "arguments": {"path": "a.txt"}}


def waiting_question(
    cast: Cast,
    run: Run,
    about: enums.Question = enums.Question.CIRCLES,
    facts=None,
    offer=None,
    *,
    admins: bool = False,
) -> Approval:
    """The pending question of a run that has said one thing, as the owner sees it."""
    facts, offer = CIRCLES if facts is None else facts, offer or {}
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    message, question = str(uuid4()), str(uuid4())
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    said = events.MessageFinished(AssistantMessage(message, "Working."), Usage())
    digest = question_digest(about.value, facts, offer)
    asked = events.QuestionAsked(question, about, facts, offer, digest, "rule", admins)
    paused = events.RunPaused((), Usage(), question=question)
    journal.append(holder, (said, events.TurnFinished(1), asked, paused))
    return approval_for(cast.owner, question)
