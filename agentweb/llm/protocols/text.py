"""Tools in lines of text, for models that know no other way: thought, action, input; then an observation from us."""

from collections.abc import Callable, Sequence
from typing import Any

from agentweb.engine.enums import Purpose
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.ports import ModelRequest
from agentweb.llm.config import ModelConfig, SendThinking
from agentweb.llm.names import WireNames
from agentweb.llm.protocols.answers import AnswerReader, PlainAnswer
from agentweb.llm.protocols.native import definition
from agentweb.llm.protocols.offered import Offered
from agentweb.llm.protocols.refusals import UNREADABLE
from agentweb.llm.protocols.rules import INVENTED, TEXT_RULES, TOOLS
from agentweb.llm.protocols.shape import PastCall, argument_text
from agentweb.llm.protocols.text_reader import TextReader
from agentweb.llm.results import without_files
from agentweb.llm.written import WireMessage, as_json
from agentweb.schema.text import clean

THOUGHT, ACTION, ACTION_INPUT = "Thought: ", "Action: ", "Action Input: "
OBSERVATION, FINAL_ANSWER = "Observation: ", "Final Answer: "
STOP = ["\nObservation:"]


def tool_lines(request: ModelRequest, names: WireNames) -> str:
    """What a model that is told of tools by its prompt knows of them."""
    return "\n".join([TOOLS, *(as_json(definition(spec, names)) for spec in request.tools)])


def past_thought(message: AssistantMessage, send_thinking: SendThinking) -> str:
    """The thinking of a message as it goes back, if it does."""
    wanted = send_thinking is SendThinking.ALWAYS or (send_thinking is SendThinking.WITH_CALLS and message.calls)
    return clean(message.thinking).strip() if wanted else ""


class TextForm:
    """A call is lines of text, and its result a message of the user's role; of several calls one follows the other."""

    def __init__(self, names: WireNames, send_thinking: SendThinking, *, bare: bool) -> None:
        self._names = names
        self._send_thinking = send_thinking
        self._bare = bare  # there are no tools any more, so answers are plain text
        self.key = "bare text" if bare else "text"

    def said(self, message: AssistantMessage, text: str, calls: Sequence[PastCall]) -> list[WireMessage]:
        thought = past_thought(message, self._send_thinking)
        if not calls:
            lines = [] if self._bare else [f"{THOUGHT}{thought}"] if thought else []
            return [_message("assistant", [*lines, text if self._bare else f"{FINAL_ANSWER}{text}"])]
        before = " ".join(part for part in (thought, text.strip()) if part)
        lines = [f"{THOUGHT}{before}"] if before else []
        wire: list[WireMessage] = []
        for past in calls:
            wire += [_message("assistant", lines + self._action(past)), _message("user", [self._observation(past)])]
            lines = []
        if message.extra.get("invented"):
            wire[-1] = _message("user", [wire[-1]["content"], "", INVENTED])
        return wire

    def _action(self, past: PastCall) -> list[str]:
        call, raw = past.call, without_files(past.call.raw.strip())
        if call.name == UNREADABLE:
            return [raw or "…"]
        given = raw or "{}" if call.arguments is None else argument_text(call)
        return [f"{ACTION}{self._names.wire(call.name)}", f"{ACTION_INPUT}{given}"]

    def _observation(self, past: PastCall) -> str:
        return past.result if past.call.name == UNREADABLE else f"{OBSERVATION}{past.result}"


def _message(role: str, lines: Sequence[str]) -> WireMessage:
    return {"role": role, "content": clean("\n".join(lines))}


class TextProtocol:
    def __init__(self, config: ModelConfig, request: ModelRequest, names: WireNames) -> None:
        self._request = request
        self._names = names
        self.form = TextForm(names, config.send_thinking, bare=not request.tools)

    def system(self, system: str) -> str:
        if not self._request.tools:
            return system
        return "\n\n".join([*filter(None, [system.strip()]), TEXT_RULES, tool_lines(self._request, self._names)])

    def fields(self) -> dict[str, Any]:
        return {"stop": STOP} if self._request.tools else {}

    def reader(self, new_id: Callable[[], str]) -> AnswerReader:
        if not self._request.tools:
            return PlainAnswer()
        offered = Offered(self._names, self._request.tools)
        return TextReader(offered, new_id, may_call=self._request.purpose is Purpose.TURN)
