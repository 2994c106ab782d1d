"""Turns everything that can go wrong with a model server into a ModelError: what happened and what to do."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from agentweb.engine.enums import ErrorKind
from agentweb.engine.messages import Json
from agentweb.engine.ports import ModelError
from agentweb.schema.text import clean

_MAX_DETAIL = 400
_MIN_SECRET = 4
_TIMEOUT_STATUSES = frozenset({408, 504, 524})
_RETRY_STATUSES = frozenset({409, 425, 500, 502, 503, 507, 520, 521, 522, 523, 529})
_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"})
_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded", "insufficient_balance", "payment_required"}
)
_AUTH_CODES = frozenset(
    {"invalid_api_key", "authentication_error", "permission_error", "permission_denied", "unauthorized", "forbidden"}
)
_RATE_CODES = frozenset(
    {"rate_limit_exceeded", "rate_limit_error", "rate_limit", "too_many_requests", "resource_exhausted"}
)
_BUSY_CODES = frozenset(
    {
        "overloaded_error",
        "overloaded",
        "server_error",
        "internal_error",
        "internal_server_error",
        "api_error",
        "unavailable",
    }
)
_CONTEXT_WORDS = re.compile(
    r"context[ _](length|window|size)|maximum context|max_model_len|prompt is too long|input is too long"
    r"|too many (input )?tokens|reduce the length|exceeds? the (model's )?(maximum|limit) .{0,40}tokens",
    re.IGNORECASE,
)
_MODEL_CODES = frozenset({"model_not_found", "model_not_available", "model_decommissioned", "unknown_model"})
_MODEL_WORDS = re.compile(
    r"\bmodel\b.{0,120}\b(not found|not exist|unknown|not available|not supported|decommissioned|not a valid)"
    r"|\b(no such|unknown|invalid|not a valid) model\b|try pulling it",
    re.IGNORECASE,
)
_BUSY_WORDS = re.compile(r"overload|temporar|try again|unavailable|internal (server )?error|timed? ?out", re.IGNORECASE)


def redact(text: str, secrets: Iterable[str]) -> str:
    """``text`` without any of the secrets; very short ones are left, since they would match anything."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _MIN_SECRET:
            text = text.replace(secret, "…")
    return text


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``Retry-After`` (seconds or an HTTP date); None when not said."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


@dataclass(frozen=True, slots=True)
class ProviderError:
    """What a provider said went wrong: its words, its code in lower case, and a status where it gave one."""

    message: str
    code: str = ""
    status: int | None = None


def read_error(body: Json) -> ProviderError:
    """Find message and code in an error body of any shape: object, list, text."""
    if isinstance(body, list):
        return next((read_error(item) for item in body if item), ProviderError(""))
    if not isinstance(body, Mapping):
        return ProviderError(str(body) if body is not None else "")
    inner = body.get("error") or body.get("errors")
    if isinstance(inner, Mapping | list):
        found = read_error(inner)
        if found.message or found.code:
            return found
    message = next((m for m in map(_words, (inner, body.get("message"), body.get("detail"), body.get("msg"))) if m), "")
    return ProviderError(message, _code(body), _status(body))


def _words(value: Json) -> str:
    if isinstance(value, str):
        return value
    return read_error(value).message if isinstance(value, Mapping | list) else ""


def _code(body: Mapping[str, Json]) -> str:
    """The most telling of code, status and type; numbers are statuses, not codes."""
    for key in ("code", "status", "type"):
        value = body.get(key)
        if isinstance(value, str) and value and not value.isdigit():
            return value
    return ""


def _status(body: Mapping[str, Json]) -> int | None:
    for key in ("code", "status", "status_code"):
        value = body.get(key)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
            value = int(value)
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return None


def provider_fault(
    error: ProviderError, *, status: int | None = None, wait_s: float | None = None, secrets: Iterable[str] = ()
) -> ModelError:
    """Classify what a provider said, with an HTTP status or in the middle of a stream."""
    detail = _detail(error.message, secrets)
    status = status or error.status
    kind, advice, retryable = _classify(error, status)
    said = f" It said: {detail}" if detail else ""
    shown = f" (HTTP {status})" if status else ""
    message = advice.replace("{status}", shown) + said
    return ModelError(kind, message, retryable=retryable, retry_after_s=wait_s, code=redact(clean(error.code), secrets))


def _classify(error: ProviderError, status: int | None) -> tuple[ErrorKind, str, bool]:
    """(kind, sentence, retryable); the first row that fits decides."""
    code = error.code.lower()
    rate = status == 429 or code in _RATE_CODES
    if status == 413:
        return (
            ErrorKind.CONTEXT_LENGTH,
            "The request is larger than the model server accepts{status}. Start a new conversation, or "
            "have an admin raise the server's limit.",
            False,
        )
    if code in _CONTEXT_CODES or (not rate and _CONTEXT_WORDS.search(error.message)):
        return (
            ErrorKind.CONTEXT_LENGTH,
            "The conversation is longer than this model accepts{status}. Start a new one or use a model with a larger "
            "context.",
            False,
        )
    if code in _QUOTA_CODES or status == 402:
        return (
            ErrorKind.PROVIDER_ERROR,
            "The quota of this model's account is used up{status}. An admin can raise it or choose another model.",
            False,
        )
    if status in (401, 403) or code in _AUTH_CODES:
        return (
            ErrorKind.AUTH,
            "The model server refused the access{status}. An admin should check the key and the rights of this model.",
            False,
        )
    if rate:
        return (
            ErrorKind.RATE_LIMIT,
            "The model server is limiting requests{status}. Wait a little and try again.",
            True,
        )
    return _classify_status(error, code, status)


def _classify_status(error: ProviderError, code: str, status: int | None) -> tuple[ErrorKind, str, bool]:
    if status in _TIMEOUT_STATUSES:
        return ErrorKind.TIMEOUT, "The model server took too long{status}. Try again.", True
    if status in _RETRY_STATUSES or code in _BUSY_CODES:
        return (
            ErrorKind.PROVIDER_ERROR,
            "The model server has a problem of its own{status}. Try again in a while.",
            True,
        )
    if status is None and _BUSY_WORDS.search(error.message):
        return ErrorKind.PROVIDER_ERROR, "The model server broke off with an error. Try again.", True
    if status is not None and 300 <= status < 400:
        return (
            ErrorKind.PROVIDER_ERROR,
            "The model server points to another address{status}. An admin should enter the final address as base URL.",
            False,
        )
    if code in _MODEL_CODES or (status in (400, 404, 422) and _MODEL_WORDS.search(error.message)):
        return (
            ErrorKind.PROVIDER_ERROR,
            "The model server does not offer this model{status}. An admin should check the model's name; a test of the "
            "model says which there are.",
            False,
        )
    if status in (404, 405):
        return (
            ErrorKind.PROVIDER_ERROR,
            "The model server does not know this address{status}. An admin should check the base URL: most end in /v1.",
            False,
        )
    return (
        ErrorKind.PROVIDER_ERROR,
        "The model server refused the request{status}. An admin should check this model's settings.",
        False,
    )


def _detail(message: str, secrets: Iterable[str]) -> str:
    text = " ".join(redact(clean(message), secrets).split())
    return text if len(text) <= _MAX_DETAIL else text[: _MAX_DETAIL - 1] + "…"


def interrupted() -> ModelError:
    return ModelError(
        ErrorKind.STREAM_INTERRUPTED,
        "The connection to the model server broke off in the middle of the answer. Try again.",
        retryable=True,
    )


def empty_answer() -> ModelError:
    return ModelError(
        ErrorKind.EMPTY_RESPONSE,
        "The model server ended the answer without saying anything. Try again.",
        retryable=True,
    )


def bad_response(what: str, *, retryable: bool = True) -> ModelError:
    """``what`` names what came instead of an answer, as the rest of a sentence."""
    return ModelError(
        ErrorKind.BAD_RESPONSE,
        f"The model server sent {what}. Try again; if it stays so, an admin should check the base URL of this model.",
        retryable=retryable,
    )
