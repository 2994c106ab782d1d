"""Deciding about calls from a terminal: by a person who is asked, or all in one way."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext as _

from agentweb.engine.enums import DecisionKind
from agentweb.runs import decisions, selectors, services, waiting
from agentweb.runs.errors import Conflict, Forbidden, Invalid
from agentweb.runs.models import Approval, Run
from agentweb.runs.votes import has_proposal, shown_arguments, shown_digest
from agentweb.schema.json_text import JsonError, parse_json, pretty
from agentweb.schema.problems import render
from agentweb.teams.models import User
from agentweb.worker.terminal.settling import settle_call
from agentweb.worker.terminal.views import printable

SIGNS = {"insert": "+ ", "delete": "- ", "gap": "  …", "more": "  …"}


class Approve(StrEnum):
    ASK = "ask"
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person at the terminal said about one call."""

    decision: DecisionKind
    arguments: Any = None
    comment: str = ""
    response: str = ""


@dataclass(frozen=True, slots=True)
class Decider:
    """``say`` writes a line and ``prompt`` asks for one (None at the end of input), both beside standard output."""

    user: User
    run: Run
    approve: Approve
    say: Callable[[str], None]
    prompt: Callable[[str], str | None]

    def settle(self) -> None:
        """Decide what waits, in the order in which it was asked; end a wait that nobody here can end."""
        waiting = selectors.approvals_for(self.user, status=Approval.Status.PENDING, run=self.run).order_by("pk")
        mine = [each for each in selectors.mark_decidable(self.user, waiting) if each.may_decide]
        for approval in mine:
            self._settle_one(approval)
        if not self._settle_calls() and not mine:
            self._nothing_to_decide()

    def _settle_calls(self) -> bool:
        """Ask what became of calls and for results from outside; whether there was anyone and anything to ask."""
        if self.approve is not Approve.ASK:
            return False
        calls = list(waiting.calls_waiting_for(self.user).filter(run=self.run).order_by("pk"))
        for call in calls:
            settle_call(self.user, selectors.call_for(self.user, call.public_id), self.say, self.prompt)
        return bool(calls)

    def _settle_one(self, approval: Approval) -> None:
        if self.approve is Approve.ASK:
            self.say(shown(approval))
        while True:
            try:
                answer = self._answer(approval)
                decisions.decide(
                    user=self.user,
                    approval=approval,
                    decision=answer.decision,
                    digest=shown_digest(approval),
                    arguments=answer.arguments,
                    comment=answer.comment,
                    response=answer.response,
                )
            except Invalid as error:
                for path, message in error.errors or [("", error.text)]:
                    self.say(printable(f"{path}: {message}" if path else message))
            except (Conflict, Forbidden) as error:  # someone else was first
                return self.say(printable(error.text))
            else:
                return

    def _answer(self, approval: Approval) -> Answer:
        if self.approve is Approve.ALL:
            return Answer(DecisionKind.APPROVE, comment=_("Approved on the command line."))
        if self.approve is Approve.NONE:
            return Answer(
                DecisionKind.REJECT, comment=_("Rejected on the command line: nothing may be approved there.")
            )
        line = self.prompt(_("y, n REASON, m JSON, r ANSWER: ") if approval.call else _("y, n REASON, m JSON: "))
        if line is None:
            return Answer(DecisionKind.REJECT, comment=_("Nobody answered at the terminal."))
        word, _space, rest = line.strip().partition(" ")
        match word.lower():
            case "y" | "yes":
                return Answer(DecisionKind.APPROVE, comment=self._comment(approval, rest))
            case "n" | "no":
                return Answer(DecisionKind.REJECT, comment=rest or self.prompt(_("Why? ")) or "")
            case "m":
                changed = self._json(rest or self.prompt(_("Arguments as JSON: ")) or "")
                return Answer(DecisionKind.MODIFY, changed, self._comment(approval, ""))
            case "r":
                return Answer(DecisionKind.RESPOND, response=rest or self.prompt(_("Answer: ")) or "")
        raise Invalid(_("Answer with y, n, m or r."))

    def _comment(self, approval: Approval, given: str) -> str:
        if given or not approval.requires_comment:
            return given
        return self.prompt(_("Comment (required at this risk): ")) or ""

    @staticmethod
    def _json(text: str) -> Any:
        try:
            return parse_json(text)
        except JsonError as error:
            words = render(error.keyword, error.params, _)
            raise Invalid(words, [("arguments", words)]) from error

    def _nothing_to_decide(self) -> None:
        """The run may wait for something else, or for somebody else; where nobody sits, it is cancelled."""
        self.run.refresh_from_db(fields=["status"])
        if self.run.status != Run.Status.WAITING:
            return
        self.say(_("The run waits for something that cannot be settled here. Its page shows what."))
        if self.approve is not Approve.ASK:
            services.cancel_run(user=self.user, run=self.run)


def shown(approval: Approval) -> str:
    """What a person must see before deciding: effect, arguments in full, the change of the file; the facts, where it is
    about the run."""
    other = has_proposal(approval)
    effect, look = (approval.final_effect, approval.final_preview) if other else (approval.effect, approval.preview)
    lines = [effect] if effect else []
    values = [shown_arguments(approval)] if approval.call else [approval.facts, approval.arguments]
    lines += [pretty(value) or json.dumps(value) for value in values]
    preview = look if isinstance(look, dict) else {}
    data = preview.get("data", {})
    rows = data.get("rows", []) if isinstance(data, dict) else []
    lines += [SIGNS.get(row.get("kind", ""), "  ") + str(row.get("text", "")) for row in rows]
    return "\n".join(printable(line) for line in lines)
