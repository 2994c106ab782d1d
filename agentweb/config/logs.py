"""What every process writes about itself: one line for each thing that happened, without secrets.

The lines go to standard error. They are JSON objects, or made for people when a terminal reads them.
"""

import json
import logging
import logging.config
import sys
import threading
from collections.abc import Iterator
from typing import Any, TextIO
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from structlog.typing import EventDict, Processor, WrappedLogger

from agentweb.config import redaction
from agentweb.config.asking import add_request
from agentweb.registry import secrets

logger = logging.getLogger(__name__)

JSON, TEXT = "json", "text"
LONGEST = {"event": 2_000, "exception": 6_000, "stack": 6_000}  # characters; the end of a traceback says most
OTHERWISE_LONGEST = 500
CONTROLS = {code: f"\\x{code:02x}" for code in range(32) if chr(code) not in "\n\t"} | {0x7F: "\\x7f"}
CALM = ("daphne", "httpx2", "openai", "celery.worker.strategy")  # a line for each request of theirs says nothing new


def logging_settings(level: str, form: str) -> dict[str, Any]:
    """For LOGGING. ``form`` is json, text, or empty: text for a terminal, else json."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"expected": {"()": "django.utils.log.CallbackFilter", "callback": _is_unexpected}},
        "formatters": {"line": {"()": formatter, "form": form or (TEXT if sys.stderr.isatty() else JSON)}},
        "handlers": {"lines": {"()": Lines, "formatter": "line", "filters": ["expected"]}},
        "root": {"handlers": ["lines"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": "INFO"},  # else errors would be written twice, and mailed to nobody
            **{name: {"level": "WARNING"} for name in CALM},
        },
    }


def configure(config: dict[str, Any]) -> None:
    """LOGGING_CONFIG: the lines of the logging module, and what Python would print beside it."""
    logging.config.dictConfig(config)
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread


class Lines(logging.StreamHandler):
    """Standard error as it is when the line is written, or another stream. A line that cannot be written is named; what
    it would have said may hold anything."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._is_stderr = stream is None

    def emit(self, record: logging.LogRecord) -> None:
        if self._is_stderr:
            self.stream = sys.stderr
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        kind = sys.exc_info()[0]
        sys.__stderr__ and print(
            f"A log line of {record.name} was lost ({kind and kind.__name__}).", file=sys.__stderr__
        )


def formatter(form: str) -> logging.Formatter:
    """Makes lines of records, whoever wrote them."""
    last: list[Processor] = [_plain, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    more: list[Processor] = []
    if form == JSON:
        last = [structlog.processors.JSONRenderer(serializer=json.dumps, ensure_ascii=False)]
        more = [structlog.processors.CallsiteParameterAdder({structlog.processors.CallsiteParameter.PROCESS})]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.contextvars.merge_contextvars,
            add_request,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="timestamp"),
            *more,
        ],
        processors=[
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            without_secrets,
            _bounded,
            *last,
        ],
    )


def without_secrets(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    known = (*_settings_secrets(), *secrets.seen())
    return {name: redaction.value_without(_searchable(name, value), known, name) for name, value in line.items()}


def _searchable(name: str, value: Any) -> Any:
    """Texts of a length that can be searched; of a traceback the end counts."""
    if not isinstance(value, str) or len(value) <= redaction.MOST_CHARACTERS:
        return value
    return value[: redaction.MOST_CHARACTERS] if name == "event" else value[-redaction.MOST_CHARACTERS :]


def _settings_secrets() -> Iterator[str]:
    yield from (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS, settings.OPENAI_API_KEY)
    for database in settings.DATABASES.values():
        yield str(database.get("PASSWORD") or "")
    yield urlsplit(settings.REDIS_URL).password or ""


def _bounded(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    for name, value in line.items():
        longest = LONGEST.get(name, OTHERWISE_LONGEST)
        if isinstance(value, str) and len(value) > longest:
            line[name] = f"{value[:longest]}…" if name == "event" else f"…{value[-longest:]}"
    return line


def _plain(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Nothing that a terminal would obey."""
    return {name: value.translate(CONTROLS) if isinstance(value, str) else value for name, value in line.items()}


def _is_unexpected(record: logging.LogRecord) -> bool:
    """Not ready yet is an answer of the health page, not a fault to log each time that someone asks."""
    return getattr(record, "status_code", None) != 503


def _uncaught(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
    else:
        logger.critical("The process ends: nothing caught this.", exc_info=error)


def _uncaught_in_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
        thread = failed.thread.name if failed.thread else "?"
        logging.getLogger("agentweb").error(
            "The thread %s ends: nothing caught this.", thread, exc_info=failed.exc_value
        )
