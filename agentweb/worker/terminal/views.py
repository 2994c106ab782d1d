"""How a run is written to a terminal: as a story for people, or as lines of JSON for programs."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from django.utils.translation import gettext as _

from agentweb.engine import events
from agentweb.engine.codec import decode
from agentweb.engine.enums import DeltaKind, Outcome, Question
from agentweb.engine.usage import Usage
from agentweb.runs.live import Frame
from agentweb.runs.models import Event
from agentweb.schema.json_text import brief
from agentweb.schema.text import visible

SHOWN_LINES = 12
DIM, BOLD, PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[0m"

Write = Callable[[str], None]


class View(Protocol):
    def live(self, frame: Frame) -> None:
        """Something that is shown now and recorded later, or never."""

    def event(self, row: Event) -> None:
        """The next recorded event."""

    def break_line(self) -> None:
        """Somebody else is about to write."""


class Lines:
    """Each stored event as one JSON object on one line of ASCII, and nothing else."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def live(self, frame: Frame) -> None: ...

    def event(self, row: Event) -> None:
        at = row.at.isoformat().replace("+00:00", "Z")
        item = {"number": row.number, "kind": row.kind, "at": at, "data": json.loads(row.payload)}
        self._write(json.dumps(item) + "\n")

    def break_line(self) -> None: ...


class Story:
    """Thinking, calls, approvals and the answer as they come, then the totals.

    What comes live is completed from the recorded events, so nothing is missing and nothing is told twice. Characters
    that could steer a terminal or deceive its reader are written as their code points."""

    def __init__(self, write: Write, *, colour: bool) -> None:
        self._write = write
        self._colour = colour
        self._part: tuple[str, DeltaKind] | None = None
        self._told: dict[tuple[str, DeltaKind], int] = {}

    # --- what comes live ---

    def live(self, frame: Frame) -> None:
        if snapshot := frame.get("snapshot"):
            self._grow(snapshot["message"], DeltaKind.THINKING, 0, snapshot["thinking"])
            self._grow(snapshot["message"], DeltaKind.TEXT, 0, snapshot["text"])
        for kind, offset, text in frame.get("deltas", ()):
            self._grow(frame["message"], DeltaKind(kind), offset, text)
        for _call, text, _fraction in frame.get("progress", ()):
            self._line(f"  … {printable(text)}", DIM)

    def _grow(self, message: str, kind: DeltaKind, offset: int, text: str) -> None:
        """Tell what is new of a text of which this piece begins at ``offset``; behind a hole, wait for the whole."""
        told = self._told.get((message, kind), 0)
        fresh = text[told - offset :] if offset <= told else ""
        if not fresh:
            return
        if self._part != (message, kind):
            self.break_line()
            self._part = (message, kind)
        dim = self._colour and kind is DeltaKind.THINKING
        self._write(f"{DIM}{printable(fresh)}{PLAIN}" if dim else printable(fresh))
        self._told[message, kind] = told + len(fresh)

    def break_line(self) -> None:
        if self._part is not None:
            self._write("\n")
            self._part = None

    def _line(self, text: str, style: str = "") -> None:
        self.break_line()
        self._write(f"{style}{text}{PLAIN}\n" if style and self._colour else f"{text}\n")

    # --- what is recorded ---

    def event(self, row: Event) -> None:
        self._tell(decode(row.kind, json.loads(row.payload)))

    def _tell(self, event: events.Event) -> None:
        match event:
            case events.MessageFinished(message=said):
                self._grow(said.id, DeltaKind.THINKING, 0, said.thinking)
                self._grow(said.id, DeltaKind.TEXT, 0, said.text)
                self.break_line()
            case events.MessageInterrupted(error=fault):
                self._line(_("(broke off: %(reason)s)") % {"reason": printable(fault.message)}, DIM)
            case events.ModelRetried(wait=wait):
                self._line(_("(trying again in %(seconds).1f s)") % {"seconds": wait}, DIM)
            case events.ModelReplaced(model=model, by=by):
                self._line(_("(%(model)s failed, so %(by)s is asked)") % {"model": model, "by": by}, DIM)
            case events.SteeringTaken(messages=taken) | events.FollowUpTaken(messages=taken):
                for queued in taken:
                    self._line(f"> {printable(queued.text)}", DIM)
            case events.QuestionAsked(about=about, facts=facts):
                self._line(f"? {asked(about)} {shortly(facts)}", BOLD)
            case events.NoteAdded(text=text) | events.ContextFolded(text=text):
                self._line(_("(to the agent: %(text)s)") % {"text": printable(text)}, DIM)
            case events.RunFinished():
                self._finish(event)
            case _:
                self._tell_call(event)

    def _tell_call(self, event: events.Event) -> None:
        match event:
            case events.ToolStarted(name=name, arguments=arguments):
                self._line(f"→ {printable(name)} {shortly(arguments)}", BOLD)
            case events.ToolFinished(result=result):
                self._line(indented(result.content, "✗ " if result.is_error else "← "))
            case events.ToolReplaced(name=name, by=by):
                words = _("(%(tool)s failed, so %(by)s is used instead)")
                self._line(words % {"tool": printable(name), "by": printable(by)}, DIM)
            case events.ToolSuspended(name=name, prompt=prompt):
                self._line(_("%(tool)s waits: %(prompt)s") % {"tool": printable(name), "prompt": printable(prompt)})
            case events.OutcomeUnknown(name=name):
                self._line(_("Whether %(tool)s has run is not known.") % {"tool": printable(name)})
            case events.ApprovalRequested(name=name, arguments=arguments, risk=risk):
                words = _("%(tool)s must be approved (%(risk)s risk)") % {"tool": printable(name), "risk": risk.value}
                self._line(f"? {words} {shortly(arguments)}", BOLD)
            case (
                events.ApprovalDecided(status=status, by=by, comment=comment)
                | events.QuestionDecided(status=status, by=by, comment=comment)
            ):
                said = " ".join(filter(None, (status.value, by and f"({by})", comment and f"– {comment}")))
                self._line(f"! {printable(said)}", DIM)

    def _finish(self, event: events.RunFinished) -> None:
        if event.outcome is not Outcome.ANSWERED:
            self._line(f"{event.outcome.value}: {printable(event.text)}", BOLD)
        self._line(totals(event.usage), DIM)


def printable(text: str) -> str:
    """The text with each hidden or controlling character as ``<U+001B>``."""
    return "".join(f"<{piece.text}>" if piece.hidden else piece.text for piece in visible(text))


def asked(about: Question) -> str:
    """What people are asked about a run."""
    return {
        Question.CIRCLES: _("The agent repeats itself. May it go on?"),
        Question.BUDGET: _("A budget is nearly used up. May the run go on?"),
    }[about]


def shortly(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{printable(name)}: {printable(brief(value))}" for name, value in arguments.items())


def indented(text: str, mark: str) -> str:
    """The first lines of a text behind a mark, and how many more there are."""
    lines = printable(text).splitlines() or [""]
    shown = [f"{mark if place == 0 else '  '}{line}" for place, line in enumerate(lines[:SHOWN_LINES])]
    if len(lines) > SHOWN_LINES:
        shown.append("  " + _("… %(count)d more lines") % {"count": len(lines) - SHOWN_LINES})
    return "\n".join(shown)


def about(amount: int | str, usage: Usage) -> str:
    """Marked when a part of it is a guess."""
    return f"≈ {amount}" if usage.estimated_calls else str(amount)


def totals(usage: Usage) -> str:
    return _(
        "turns: %(turns)d · model calls: %(model_calls)d · tool calls: %(tool_calls)d · "
        "tokens: %(input)s in, %(output)s out · cost: %(cost)s · %(seconds).1f s"
    ) % {
        "turns": usage.turns,
        "model_calls": usage.model_calls,
        "tool_calls": usage.tool_calls,
        "input": about(usage.input_tokens, usage),
        "output": about(usage.output_tokens, usage),
        "cost": about(format(usage.cost.normalize(), "f"), usage),
        "seconds": usage.seconds,
    }
