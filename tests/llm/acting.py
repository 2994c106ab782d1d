"""A tiny loop with tools of its own, to play whole tasks against a model."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from agentweb.engine import sentences
from agentweb.engine.enums import Purpose, ResultKind
from agentweb.engine.messages import AssistantMessage, Message, ToolCall, ToolResult, UserMessage
from agentweb.engine.ports import Model, ToolSpec
from agentweb.llm.history import validate_history
from agentweb.llm.scripted.model import ScriptedModel
from tests.llm.asking import listen, request, spec

BEIJING = "City: Beijing\nCondition: clear\nTemperature: 26 °C\nHumidity: 40 %\nWind: 12 km/h"
SHENZHEN = "City: Shenzhen\nCondition: thunder shower\nTemperature: 31 °C\nHumidity: 88 %\nWind: 24 km/h"
TOOLS = (
    "current_time",
    "calculator",
    "weather",
    "list_files",
    "read_file",
    "search_files",
    "write_file",
    "edit_file",
    "delete_file",
)
_MOST_TURNS = 20


class Failed(Exception):
    """The tool says no."""


@dataclass
class Desk:
    """The tools of one conversation. ``rejects`` and ``changes`` are by path: a reason, or new arguments."""

    files: dict[str, str] = field(default_factory=dict)
    weather: Mapping[str, str] = field(default_factory=lambda: {"Beijing": BEIJING, "Shenzhen": SHENZHEN})
    rejects: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tools: tuple[str, ...] = TOOLS

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(spec(name) for name in self.tools)

    def answer(self, call: ToolCall) -> ToolResult:
        if call.arguments is None:
            return ToolResult(call.id, sentences.invalid(call.invalid, call.detail), ResultKind.INVALID_ARGUMENTS)
        arguments = dict(call.arguments)
        path = str(arguments.get("path", ""))
        if path in self.rejects:
            return ToolResult(call.id, sentences.rejected("Ann", self.rejects[path]), ResultKind.REJECTED)
        arguments |= self.changes.get(path, {})
        try:
            content = getattr(self, f"_{call.name}")(**arguments)
        except Failed as error:
            return ToolResult(call.id, str(error), ResultKind.ERROR)
        if path in self.changes:
            content = sentences.modified("Ann", json.dumps(arguments, ensure_ascii=False), content)
        return ToolResult(call.id, content)

    def _current_time(self) -> str:
        return "Date: 2025-03-04\nTime: 10:20:30\nWeekday: Tuesday\nTime zone: UTC (UTC+00:00)"

    def _calculator(self, expression: str) -> str:
        if not re.fullmatch(r"[\d\s.()+*/-]+", expression):
            raise Failed("This is not an arithmetic expression.")
        return str(eval(expression))

    def _weather(self, city: str) -> str:
        if city not in self.weather:
            raise Failed(f'There is no sample weather for "{city}".')
        return self.weather[city]

    def _list_files(self, path: str = "") -> str:
        return (
            "\n".join(f"{name} ({len(text)} bytes)" for name, text in self.files.items()) or "The workspace is empty."
        )

    def _read_file(self, path: str) -> str:
        return self._text(path)

    def _write_file(self, path: str, content: str) -> str:
        self.files[path] = content
        return f"Wrote {path} ({len(content)} bytes)."

    def _edit_file(self, path: str, old: str, new: str) -> str:
        if self._text(path).count(old) != 1:
            raise Failed("The passage does not occur exactly once.")
        self.files[path] = self.files[path].replace(old, new)
        return f"Changed {path}."

    def _delete_file(self, path: str) -> str:
        self._text(path)
        del self.files[path]
        return f"Deleted {path}."

    def _text(self, path: str) -> str:
        if path not in self.files:
            raise Failed(f'There is no file "{path}".')
        return self.files[path]


@dataclass
class Told:
    """How a task went: the tools of each acting turn, all arguments, the answer."""

    names: list[list[str]] = field(default_factory=list)
    arguments: list[Mapping[str, Any]] = field(default_factory=list)
    answer: str = ""
    model_calls: int = 0
    output_tokens: int = 0
    invalid: int = 0
    messages: list[Message] = field(default_factory=list)


async def play(
    question: str,
    desk: Desk,
    *,
    model: Model | None = None,
    before: Sequence[Message] = (),
    steering: Mapping[int, str] | None = None,
    max_turns: int = _MOST_TURNS,
) -> Told:
    """Ask, act, and ask again until the answer. ``steering``: what is said after that many turns."""
    model = model or ScriptedModel(delay_s=0)
    ids = count(len(before))
    told = Told(messages=[*before, UserMessage(f"u{next(ids)}", question, "Ann")])
    while True:
        limit = len(told.names) >= max_turns
        prepared = model.prepare(request(told.messages, desk.specs, purpose=Purpose.WRAP_UP if limit else Purpose.TURN))
        assert validate_history(prepared.body["messages"]) == []
        outcome = await listen(prepared)
        assert outcome.reply, outcome.error
        reply = outcome.reply
        told.model_calls += 1
        told.output_tokens += reply.usage.output_tokens
        told.messages.append(
            AssistantMessage(f"a{next(ids)}", reply.text, reply.thinking, reply.calls, reply.finish, reply.extra)
        )
        if not reply.calls:
            told.answer = reply.text
            return told
        assert not limit and len(told.names) < _MOST_TURNS, "it does not come to an end"
        told.names.append([call.name for call in reply.calls])
        told.arguments += [call.arguments or {} for call in reply.calls]
        told.invalid += sum(call.invalid is not None for call in reply.calls)
        told.messages += [desk.answer(call) for call in reply.calls]
        said = (steering or {}).get(len(told.names))
        if said:
            told.messages.append(UserMessage(f"s{next(ids)}", said, "Ann"))
