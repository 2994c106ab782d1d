"""What the scripted model sees: the question, what people added, the tools it may use and what they gave back.

Read from the body of a chat-completion request, so the model works alike in the process and behind HTTP.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from agentweb.engine import sentences
from agentweb.engine.messages import Json
from agentweb.llm.request import WRAP_UP_INSTRUCTION

_BROKEN_OFF = re.compile(r"Cancelled|(Not run: t|T)he run ")  # how the results of an ended run begin
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_CHANGED = re.compile(r"\(Run with arguments changed by (?P<by>.*?): (?P<arguments>\{.*\})\)\n", re.DOTALL)
_ANSWERED = re.compile(r"Answered by (?P<by>.*?) in place of the tool: ", re.DOTALL)
_REJECTED = re.compile(
    r"(?:Not run: )?rejected(?: by (?P<by>[^:,]*))?(?:[:,]\s*(?P<reason>.*))?", re.DOTALL | re.IGNORECASE
)


class Fate(Enum):
    """What became of a call, as its result says."""

    DONE = auto()
    FAILED = auto()
    REJECTED = auto()
    NOT_RUN = auto()


@dataclass(frozen=True, slots=True)
class Seen:
    """One call with its result. ``arguments`` are those that really ran; ``content`` is the tool's own text.

    ``changed_by``: the person who changed the arguments; ``reason``: why it was rejected."""

    name: str
    arguments: Mapping[str, Json]
    content: str
    fate: Fate = Fate.DONE
    changed_by: str = ""
    reason: str = ""

    @property
    def path(self) -> str:
        return str(self.arguments.get("path") or "")


@dataclass(frozen=True, slots=True)
class Scene:
    question: str
    notes: tuple[str, ...]  # what people wrote while the question was worked on
    results: tuple[Seen, ...]  # since the question, in order
    tools: frozenset[str]

    @property
    def chinese(self) -> bool:
        return bool(_CHINESE.search(self.question))

    def say(self, english: str, chinese: str) -> str:
        """The sentence in the language of the question."""
        return chinese if self.chinese else english

    def seen(self, *names: str) -> list[Seen]:
        return [one for one in self.results if one.name in names]

    def done(self, *names: str) -> list[Seen]:
        return [one for one in self.seen(*names) if one.fate is Fate.DONE]

    def lacks(self, *names: str) -> list[str]:
        """Those of the tools that this agent does not have."""
        return [name for name in names if name not in self.tools]


@dataclass(frozen=True, slots=True)
class Asked:
    """A user message and where it stands."""

    position: int
    text: str


def read_questions(messages: Sequence[Mapping[str, Json]]) -> tuple[list[Asked], list[Asked]]:
    """(user messages since the last answer or broken-off run, those before), without the wrap-up instruction."""
    ended_at = max((at for at, message in enumerate(messages) if ends_work(message)), default=-1)
    asked = [
        Asked(at, text)
        for at, message in enumerate(messages)
        if message.get("role") == "user"
        and (text := _text(message).removesuffix(WRAP_UP_INSTRUCTION).strip())
        and not sentences.stands_for_older(text)
    ]
    return [one for one in asked if one.position > ended_at], [one for one in asked if one.position < ended_at]


def ends_work(message: Mapping[str, Json]) -> bool:
    """An answer, or the result of a call of a run that was broken off."""
    if message.get("role") == "tool":
        return _BROKEN_OFF.match(_text(message)) is not None
    return message.get("role") == "assistant" and not message.get("tool_calls")


def asks_to_wrap_up(body: Mapping[str, Json]) -> bool:
    messages = body.get("messages") or []
    return bool(messages) and messages[-1].get("role") == "user" and _text(messages[-1]).endswith(WRAP_UP_INSTRUCTION)


def asks_to_sum_up(body: Mapping[str, Json]) -> str:
    """The conversation that is to be summed up; empty when the request is another one."""
    messages = body.get("messages") or []
    told = any(_text(message).startswith(sentences.SUM_UP) for message in messages[:-1])
    return _text(messages[-1]) if told else ""


def asks_for_notes(body: Mapping[str, Json]) -> bool:
    """Whether a summary is to end with working notes."""
    return any(sentences.SUM_UP_A_PIECE in _text(message) for message in body.get("messages") or [])


def tool_names(body: Mapping[str, Json]) -> frozenset[str]:
    tools = body.get("tools") or []
    return frozenset(str(tool.get("function", {}).get("name")) for tool in tools if isinstance(tool, Mapping))


def read_results(messages: Sequence[Mapping[str, Json]], since: int) -> tuple[Seen, ...]:
    """The calls after that position, each with its result."""
    contents = {m.get("tool_call_id"): _text(m) for m in messages[since:] if m.get("role") == "tool"}
    calls = [c for m in messages[since:] if m.get("role") == "assistant" for c in m.get("tool_calls") or ()]
    return tuple(
        _seen(call["function"]["name"], _arguments(call), contents[call["id"]])
        for call in calls
        if call["id"] in contents
    )


def _text(message: Mapping[str, Json]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _arguments(call: Mapping[str, Json]) -> Mapping[str, Json]:
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _seen(name: str, arguments: Mapping[str, Json], content: str) -> Seen:
    changed = _CHANGED.match(content)
    if changed:
        really = _arguments({"function": {"arguments": changed["arguments"]}}) or arguments
        return Seen(name, really, content[changed.end() :], changed_by=changed["by"])
    answered = _ANSWERED.match(content)
    if answered:
        return Seen(name, arguments, content[answered.end() :])
    rejected = _REJECTED.match(content)
    if rejected:
        return Seen(name, arguments, content, Fate.REJECTED, reason=_reason(rejected["reason"]))
    if content.startswith(("Not run", "Not allowed", "Cancelled", "Expired")):
        return Seen(name, arguments, content, Fate.NOT_RUN)
    if content.startswith(("Error", "Timed out")):
        return Seen(name, arguments, content, Fate.FAILED)
    return Seen(name, arguments, content)


def _reason(words: str | None) -> str:
    reason = (words or "").strip()
    return "" if reason == "who gave no reason." else reason
