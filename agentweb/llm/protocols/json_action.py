"""Tools in one JSON object per answer, which a server can be asked to enforce."""

from collections.abc import Callable, Sequence
from typing import Any

from agentweb.engine.enums import Purpose
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.ports import ModelRequest, ToolSpec
from agentweb.llm.config import ModelConfig, SendThinking, Structured
from agentweb.llm.names import WireNames
from agentweb.llm.protocols.answers import AnswerReader, PlainAnswer
from agentweb.llm.protocols.json_reader import JsonReader
from agentweb.llm.protocols.offered import Offered
from agentweb.llm.protocols.refusals import UNREADABLE
from agentweb.llm.protocols.rules import INVENTED, JSON_RULES
from agentweb.llm.protocols.shape import PastCall, argument_text
from agentweb.llm.protocols.text import past_thought, tool_lines
from agentweb.llm.results import without_files
from agentweb.llm.written import WireMessage, as_json
from agentweb.schema import walk
from agentweb.schema.defaults import fill
from agentweb.schema.text import clean

CALL_TOOL, FINISH = "CALL_TOOL", "FINISH"
RESULT_OF = "Result of "
_LIMITS = ("minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems")


class JsonForm:
    """A call is a JSON object, and its result a message of the user's role; of several calls one follows the other."""

    def __init__(self, names: WireNames, send_thinking: SendThinking, *, bare: bool) -> None:
        self._names = names
        self._send_thinking = send_thinking
        self._bare = bare  # there are no tools any more, so answers are plain text
        self.key = "bare json" if bare else "json"

    def said(self, message: AssistantMessage, text: str, calls: Sequence[PastCall]) -> list[WireMessage]:
        thought = past_thought(message, self._send_thinking)
        if not calls:
            finish = {"thought": thought, "step": FINISH, "final_answer": text}
            return [_message("assistant", text if self._bare else as_json(finish))]
        before = " ".join(part for part in (thought, text.strip()) if part)
        wire: list[WireMessage] = []
        for past in calls:
            wire += [_message("assistant", self._call(past, before)), _message("user", self._result(past))]
            before = ""
        if message.extra.get("invented"):
            wire[-1] = _message("user", f"{wire[-1]['content']}\n\n{INVENTED}")
        return wire

    def _call(self, past: PastCall, thought: str) -> str:
        call = past.call
        if call.arguments is None:
            return without_files(call.raw.strip()) or "…"
        start = as_json({"thought": thought, "step": CALL_TOOL, "tool_name": self._names.wire(call.name)})
        return f'{start[:-1]},"arguments":{argument_text(call)}}}'

    def _result(self, past: PastCall) -> str:
        named = "" if past.call.name == UNREADABLE else f"{RESULT_OF}{self._names.wire(past.call.name)}:\n"
        return f"{named}{past.result}"


def _message(role: str, content: str) -> WireMessage:
    return {"role": role, "content": clean(content)}


def reply_schema(specs: Sequence[ToolSpec], names: WireNames) -> dict[str, Any]:
    """The JSON Schema of a reply: the answer, or one of the tools with arguments as its own schema wants them."""
    definitions: dict[str, Any] = {}
    calls = []
    for spec in specs:
        name = names.wire(spec.name)
        arguments = _without_limits(fill(dict(spec.parameters or {})))
        if _moved(arguments, f"#/$defs/{name}"):
            definitions[name], arguments = arguments, {"$ref": f"#/$defs/{name}"}
        calls.append(_step(CALL_TOOL, tool_name={"type": "string", "enum": [name]}, arguments=arguments))
    schema = {"type": "object", "anyOf": [*calls, _step(FINISH, final_answer={"type": "string"})]}
    return {**schema, "$defs": definitions} if definitions else schema


def _step(step: str, **fields: Any) -> dict[str, Any]:
    properties = {"thought": {"type": "string"}, "step": {"type": "string", "enum": [step]}, **fields}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _without_limits(schema: dict[str, Any]) -> dict[str, Any]:
    """Servers make a grammar of the schema, and these keywords make it large and slow or are refused. The tool looks at
    its arguments itself, so nothing that breaks them runs."""
    for _, each in walk.everywhere(schema):
        if isinstance(each, dict):
            for keyword in _LIMITS:
                each.pop(keyword, None)
    return schema


def _moved(schema: dict[str, Any], place: str) -> bool:
    """Make the local references of a schema lead to where it will stand; False when it has none."""
    found = False
    for _, each in walk.everywhere(schema):
        reference = each.get("$ref") if isinstance(each, dict) else None
        if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            each["$ref"] = place + reference[1:]
            found = True
    return found


class JsonActionProtocol:
    def __init__(self, config: ModelConfig, request: ModelRequest, names: WireNames) -> None:
        self._structured = config.can.structured
        self._request = request
        self._names = names
        self._may_call = request.purpose is Purpose.TURN
        self.form = JsonForm(names, config.send_thinking, bare=not request.tools)

    def system(self, system: str) -> str:
        if not self._request.tools:
            return system
        return "\n\n".join([*filter(None, [system.strip()]), JSON_RULES, tool_lines(self._request, self._names)])

    def fields(self) -> dict[str, Any]:
        """``response_format``, as far as the server knows it. At a wrap-up only an answer is of the form."""
        if not self._request.tools:
            return {}
        match self._structured:
            case Structured.JSON_SCHEMA:
                specs = self._request.tools if self._may_call else ()
                schema = {"name": "reply", "schema": reply_schema(specs, self._names)}
                return {"response_format": {"type": "json_schema", "json_schema": schema}}
            case Structured.JSON_OBJECT:
                return {"response_format": {"type": "json_object"}}
            case Structured.NONE:
                return {}

    def reader(self, new_id: Callable[[], str]) -> AnswerReader:
        if not self._request.tools:
            return PlainAnswer()
        return JsonReader(Offered(self._names, self._request.tools), new_id, may_call=self._may_call)
