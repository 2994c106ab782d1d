"""What keeps a run from its next model call: a limit that it has reached, or a question that people must answer first.

Nothing is remembered here: limits are counted from the transcript and from recorded usage.
"""

from agentweb.engine import sentences
from agentweb.engine.closing import End, end_for, question_decided
from agentweb.engine.digest import canonical, question_digest
from agentweb.engine.enums import NoteKind, Outcome, Question, Reason, ResultKind
from agentweb.engine.events import NoteAdded, QuestionAsked
from agentweb.engine.guard import Circle, circle
from agentweb.engine.messages import AssistantMessage, Json
from agentweb.engine.transcript import CallEntry, Transcript
from agentweb.engine.work import Work

GUARD = "loop guard"
UNUSABLE = (ResultKind.INVALID_ARGUMENTS, ResultKind.UNKNOWN_TOOL)
REASONS = {Question.CIRCLES: Reason.CIRCLES}


def barrier(work: Work, found: Circle | None) -> End | QuestionAsked | None:
    """An end or a question, or None when the model may be called. ``found``: the run goes in circles."""
    asked = work.transcript.question
    if asked is not None:  # a yes would have left nothing of it
        return _end(REASONS[asked.about])
    if not work.transcript.turn_open and work.usage.turns >= work.setup.limits.max_turns:
        return end_for(Outcome.LIMIT_REACHED, Reason.TURNS, turns=work.setup.limits.max_turns)
    if reasks(work.transcript) > work.setup.limits.max_reasks:
        return _end(Reason.MALFORMED)
    if found is not None and found.rung > 1:
        return _end(Reason.CIRCLES)
    if found is not None and found.rung == 1:
        facts = {"sign": found.sign.value, "name": found.last.name, "arguments": _plain(found)}
        return ask(work, Question.CIRCLES, facts, {}, GUARD)
    return None


def reasks(transcript: Transcript) -> int:
    """How many times in this run the model asked for calls of which none could be used."""
    said = (one for one in transcript.messages[transcript.began :] if isinstance(one, AssistantMessage) and one.calls)
    return sum(all(_unusable(transcript.calls[call.id]) for call in message.calls) for message in said)


def _unusable(entry: CallEntry) -> bool:
    return entry.result is not None and entry.result.kind in UNUSABLE


def circles(work: Work) -> Circle | None:
    """How the run goes in circles, if it does and is watched."""
    reads = (spec.name for spec in work.setup.tools.specs if spec.reads)
    return circle(work.transcript, reads) if work.setup.guard else None


def correction(work: Work, found: Circle) -> NoteAdded:
    """What the model is told at first."""
    text = sentences.other_method(found.sign, found.last.name, found.last.raw or canonical(found.last.arguments))
    return NoteAdded(work.setup.new_id(), work.transcript.turn, NoteKind.CIRCLES, text)


def ask(work: Work, about: Question, facts: dict[str, Json], offer: dict[str, Json], rule: str) -> QuestionAsked:
    digest = question_digest(about.value, facts, offer)
    return QuestionAsked(work.setup.new_id(), about, facts, offer, digest, rule)


def take_up_answer(work: Work) -> None:
    """Record what people said about the run. The model is told when it may go on although it repeated itself."""
    decided = question_decided(work.transcript.question)
    if decided is None:
        return
    work.add(decided)
    if decided.about is Question.CIRCLES and decided.arguments is not None:
        note = sentences.allowed(decided.comment)
        work.add(NoteAdded(work.setup.new_id(), work.transcript.turn, NoteKind.ALLOWED, note))


def _plain(found: Circle) -> Json:
    return None if found.last.arguments is None else dict(found.last.arguments)


def _end(reason: Reason) -> End:
    return end_for(Outcome.LIMIT_REACHED, reason)
