"""How a run stands or ended, in words for people. Stored codes stay codes; the sentence is made for the viewer."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from agentweb.engine.enums import ErrorKind, Outcome, Reason

OUTCOMES = {
    Outcome.ANSWERED: pgettext_lazy("outcome of a run", "Answered"),
    Outcome.LIMIT_REACHED: _("Not finished: limit reached"),
    Outcome.STOPPED: pgettext_lazy("outcome of a run", "Stopped"),
    Outcome.CANCELLED: _("Cancelled"),
    Outcome.FAILED: _("Failed"),
}

SENTENCES = {
    Reason.DONE: _("The agent answered."),
    Reason.TURNS: _("The turn limit was reached before the task was finished. The part that was done is above."),
    Reason.CIRCLES: _("The agent repeated itself and got nowhere, so it was told to sum up."),
    Reason.MALFORMED: _("The model kept asking for calls that cannot be used, so it was told to sum up."),
    Reason.TOKENS: _("A budget of tokens is used up. An admin can raise it."),
    Reason.COST: _("A budget of money is used up. An admin can raise it."),
    Reason.TIME: _("A budget of working time is used up. An admin can raise it."),
    Reason.AFTER_REASONING: _("Stopped after the agent had thought, before it used a tool."),
    Reason.AFTER_ACTING: _("Stopped after the tools had run."),
    Reason.BY_PERSON: _("Cancelled. What was done before stays done."),
    Reason.MODEL_ERROR: _("The model could not answer."),
    Reason.INTERNAL: _("Something went wrong on our side; it was logged. Nothing more is done."),
    Reason.ATTEMPTS: _("The run was lost several times in a row, so it was given up."),
}

# What the recorded words of an error say in detail, and in English.
FAULTS = {
    ErrorKind.PROVIDER_ERROR: _("The model server reported an error."),
    ErrorKind.RATE_LIMIT: _("The model server is limiting requests. Wait a little and try again."),
    ErrorKind.CONTEXT_LENGTH: _("The conversation is longer than this model accepts. Start a new one."),
    ErrorKind.STREAM_INTERRUPTED: _("The connection to the model server broke off in the answer. Try again."),
    ErrorKind.TIMEOUT: _("The model server took too long. Try again."),
    ErrorKind.BAD_RESPONSE: _("The model server sent something that is no answer. An admin should check its address."),
    ErrorKind.EMPTY_RESPONSE: _("The model server ended the answer without saying anything. Try again."),
    ErrorKind.CONNECTION: _("The model server cannot be reached. An admin should check that it is up."),
    ErrorKind.AUTH: _("The model may not be used with the key that it has. An admin should check it."),
    ErrorKind.INTERNAL: "",
}

OUTCOME_ICONS = {
    Outcome.ANSWERED: "circle-check",
    Outcome.LIMIT_REACHED: "circle-pause",
    Outcome.STOPPED: "square",
    Outcome.CANCELLED: "ban",
    Outcome.FAILED: "circle-x",
}


def sentence(reason: str) -> str:
    """The plain words of a reason code; empty for a code that is not known here."""
    return str(SENTENCES[Reason(reason)]) if reason in set(Reason) else ""


def outcome_word(outcome: str) -> str:
    return str(OUTCOMES[Outcome(outcome)]) if outcome in set(Outcome) else ""


def fault(kind: str) -> str:
    """What went wrong with a model, in the viewer's language; empty where the reason has said it all."""
    return str(FAULTS[ErrorKind(kind)]) if kind in set(ErrorKind) else ""
