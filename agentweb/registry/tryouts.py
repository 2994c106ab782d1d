"""A model is tried out when an admin says so, and what was found is put into words and, after a yes, into the row."""

import asyncio
from collections.abc import Collection, Coroutine, Mapping
from dataclasses import dataclass
from importlib import import_module
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.core import signing
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext_lazy, pgettext
from django.utils.translation import gettext as _

from agentweb.engine.enums import ErrorKind
from agentweb.engine.ports import ModelError
from agentweb.llm.calls import new_call_id
from agentweb.registry import ports, snapshots
from agentweb.registry.keyed import KeyedModel
from agentweb.registry.models import ChatModel
from agentweb.registry.unusable import UnusableModel

if TYPE_CHECKING:
    from agentweb.llm.local import LocalServer
    from agentweb.llm.probe import Findings

T = TypeVar("T")
SALT = "agentweb.registry.tryouts"
VALID_S = 3600
AT_ONCE = 4  # tests in one process, since each holds one of its threads
MOST_NAMES = 40  # of models, in a sentence

# The words of a record are English; these say in other languages what went wrong.
PROBLEMS = {
    ErrorKind.AUTH: gettext_lazy("The server refused the key, or the key may not use this model."),
    ErrorKind.CONNECTION: gettext_lazy(
        "No connection to the server could be made. Check the base URL and that it is up."
    ),
    ErrorKind.TIMEOUT: gettext_lazy("The server did not answer in time. Check that it is up, or allow more time."),
    ErrorKind.RATE_LIMIT: gettext_lazy("The server is limiting requests now. Try again in a while."),
    ErrorKind.BAD_RESPONSE: gettext_lazy("What came is no answer of a model server. Check the base URL."),
    ErrorKind.EMPTY_RESPONSE: gettext_lazy("The server ended its answer without saying anything."),
    ErrorKind.STREAM_INTERRUPTED: gettext_lazy("The connection broke off in the middle of the answer. Try again."),
    ErrorKind.CONTEXT_LENGTH: gettext_lazy("The server finds even a short question too long for this model."),
    ErrorKind.PROVIDER_ERROR: gettext_lazy("The server refused the request."),
}
# By check: what yes means, what no means, and what it means that it could not be found out.
WORDS = {
    "answer": (gettext_lazy("The model answers."), "", ""),
    "stream": (
        gettext_lazy("Answers are streamed."),
        gettext_lazy("Answers are not streamed: they come at once, at their end."),
        gettext_lazy("Whether answers are streamed was not found out."),
    ),
    "usage": (
        gettext_lazy("The server counts tokens."),
        gettext_lazy("The server does not count tokens: they will be estimated."),
        gettext_lazy("Whether the server counts tokens was not found out."),
    ),
    "tools": (
        gettext_lazy("The model calls tools."),
        gettext_lazy("The model did not call a tool that it was given."),
        gettext_lazy("Whether the model calls tools was not found out."),
    ),
    "parallel": (
        gettext_lazy("It calls several tools in one answer."),
        gettext_lazy("It called one tool at a time."),
        gettext_lazy("Whether it calls several tools at once was not found out."),
    ),
    "structured": (
        gettext_lazy("The server keeps its promise about JSON."),
        gettext_lazy("The server promises no form of JSON."),
        gettext_lazy("What the server promises about JSON was not found out."),
    ),
    "temperature": ("", gettext_lazy("The model refuses the temperature: it must not be sent."), ""),
}
FORMATS = {
    "json_schema": gettext_lazy("Answers can be held to a JSON Schema."),
    "json_object": gettext_lazy("Answers can be held to JSON, but not to a schema."),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at. ``ok`` None: not found out. ``said``: recorded words, of a server or in English."""

    ok: bool | None
    words: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What would be stored in one field, for people."""

    name: str
    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Report:
    """``token`` is what a yes sends back, empty when there is nothing to store."""

    lines: list[Line]
    changes: list[Change]
    token: str
    offers: list[str]
    more_offers: int
    findings: "Findings | None" = None


class Outdated(Exception):
    """What a yes was said to is too old, or the model was changed meanwhile."""


PLACES = BoundedSemaphore(AT_ONCE)


def try_out(model: ChatModel) -> Report:
    """Ask the model, with its key. Takes up to a minute; runs a loop of its own, so not to be called on one."""
    if not PLACES.acquire(blocking=False):
        return _refused(_("Other tests are under way. Try again in a minute."))
    try:
        return _run(_try_out(model, ports.model_for({"model": snapshots.model_data(model)}, new_id=new_call_id)))
    finally:
        PLACES.release()


async def _try_out(model: ChatModel, asked: Any) -> Report:
    try:
        found: Any = await asked.with_key() if isinstance(asked, KeyedModel) else asked
    except ModelError as error:
        return _refused(error.message)
    if isinstance(found, UnusableModel):
        return _refused(found.sentence)
    findings: Findings = await import_module("agentweb.llm.probe").probe(found.config)
    return _report(model, findings)


def look_around() -> "tuple[LocalServer, ...]":
    """The model servers on this machine. Takes a few seconds; not to be called on an event loop."""
    found: tuple[LocalServer, ...] = _run(
        import_module("agentweb.llm.local").local_servers(settings.LOCAL_MODEL_SERVERS)
    )
    return found


def _run(work: Coroutine[Any, Any, T]) -> T:
    async def to_the_end() -> T:
        try:
            return await work
        finally:
            await import_module("agentweb.llm.clients").close_clients()

    return asyncio.run(to_the_end())


def store(model: ChatModel, token: str, chosen: Collection[str]) -> list[Change]:
    """Put into the row what was found, as far as the fields were ``chosen``. Raises Outdated."""
    try:
        said = signing.loads(token, salt=SALT, max_age=VALID_S)
    except signing.BadSignature as error:
        raise Outdated from error
    values = {name: value for name, value in said["values"].items() if name in chosen}
    changes = _changes(model, values)
    same = {"pk": model.pk, "base_url": said["base_url"], "model_name": said["model_name"]}
    now = timezone.now()
    if said["pk"] != model.pk or not ChatModel.objects.filter(**same).update(**values, tested_at=now, updated_at=now):
        raise Outdated
    return changes


def _refused(sentence: str) -> Report:
    return Report([Line(False, sentence)], [], "", [], 0)


def _report(model: ChatModel, findings: "Findings") -> Report:
    names = [offer.name for offer in findings.offers]
    lines = [_problem(findings, model)] if findings.problem else [_line(found) for found in findings.found]
    values = {} if findings.problem else _values(findings, model)
    token = signing.dumps(
        {"pk": model.pk, "base_url": model.base_url, "model_name": model.model_name, "values": values}, salt=SALT
    )
    shown = names[:MOST_NAMES] if findings.problem else []
    return Report(
        lines,
        _changes(model, values),
        token if values else "",
        shown,
        len(names) - len(shown) if shown else 0,
        findings,
    )


def _line(found: Any) -> Line:
    yes, no, unknown = WORDS[found.check]
    words = yes if found.ok else unknown if found.ok is None else no
    if found.check == "structured" and found.ok:
        return Line(True, str(FORMATS[found.detail]))
    return Line(found.ok, str(words), found.detail)


def _problem(findings: "Findings", model: ChatModel) -> Line:
    error = findings.problem
    assert error is not None
    if findings.unknown_model:
        words = _("The server does not offer the model %(name)s.") % {"name": model.model_name}
    elif findings.better_url:
        words = _("Nothing is found at this base URL, but at %(url)s there is. Enter that.") % {
            "url": findings.better_url
        }
    elif (get_language() or "en").startswith("en"):
        return Line(False, error.message)
    else:
        words = str(PROBLEMS.get(error.kind, PROBLEMS[ErrorKind.PROVIDER_ERROR]))
    return Line(False, words, error.message)


def _values(findings: "Findings", model: ChatModel) -> dict[str, Any]:
    """What a yes would put into the row: nothing that was not found out."""
    unknown = {found.check.value for found in findings.found if found.ok is None}
    fields = {"streams": "stream", "stream_usage": "usage", "native_tools": "tools", "parallel_tools": "parallel"}
    fields["structured"] = "structured"
    values: dict[str, Any] = {
        name: getattr(findings.can, name) for name, check in fields.items() if check not in unknown
    }
    if findings.context_size:
        values["context_size"] = findings.context_size
    if not findings.temperature:
        values["temperature"] = None
    if values.get("native_tools") is False and model.protocol == ChatModel.Protocol.NATIVE:
        values["protocol"] = (
            ChatModel.Protocol.JSON_ACTION if findings.can.structured else ChatModel.Protocol.TEXT
        ).value
    return values


def _changes(model: ChatModel, values: Mapping[str, Any]) -> list[Change]:
    return [
        Change(name, _label(name), _shown(name, before), _shown(name, after))
        for name, after in values.items()
        if (before := getattr(model, name)) != after
    ]


def _label(name: str) -> str:
    return capfirst(str(getattr(ChatModel._meta.get_field(name), "verbose_name", name)))


def _shown(name: str, value: Any) -> str:
    if name == "structured":
        return str(ChatModel.Structured(value).label)
    if name == "protocol":
        return str(ChatModel.Protocol(value).label)
    if isinstance(value, bool):
        return pgettext("a setting", "yes") if value else pgettext("a setting", "no")
    return "–" if value is None else str(value)
