"""Settling calls from a terminal that no tool can answer for: what became of them, or their results from outside."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from agentweb.engine.enums import Resolution
from agentweb.runs import answers
from agentweb.runs.errors import Conflict, Forbidden, Invalid
from agentweb.runs.models import Call
from agentweb.schema.json_text import pretty
from agentweb.teams.models import User
from agentweb.worker.terminal.views import printable

Say = Callable[[str], None]
Prompt = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Fate:
    """What the person at the terminal said about a call whose worker was lost."""

    outcome: Resolution
    content: str = ""
    comment: str = ""


def settle_call(user: User, call: Call, say: Say, prompt: Prompt) -> None:
    """Ask until there is an answer that makes sense; a result may also be left to come from elsewhere."""
    say(shown(call))
    while True:
        try:
            if call.status == Call.Status.UNKNOWN:
                fate = _fate(prompt)
                answers.resolve(
                    user=user, call=call, outcome=fate.outcome.value, content=fate.content, comment=fate.comment
                )
            elif given := _result(call, prompt):
                answers.supply(user=user, run=call.run, results=[given])
            else:
                say(_("It waits on; the result can come from its page or from a program."))
        except Invalid as error:
            say(printable(error.text))
        except (Conflict, Forbidden) as error:  # someone else was first
            return say(printable(error.text))
        else:
            return


def _fate(prompt: Prompt) -> Fate:
    """Raises Invalid for what cannot be understood."""
    line = prompt(_("Was it done? d RESULT (done), n (not done: try again), u (not known: tell the agent): "))
    if line is None:
        return Fate(Resolution.TELL_MODEL, comment=_("Nobody answered at the terminal."))
    word, _space, rest = line.strip().partition(" ")
    match word.lower():
        case "d" | "done":
            return Fate(Resolution.DONE, content=rest.strip())
        case "n" | "no":
            return Fate(Resolution.NOT_DONE, comment=rest.strip())
        case "u" | "unknown":
            return Fate(Resolution.TELL_MODEL, comment=rest.strip())
    raise Invalid(_("Answer with d, n or u."))


def _result(call: Call, prompt: Prompt) -> answers.Given | None:
    """None where the person gives none."""
    line = prompt(_("The result, or e WHY for a failure; empty: it comes from elsewhere: "))
    text = (line or "").strip()
    if not text:
        return None
    word, _space, why = text.partition(" ")
    failed = word == "e" and bool(why.strip())
    return answers.Given(str(call.public_id), why.strip() if failed else text, is_error=failed)


def shown(call: Call) -> str:
    """What it is about: the tool, its arguments in full, and what the tool wants to know."""
    if call.status == Call.Status.UNKNOWN:
        first = _("%(tool)s had started when its worker was lost: nobody knows whether it took effect.")
    else:
        first = _("%(tool)s waits for a result from outside.")
    arguments = call.arguments if call.arguments is not None else call.asked_arguments
    lines = [first % {"tool": call.name}, pretty(arguments) or json.dumps(arguments)]
    if call.status == Call.Status.SUSPENDED and call.answer_schema is not None:
        lines += [_("The answer is JSON of this form:"), pretty(call.answer_schema) or ""]
    return "\n".join(printable(line) for line in [*lines, call.detail] if line)
