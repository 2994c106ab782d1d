"""What keeps a run from its next model call: a limit that it has reached, or a question that people must answer first.

Nothing is remembered here: limits are counted from the transcript and from recorded usage.
"""

from agentweb.engine import sentences
from agentweb.engine.budgets import (
    Budget,
    amount,
    forecast,
    number,
    plain,
    turns_left,
    updated,
    used_up,
    worth_asking,
)
from agentweb.engine.closing import End, end_for, question_decided
from agentweb.engine.digest import canonical, question_digest
from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import NoteKind, Outcome, Question, Reason, ResultKind, Unit
from agentweb.engine.events import NoteAdded, QuestionAsked
from agentweb.engine.guard import Circle, circle
from agentweb.engine.messages import AssistantMessage, Json
from agentweb.engine.transcript import Asked, Transcript
from agentweb.engine.usage import Usage
from agentweb.engine.work import Work

GUARD = "loop guard"
BUDGET = "budget"
UNUSABLE = (ResultKind.INVALID_ARGUMENTS, ResultKind.UNKNOWN_TOOL)
REASON_OF = {Unit.TOKENS: Reason.TOKENS, Unit.COST: Reason.COST, Unit.SECONDS: Reason.TIME}


async def barrier(work: Work, found: Circle | None) -> End | QuestionAsked | None:
    """An end or a question, or None when the model may be called. ``found``: the run goes in circles."""
    if reason := _limit(work, found):
        return end_for(Outcome.LIMIT_REACHED, reason, turns=work.setup.limits.max_turns)
    budgets = updated(await work.setup.budgets.current(), work.unrecorded)
    if gone := used_up(budgets):
        return end_for(Outcome.LIMIT_REACHED, REASON_OF[gone.unit])
    if found is not None and found.rung == 1:
        return _about_circles(work, found)
    calls = _model_calls(work.transcript)
    tight = worth_asking(budgets, calls)
    return _about_budget(work, tight, calls) if tight else None


def _limit(work: Work, found: Circle | None) -> Reason | None:
    """The limit that the run has reached by itself, or for which people do not let it go on."""
    transcript, limits = work.transcript, work.setup.limits
    if transcript.question is not None:  # a yes would have left nothing of it
        return _declined(transcript.question)
    if not transcript.turn_open and work.usage.turns >= limits.max_turns:
        return Reason.TURNS
    if reasks(transcript) > limits.max_reasks:
        return Reason.MALFORMED
    return Reason.CIRCLES if found is not None and found.rung > 1 else None


def _declined(asked: Asked) -> Reason:
    match asked.about:
        case Question.CIRCLES:
            return Reason.CIRCLES
        case Question.BUDGET:
            return REASON_OF[Unit(asked.facts["unit"])]


def _about_circles(work: Work, found: Circle) -> QuestionAsked:
    facts = {"sign": found.sign.value, "name": found.last.name, "arguments": _plain(found)}
    return _question(work, Question.CIRCLES, facts, {}, GUARD)


def _about_budget(work: Work, budget: Budget, calls: list[Usage]) -> QuestionAsked:
    """How it stands with the budget, what comes next, and how much more is proposed."""
    facts = {
        "budget": budget.id,
        "pot": budget.pot,
        "unit": budget.unit.value,
        "limit": plain(budget.ceiling),
        "spent": plain(budget.spent),
        "next": plain(amount(forecast(calls), budget.unit)),
        "turns": turns_left(budget, calls),
        **dict(budget.names),
    }
    offer: dict[str, Json] = {"amount": number(budget.offer)}
    if work.fold_plan(forced=True) is not None:
        offer["compact"] = False
    if work.setup.cheaper and not work.transcript.cheaper:
        offer["cheaper"], facts["cheaper"] = False, work.setup.cheaper.name
    return _question(work, Question.BUDGET, facts, offer, BUDGET, admins=budget.admins)


def _model_calls(transcript: Transcript) -> list[Usage]:
    """What each model call of this run has cost, the oldest first; of a context that is to be folded, or was, nothing
    is foretold by what it cost before."""
    if transcript.must_fold:
        return []
    said = transcript.messages[max(transcript.began, transcript.folded_at) :]
    return [transcript.usages[message.id] for message in said if message.id in transcript.usages]


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


def _question(
    work: Work, about: Question, facts: dict[str, Json], offer: dict[str, Json], rule: str, *, admins: bool = False
) -> QuestionAsked:
    digest = question_digest(about.value, facts, offer)
    return QuestionAsked(work.setup.new_id(), about, facts, offer, digest, rule, admins)


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
