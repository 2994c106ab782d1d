"""What a JSON reply means: which tool with which arguments, or which answer, under any name that models use."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agentweb.engine.messages import Json
from agentweb.llm.protocols import rules
from agentweb.llm.protocols.actions import ARGUMENT_KEYS, NAME_KEYS, is_final


def plain(name: str) -> str:
    """Small letters without blanks and joints, so that final_answer and FinalAnswer are one name."""
    return re.sub(r"[\s_\-]+", "", name).lower()


THOUGHT = frozenset({"thought", "thoughts", "thinking", "reasoning"})
ANSWER = frozenset({"finalanswer", "answer", "finalresponse", "response"})
STEP = frozenset({"step", "steptype", "nextstep"})
NAMES = frozenset(map(plain, NAME_KEYS))
_ARGUMENTS = frozenset(map(plain, ARGUMENT_KEYS))
CALLS = frozenset({"calltool", "tool", "toolcall", "usetool", "call"})
_FINISHES = frozenset({"finish", "finalanswer", "final", "answer", "finished", "done"})


@dataclass(frozen=True, slots=True)
class Reply:
    """``calls``: it asks for a tool, else it is the answer. ``problem`` says why it is neither."""

    calls: bool = False
    tool: str = ""
    arguments: Json = None
    answer: str = ""
    problem: str = ""

    @classmethod
    def of(cls, value: Mapping[str, Json]) -> "Reply":
        fields = {plain(name): each for name, each in value.items()}
        step = _first(fields, STEP)
        if step is None and plain(str(fields.get("action", ""))) in CALLS | _FINISHES:
            step = fields.pop("action")
        tool, arguments = _first(fields, NAMES), _first(fields, _ARGUMENTS)
        if isinstance(tool, Mapping):
            inner = {plain(name): each for name, each in tool.items()}
            tool, arguments = _first(inner, NAMES), _first(inner, _ARGUMENTS)
        name = tool.strip() if isinstance(tool, str) else ""
        answer = _first(fields, ANSWER)
        if name and is_final(name):
            name, answer = "", arguments if answer is None else answer
        return cls._chosen(plain(step) if isinstance(step, str) else "", name, arguments, _text(answer))

    @classmethod
    def _chosen(cls, step: str, name: str, arguments: Json, answer: str) -> "Reply":
        if step in CALLS or (not step and name):
            if not step and answer.strip():
                return cls(tool=name, problem=rules.JSON_BOTH)
            return cls(True, name, arguments) if name else cls(problem=rules.JSON_NO_TOOL)
        if step in _FINISHES and not answer.strip() and isinstance(arguments, str):
            answer = arguments
        if step in _FINISHES or (not step and answer.strip()):
            return cls(answer=answer)
        return cls(tool=name, problem=rules.JSON_STEP)


def _first(fields: Mapping[str, Json], names: frozenset[str]) -> Json:
    return next((value for name, value in fields.items() if name in names and value is not None), None)


def _text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
