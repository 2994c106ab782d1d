"""What an event says, on one line, in the viewer's language."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentweb.engine import events
from agentweb.engine.codec import encode
from agentweb.engine.enums import CallStatus, Purpose, Reason, Resolution
from agentweb.policy.retelling import retold
from agentweb.policy.terms_words import told
from agentweb.ui import notes, questions, reasons
from agentweb.ui.calls import DECISIONS, RESULTS, STATES
from agentweb.ui.goals import goal_words
from agentweb.ui.running import kept, tried


@dataclass(frozen=True, slots=True)
class Telling:
    """``icon`` and ``css`` as for a state; ``detail`` is recorded text, perhaps from a model or a tool."""

    title: str
    icon: str
    css: str = ""
    detail: str = ""


def tell(kind: str, fact: events.Event | None, tool: str) -> Telling:
    """``tool`` is the label of the tool that the event is about. An event that cannot be read says so."""
    if fact is None:
        return Telling(_("%(kind)s: this event cannot be read") % {"kind": kind}, "triangle-alert", "failed")
    return _TELLERS[type(fact)](fact, tool)


def _run_started(fact: events.RunStarted, _tool: str) -> Telling:
    words = ngettext(
        "The run began: %(agent)s with %(model)s, at most %(turns)d turn",
        "The run began: %(agent)s with %(model)s, at most %(turns)d turns",
        fact.max_turns,
    )
    nobody = "" if fact.attended else _("Nobody attends this run: what would be asked is refused.")
    told = words % {"agent": fact.agent, "model": fact.model, "turns": fact.max_turns}
    return Telling(told, "message-square", "", nobody)


def _run_claimed(fact: events.RunClaimed, _tool: str) -> Telling:
    return Telling(_("Taken by the worker %(worker)s") % {"worker": fact.worker}, "monitor")


def _run_resumed(fact: events.RunResumed, _tool: str) -> Telling:
    if fact.recovered:
        return Telling(_("Taken up again after its worker was lost"), "rotate-ccw", "waiting")
    return Telling(_("Taken up again after a pause"), "rotate-ccw")


def _turn_started(fact: events.TurnStarted, _tool: str) -> Telling:
    return Telling(_("Turn %(turn)d begins") % {"turn": fact.turn}, "chevron-right")


def _turn_finished(fact: events.TurnFinished, _tool: str) -> Telling:
    return Telling(_("Turn %(turn)d ends") % {"turn": fact.turn}, "chevron-right")


def _steering_taken(fact: events.SteeringTaken, _tool: str) -> Telling:
    return Telling(_("Taken from the inbox before the agent goes on"), "corner-down-right")


def _follow_up_taken(fact: events.FollowUpTaken, _tool: str) -> Telling:
    return Telling(_("Taken from the inbox after the agent had finished"), "corner-down-right")


def _goals_checked(fact: events.GoalsChecked, _tool: str) -> Telling:
    missed = [f"{goal_words(**encode(result))}: {result.problem}" for result in fact.results if not result.passed]
    words = _("Goals checked: %(reached)d of %(all)d reached")
    reached = {"reached": len(fact.results) - len(missed), "all": len(fact.results)}
    css, icon = ("failed", "circle-alert") if missed else ("ok", "circle-check")
    return Telling(words % reached, icon, css, "\n".join(missed))


def _note_added(fact: events.NoteAdded, _tool: str) -> Telling:
    return Telling(notes.sentence(fact.about, fact.by), notes.ICON, "", fact.text)


def _summary_requested(fact: events.SummaryRequested, _tool: str) -> Telling:
    return Telling(_("%(model)s is asked to sum up older messages") % {"model": fact.model}, "sparkles")


def _context_folded(fact: events.ContextFolded, _tool: str) -> Telling:
    detail = "\n".join(filter(None, (fact.error.message if fact.error else "", fact.text, fact.notes)))
    return Telling(notes.folded(fact.count, fact.strategy), notes.ICON, "", detail)


def _model_requested(fact: events.ModelRequested, _tool: str) -> Telling:
    if fact.purpose is Purpose.WRAP_UP:
        return Telling(_("%(model)s is asked to sum up, without tools") % {"model": fact.model}, "sparkles")
    if fact.attempt > 1:
        words = _("%(model)s is asked, attempt %(attempt)d")
        return Telling(words % {"model": fact.model, "attempt": fact.attempt}, "sparkles")
    return Telling(_("%(model)s is asked") % {"model": fact.model}, "sparkles")


def _message_finished(fact: events.MessageFinished, _tool: str) -> Telling:
    return Telling(_("The model's message is complete"), "bot")


def _message_interrupted(fact: events.MessageInterrupted, _tool: str) -> Telling:
    return Telling(_("The model's message broke off"), "circle-alert", "failed", fact.error.message)


def _model_retried(fact: events.ModelRetried, _tool: str) -> Telling:
    words = _("The model is asked again after %(wait).1f s") % {"wait": fact.wait}
    return Telling(words, "rotate-ccw", "waiting", fact.error.message)


def _model_replaced(fact: events.ModelReplaced, _tool: str) -> Telling:
    words = _("%(model)s has failed for good, so %(by)s is asked for the rest of the run")
    return Telling(words % {"model": fact.model, "by": fact.by}, "rotate-ccw", "waiting", fact.error.message)


def _tool_started(fact: events.ToolStarted, tool: str) -> Telling:
    words = _("%(tool)s starts") if fact.attempt == 1 else _("%(tool)s starts, attempt %(attempt)d")
    return Telling(words % {"tool": tool, "attempt": fact.attempt}, "wrench", "", _rule(fact.rule))


def _rule(name: str) -> str:
    return _("Rule: %(rule)s") % {"rule": retold(name, _)} if name else ""


def _tool_finished(fact: events.ToolFinished, tool: str) -> Telling:
    css, icon, state = RESULTS[fact.result.kind]
    how = kept(fact.kept_s) if fact.kept_s is not None else ""
    if fact.attempts > 1:
        how = tried(fact.attempts, failed=fact.result.is_error)
    return Telling(f"{tool}: {state}", icon, css, "\n".join(filter(None, (how, _rule(fact.rule)))))


def _tool_replaced(fact: events.ToolReplaced, tool: str) -> Telling:
    words = _("%(tool)s failed, so %(by)s is used instead") % {"tool": tool, "by": fact.by}
    how = tried(fact.attempts, failed=True) if fact.attempts > 1 else ""
    return Telling(words, "rotate-ccw", "waiting", "\n".join(filter(None, (how, fact.failure.content))))


def _tool_suspended(fact: events.ToolSuspended, tool: str) -> Telling:
    return Telling(_("%(tool)s waits for input") % {"tool": tool}, "circle-pause", "waiting", fact.prompt)


def _outcome_unknown(fact: events.OutcomeUnknown, tool: str) -> Telling:
    css, icon, state = STATES[CallStatus.UNKNOWN]
    return Telling(f"{tool}: {state}", icon, css)


def _outcome_settled(fact: events.OutcomeSettled, tool: str) -> Telling:
    words = {
        Resolution.DONE: _("%(tool)s was done, says %(by)s"),
        Resolution.NOT_DONE: _("%(tool)s was not done, says %(by)s"),
        Resolution.TELL_MODEL: _("Nobody knows what became of %(tool)s, says %(by)s"),
    }[fact.outcome]
    return Telling(words % {"tool": tool, "by": fact.by}, "user" if fact.answer else "wrench", "", fact.comment)


def _result_received(fact: events.ResultReceived, tool: str) -> Telling:
    return Telling(_("The result of %(tool)s came from %(by)s") % {"tool": tool, "by": fact.by}, "user")


def _stop_requested(fact: events.StopRequested, _tool: str) -> Telling:
    return Telling(_("The extension %(seam)s stops the run") % {"seam": fact.by}, "square", "waiting", fact.reason)


def _think_again_requested(fact: events.ThinkAgainRequested, _tool: str) -> Telling:
    words = _("%(by)s has the model think again") if fact.granted else _("%(by)s wanted a new thought once too often")
    return Telling(words % {"by": fact.by}, "rotate-ccw", "" if fact.granted else "waiting")


def _arguments_rewritten(fact: events.ArgumentsRewritten, tool: str) -> Telling:
    return Telling(_("%(by)s changed the arguments of %(tool)s") % {"by": fact.by, "tool": tool}, "pencil")


def _seam_failed(fact: events.SeamFailed, _tool: str) -> Telling:
    words = _("The extension %(seam)s failed at %(point)s")
    detail = f"{fact.error}\n{fact.effect}"
    return Telling(words % {"seam": fact.seam, "point": fact.point}, "triangle-alert", "failed", detail)


def _approval_requested(fact: events.ApprovalRequested, tool: str) -> Telling:
    terms = [_("It takes %(terms)s.") % {"terms": told(fact.terms, _)}] if fact.terms else []
    read = [f"{each.name}: {each.text}" for each in fact.untrusted]
    words = [*terms, *([_("After text that others wrote:"), *read] if read else [])]
    return Telling(_("Approval wanted: %(tool)s") % {"tool": tool}, "shield-alert", "waiting", "\n".join(words))


def _preview_renewed(fact: events.PreviewRenewed, tool: str) -> Telling:
    return Telling(_("Someone looked again: %(tool)s would do something else") % {"tool": tool}, "eye", "waiting")


def _approval_decided(fact: events.ApprovalDecided, tool: str) -> Telling:
    css, icon, state = DECISIONS[fact.status]
    return Telling(f"{tool}: {state}", icon, css)


def _question_asked(fact: events.QuestionAsked, _tool: str) -> Telling:
    title = str(questions.TITLES[fact.about])
    return Telling(title, "circle-help", "waiting", questions.words(fact.about, fact.facts))


def _question_decided(fact: events.QuestionDecided, _tool: str) -> Telling:
    css, icon, words = questions.DECIDED[fact.status]
    return Telling(str(words), icon, css)


def _run_paused(fact: events.RunPaused, _tool: str) -> Telling:
    if fact.lost:
        return Telling(_("The run waits until a person lets it go on"), "circle-pause", "waiting")
    if fact.question:
        return Telling(_("The run waits for a decision"), "circle-pause", "waiting")
    words = ngettext("The run waits for %(count)d call", "The run waits for %(count)d calls", len(fact.calls))
    return Telling(words % {"count": len(fact.calls)}, "circle-pause", "waiting")


def _run_held(fact: events.RunHeld, _tool: str) -> Telling:
    words = _("Held by an emergency stop of %(what)s, by %(by)s")
    return Telling(words % {"what": fact.what or _("everything"), "by": fact.by}, "ban", "waiting", fact.reason)


def _run_finished(fact: events.RunFinished, _tool: str) -> Telling:
    icon = reasons.OUTCOME_ICONS[fact.outcome]
    sentence = reasons.sentence(fact.reason) if fact.reason is not Reason.DONE else ""
    detail = "\n".join(filter(None, (sentence, fact.error.message if fact.error else "")))
    return Telling(reasons.outcome_word(fact.outcome), icon, "failed" if fact.error else "", detail)


_TELLERS: dict[type[events.Event], Callable[[Any, str], Telling]] = {
    events.RunStarted: _run_started,
    events.RunClaimed: _run_claimed,
    events.RunResumed: _run_resumed,
    events.TurnStarted: _turn_started,
    events.SteeringTaken: _steering_taken,
    events.FollowUpTaken: _follow_up_taken,
    events.GoalsChecked: _goals_checked,
    events.NoteAdded: _note_added,
    events.SummaryRequested: _summary_requested,
    events.ContextFolded: _context_folded,
    events.ModelRequested: _model_requested,
    events.MessageFinished: _message_finished,
    events.MessageInterrupted: _message_interrupted,
    events.ModelRetried: _model_retried,
    events.ModelReplaced: _model_replaced,
    events.ToolStarted: _tool_started,
    events.ToolFinished: _tool_finished,
    events.ToolSuspended: _tool_suspended,
    events.ToolReplaced: _tool_replaced,
    events.OutcomeUnknown: _outcome_unknown,
    events.OutcomeSettled: _outcome_settled,
    events.ResultReceived: _result_received,
    events.StopRequested: _stop_requested,
    events.ThinkAgainRequested: _think_again_requested,
    events.ArgumentsRewritten: _arguments_rewritten,
    events.SeamFailed: _seam_failed,
    events.ApprovalRequested: _approval_requested,
    events.ApprovalDecided: _approval_decided,
    events.PreviewRenewed: _preview_renewed,
    events.QuestionAsked: _question_asked,
    events.QuestionDecided: _question_decided,
    events.TurnFinished: _turn_finished,
    events.RunPaused: _run_paused,
    events.RunHeld: _run_held,
    events.RunFinished: _run_finished,
}
