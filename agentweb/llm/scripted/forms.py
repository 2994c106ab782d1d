"""Requests and answers of protocols without tool calls of their own, as the scripted model sees and gives them.

A request is turned into one with calls in fields, so that a script knows only those. One call fits into a reply of
these protocols, so a turn with several is given out call by call.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentweb.engine.messages import Json
from agentweb.llm.config import ToolProtocol
from agentweb.llm.protocols.json_action import CALL_TOOL, FINISH, RESULT_OF
from agentweb.llm.protocols.rules import INVENTED, JSON_OPENING, TEXT_OPENING, TOOLS
from agentweb.llm.protocols.text import ACTION, ACTION_INPUT, FINAL_ANSWER, OBSERVATION, THOUGHT
from agentweb.llm.scripted.turn import Call, Turn

_OPENINGS = {TEXT_OPENING: ToolProtocol.TEXT, JSON_OPENING: ToolProtocol.JSON_ACTION}
_PAST_ACTION = re.compile(
    rf"(?:^|\n){ACTION}(?P<name>[^\n]*)\n{ACTION_INPUT}(?P<arguments>.*)\Z", re.DOTALL | re.MULTILINE
)
_RESULT = re.compile(rf"{RESULT_OF}[^\n]*:\n")

Body = Mapping[str, Json]
Respond = Callable[[Body], Turn]


@dataclass(frozen=True, slots=True)
class _Past:
    """What an assistant message says: a call, or an answer."""

    name: str = ""
    arguments: str = ""
    answer: str = ""


def protocol_of(body: Body) -> ToolProtocol:
    """The protocol that the rules in the system prompt belong to."""
    system = _system(body)
    return next((protocol for opening, protocol in _OPENINGS.items() if opening in system), ToolProtocol.NATIVE)


def native_body(body: Body, protocol: ToolProtocol) -> Body:
    """The same request with calls and results in fields of their own."""
    read = _read_text if protocol is ToolProtocol.TEXT else _read_json
    messages: list[dict[str, Any]] = []
    open_call = ""
    for at, message in enumerate(body.get("messages") or []):
        content = str(message.get("content") or "")
        if open_call and message.get("role") == "user":
            messages.append({"role": "tool", "tool_call_id": open_call, "content": _result(content, protocol)})
            open_call = ""
        elif message.get("role") == "assistant":
            past = read(content)
            open_call = f"call_{at}" if past.name else ""
            messages.append(_asked(open_call, past) if open_call else {"role": "assistant", "content": past.answer})
        else:
            messages.append(dict(message))
    tools = [{"type": "function", "function": each} for each in _tools(_system(body))]
    return {**body, "messages": messages, "tools": tools}


def one_by_one(respond: Respond, body: Body, since: int) -> Turn:
    """The next call of the turn that is being worked on, or the next turn when all calls of it have results. ``since``:
    where the question stands that is worked on, perhaps with an answer at a limit behind it."""
    messages = list(body["messages"])
    calls = [at for at, message in enumerate(messages) if at > since and message.get("tool_calls")]
    done = 0
    while True:
        turn = respond({**body, "messages": _without(messages, calls[done:])})
        rest = len(calls) - done
        if not turn.calls or rest < len(turn.calls):
            break
        done += len(turn.calls)
    if not turn.calls:
        return turn
    first = rest == 0
    return replace(
        turn, thinking=turn.thinking if first else "", text=turn.text if first else "", calls=(turn.calls[rest],)
    )


def written(turn: Turn, protocol: ToolProtocol) -> str:
    """The turn as the text of an answer."""
    return _write_text(turn) if protocol is ToolProtocol.TEXT else _write_json(turn)


def _write_text(turn: Turn) -> str:
    thought = " ".join(part for part in (turn.thinking, turn.text if turn.calls else "") if part)
    lines = [f"{THOUGHT}{thought}"] if thought else []
    if turn.calls:
        return "\n".join([*lines, f"{ACTION}{turn.calls[0].name}", f"{ACTION_INPUT}{turn.calls[0].arguments}"])
    return "\n".join([*lines, f"{FINAL_ANSWER}{turn.text}"])


def _write_json(turn: Turn) -> str:
    if not turn.calls:
        return json.dumps({"thought": turn.thinking, "step": FINISH, "final_answer": turn.text}, ensure_ascii=False)
    call: Call = turn.calls[0]
    thought = " ".join(part for part in (turn.thinking, turn.text) if part)
    start = json.dumps({"thought": thought, "step": CALL_TOOL, "tool_name": call.name}, ensure_ascii=False)
    return f'{start[:-1]}, "arguments": {call.arguments}}}'


# --- reading ------------------------------------------------------------------------------------------------------


def _system(body: Body) -> str:
    messages = body.get("messages") or []
    return str(messages[0].get("content") or "") if messages and messages[0].get("role") == "system" else ""


def _tools(system: str) -> list[Any]:
    return [json.loads(line) for line in system.partition(TOOLS)[2].splitlines() if line.startswith("{")]


def _read_text(content: str) -> _Past:
    action = _PAST_ACTION.search(content)
    if action:
        return _Past(action["name"], action["arguments"])
    return _Past(answer=content.partition(FINAL_ANSWER)[2] or content)


def _read_json(content: str) -> _Past:
    try:
        reply = json.loads(content)
    except ValueError:
        return _broken(content)
    if reply.get("step") == CALL_TOOL:
        return _Past(reply["tool_name"], json.dumps(reply["arguments"], ensure_ascii=False))
    return _Past(answer=reply.get("final_answer") or content)


def _broken(content: str) -> _Past:
    """A call whose arguments are no JSON breaks the whole object, and comes back as it was."""
    name = re.search(r'"tool_name": ?"([^"]+)"', content)
    return _Past(name[1], "") if name else _Past(answer=content)


def _asked(identity: str, past: _Past) -> dict[str, Any]:
    function = {"name": past.name, "arguments": past.arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": identity, "type": "function", "function": function}],
    }


def _result(content: str, protocol: ToolProtocol) -> str:
    text = content.removesuffix(INVENTED).rstrip() if content.endswith(INVENTED) else content
    if protocol is ToolProtocol.TEXT:
        return text.removeprefix(OBSERVATION)
    return _RESULT.sub("", text, count=1)


def _without(messages: Sequence[Any], left_out: Sequence[int]) -> list[Any]:
    """Without these calls and their results."""
    ids = {call["id"] for at in left_out for call in messages[at]["tool_calls"]}
    gone = set(left_out)
    return [m for at, m in enumerate(messages) if at not in gone and m.get("tool_call_id") not in ids]
