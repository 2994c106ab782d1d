"""A strict reading of request messages, stricter than any provider: what it lets pass is accepted everywhere."""

import json
import re
from collections.abc import Mapping, Sequence

from agentweb.engine.messages import Json
from agentweb.llm.identifiers import ANY_SERVER
from agentweb.llm.names import WIRE_NAME

_BASE64 = re.compile(r"base64,[A-Za-z0-9+/]{16}|[A-Za-z0-9+/]{2048}")


def validate_history(
    messages: Sequence[Mapping[str, Json]], *, strict_roles: bool = False, ids: re.Pattern[str] = ANY_SERVER
) -> list[str]:
    """What is wrong, in words, each with the position of the message; empty when all is well."""
    reader = _Reader(strict_roles, ids)
    for at, message in enumerate(messages):
        reader.read(at, message)
    reader.end()
    return reader.problems


class _Reader:
    def __init__(self, strict_roles: bool, ids: re.Pattern[str]) -> None:
        self._ids = ids
        self.problems: list[str] = []
        self._strict = strict_roles
        self._open: list[str] = []  # ids that wait for their result, in order
        self._seen: set[str] = set()
        self._last_role = ""

    def _say(self, at: int, problem: str) -> None:
        self.problems.append(f"message {at}: {problem}")

    def read(self, at: int, message: Mapping[str, Json]) -> None:
        role = message.get("role")
        if role == "tool":
            self._result(at, message)
        else:
            if self._open:
                self._say(at, f"calls without a result before it: {', '.join(self._open)}")
                self._open = []
            match role:
                case "system":
                    self._system(at, message)
                case "user":
                    self._text(at, message.get("content"))
                case "assistant":
                    self._assistant(at, message)
                case _:
                    self._say(at, f"unknown role {role!r}")
            if self._strict and role == self._last_role:
                self._say(at, f"two {role} messages in a row")
        self._last_role = str(role)

    def end(self) -> None:
        if self._open:
            self.problems.append(f"end: calls without a result: {', '.join(self._open)}")

    def _system(self, at: int, message: Mapping[str, Json]) -> None:
        if at != 0:
            self._say(at, "a system message that is not the first")
        self._text(at, message.get("content"))

    def _text(self, at: int, content: Json, *, may_be_empty: bool = False) -> None:
        if not isinstance(content, str):
            self._say(at, "the content is not a text")
            return
        if not content.strip() and not may_be_empty:
            self._say(at, "empty content")
        if _BASE64.search(content):
            self._say(at, "a file in base64 inside the text")
        if "\x00" in content or any("\ud800" <= char <= "\udfff" for char in content):
            self._say(at, "a character that cannot be sent")

    def _assistant(self, at: int, message: Mapping[str, Json]) -> None:
        calls = message.get("tool_calls")
        if calls is None:
            self._text(at, message.get("content"))
            return
        if not isinstance(calls, list) or not calls:
            self._say(at, "tool_calls is not a list with entries")
            return
        if message.get("content") is not None:
            self._text(at, message["content"])
        for call in calls:
            self._call(at, call)

    def _call(self, at: int, call: Json) -> None:
        if (
            not isinstance(call, Mapping)
            or call.get("type") != "function"
            or not isinstance(call.get("function"), Mapping)
        ):
            self._say(at, "a tool call that is not a function call")
            return
        identity, function = call.get("id"), call["function"]
        if not isinstance(identity, str) or not self._ids.match(identity):
            self._say(at, "a tool call without an id that the server takes")
        elif identity in self._seen:
            self._say(at, f"the id {identity} is used twice")
        else:
            self._seen.add(identity)
            self._open.append(identity)
        if not isinstance(function.get("name"), str) or not WIRE_NAME.match(function["name"]):
            self._say(at, f"the tool name {function.get('name')!r} is not safe")
        if not _is_object_text(function.get("arguments")):
            self._say(at, "arguments that are not the text of a JSON object")
        elif _BASE64.search(function["arguments"]):
            self._say(at, "a file in base64 inside the arguments")

    def _result(self, at: int, message: Mapping[str, Json]) -> None:
        identity = message.get("tool_call_id")
        if identity not in self._open:
            self._say(at, f"a result for {identity!r}, which is not open here")
        else:
            if identity != self._open[0]:
                self._say(at, f"the result for {identity} comes before that for {self._open[0]}")
            self._open.remove(identity)
        self._text(at, message.get("content"), may_be_empty=True)


def _is_object_text(text: Json) -> bool:
    if not isinstance(text, str):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
