"""What values must look like before the loop can work with them. Each validator raises ValidationError."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agentweb.policy.matching import TOOL_GLOB
from agentweb.registry import dotted, placeholders
from agentweb.registry.problem_words import in_words
from agentweb.schema.check import check_any
from agentweb.schema.patterns import MAX_PATTERN, PatternError, compiled
from agentweb.schema.problems import render as problem_words
from agentweb.toolbox import paths

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
KEY = re.compile(r"[\x21-\x7e]*")
FRAMING = ("host", "connection", "upgrade", "transfer-encoding", "te", "trailer", "expect")
OUR_HEADERS = frozenset((*FRAMING, "accept", "accept-encoding", "content-length", "content-type", "content-encoding"))
SECRET_FIELD = re.compile(
    r"(api|access|private)[_-]?key|secret|passw(or)?d|authorization|(access|auth|api)_?token", re.I
)
OUR_BODY_FIELDS = ("model", "messages", "stream", "tools", "tool_choice", "functions")


def http_address(value: str) -> None:
    """The base of an HTTP API, in any network. It is recorded with every run, so it may hold no password."""
    parts = _address(value)
    if parts.query or parts.fragment:
        raise ValidationError(_("No question mark and no # in the address: use a header."), code="address")


def hook_address(value: str) -> None:
    """Where a program is told of something; many such addresses carry what they need behind a question mark."""
    if _address(value).fragment:
        raise ValidationError(_("Enter an address such as https://models.example.org/v1."), code="address")


def _address(value: str) -> SplitResult:
    """The parts of an HTTP address that names no person."""
    try:
        parts = urlsplit(value)
        named = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        named = False
    if not named or not value.isprintable() or " " in value:
        raise ValidationError(_("Enter an address such as https://models.example.org/v1."), code="address")
    if parts.username is not None or parts.password is not None:
        raise ValidationError(_("No user name or password in the address: use the key or a header."), code="secret")
    return parts


def api_key(value: str) -> None:
    """A key travels in a header: visible ASCII characters only."""
    if not KEY.fullmatch(value):
        raise ValidationError(_("A key has no spaces and only ASCII characters."), code="key")


def headers(value: Any) -> None:
    """A JSON object from names to texts of one line, as HTTP wants them."""
    if not isinstance(value, dict):
        raise ValidationError(_('Enter a JSON object such as {"X-Team": "blue"}.'), code="headers")
    for name, text in value.items():
        if not HEADER_NAME.fullmatch(name):
            raise ValidationError(_("%(name)s is not a header name."), code="headers", params={"name": repr(name)})
        if name.lower() in OUR_HEADERS:
            words = _("The header %(name)s is set by the client itself.")
            raise ValidationError(words, code="headers", params={"name": name})
        if not isinstance(text, str) or not text.isprintable() or not text.isascii():
            words = _("The header %(name)s needs one line of ASCII text as its value.")
            raise ValidationError(words, code="headers", params={"name": name})
    if len({name.lower() for name in value}) < len(value):
        raise ValidationError(_("A header is named twice."), code="headers")


def body(value: Any) -> None:
    """A JSON object that is merged over the request, without what the loop itself must decide."""
    if not isinstance(value, dict):
        raise ValidationError(_('Enter a JSON object such as {"top_p": 0.9}.'), code="body")
    if taken := [name for name in OUR_BODY_FIELDS if name in value]:
        words = _("These fields are set by the loop itself: %(names)s.")
        raise ValidationError(words, code="body", params={"names": ", ".join(taken)})
    if secret := [name for name in value if SECRET_FIELD.fullmatch(name)]:
        words = _(
            "The body is recorded with each run, so nothing secret may be in it: %(names)s. Use the key or a header."
        )
        raise ValidationError(words, code="secret", params={"names": ", ".join(secret)})


def prompt_template(value: str) -> None:
    """A text whose placeholders are known, and closed."""
    if unknown := [name for name in placeholders.used(value) if name not in placeholders.NAMES]:
        words = _("There is no placeholder %(unknown)s. There are: %(names)s.")
        names = ", ".join(f"{{{{ {name} }}}}" for name in placeholders.NAMES)
        shown = f"{{{{ {unknown[0][:50]} }}}}"
        raise ValidationError(words, code="placeholder", params={"unknown": shown, "names": names})
    if placeholders.unclosed(value):
        raise ValidationError(_("A placeholder begins with {{ and is not closed with }}."), code="placeholder")


def goal_function(path: str) -> None:
    """The dotted path of a function that may check an answer."""
    goal_callable(path)


def goal_callable(path: str) -> Callable[..., Any]:
    """The function itself, from the modules that the operator allows, since it gets what the model wrote.

    Raises ValidationError."""
    module = path.rpartition(".")[0]
    if module not in settings.GOAL_MODULES:
        words = _("Functions of these modules can be named: %(modules)s. The operator lists them in GOAL_MODULES.")
        modules = ", ".join(settings.GOAL_MODULES) or "–"
        raise ValidationError(words, code="module", params={"modules": modules})
    try:
        found = dotted.at(path)
    except ValueError as error:
        raise ValidationError(str(error), code="function") from error
    if not callable(found):
        raise ValidationError(_("%(path)s cannot be called."), code="function", params={"path": path})
    return found


def json_schema(value: Any) -> None:
    """A JSON Schema that values can be checked against."""
    if problems := check_any(value):
        words = _("This is no JSON Schema: %(problem)s")
        raise ValidationError(words, code="schema", params={"problem": in_words(problems[0])})


def text_pattern(value: str) -> None:
    """A regular expression that is quick on every text."""
    try:
        compiled(value)
    except PatternError as error:
        words = problem_words(error.keyword, {"limit": MAX_PATTERN}, _)
        raise ValidationError(words, code="pattern") from error


def file_path(value: str) -> None:
    """A path in the workspace, as the file tools take it."""
    try:
        paths.parse(value)
    except paths.WorkspaceError as error:
        raise ValidationError(str(error), code="path") from error


def tool_pattern(value: str) -> None:
    """A tool's name, or a pattern of names in which * stands for any characters."""
    if not TOOL_GLOB.fullmatch(value):
        words = _("Enter a tool name: letters, digits, _ and -; * stands for any characters.")
        raise ValidationError(words, code="pattern")
