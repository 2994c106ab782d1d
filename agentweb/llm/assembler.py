"""Assembles chat-completion chunks into one message: text, thinking and tool calls, as real providers send them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agentweb.engine.enums import DeltaKind, ErrorKind, Finish, Invalid
from agentweb.engine.messages import Json, ToolCall
from agentweb.engine.ports import ModelDelta, ModelError, ModelReply
from agentweb.engine.usage import Usage
from agentweb.llm.calls import MAX_CALLS, CallAssembler, TooManyCalls, text_of
from agentweb.llm.cleaning import TextCleaner, checked_json
from agentweb.llm.errors import bad_response, empty_answer, interrupted, provider_fault, read_error
from agentweb.llm.names import WireNames
from agentweb.llm.protocols.answers import AnswerReader
from agentweb.llm.splitter import TextSplitter

_THINKING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_KEPT_FIELDS = ("reasoning_details", "extra_content")
_LENGTH_REASONS = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
_FILTER_REASONS = frozenset({"content_filter", "safety", "prohibited_content"})
MAX_KEPT_PARTS = 4096


class Assembler:
    """Feed it parsed chunks; it gives deltas. ``close`` and ``reply`` end it; the deltas joined equal the reply's
    texts.

    ``finished``: the provider gave a finish reason or the end mark. ``fault``: the provider reported an error; the
    deltas up to it stand, and no call of the answer may run.
    """

    def __init__(self, names: WireNames, new_id: Callable[[], str], answer: AnswerReader) -> None:
        self.finished = False
        self.fault: ModelError | None = None
        self.usage: Mapping[str, Json] | None = None
        self._calls = CallAssembler(names, new_id)
        self._splitter = TextSplitter(answer)
        self._clean_text = TextCleaner()
        self._clean_thinking = TextCleaner()
        self._heard: list[str] = []  # words of one kind that came together and have not been looked at yet
        self._heard_kind = DeltaKind.TEXT
        self._shown: dict[DeltaKind, list[str]] = {DeltaKind.TEXT: [], DeltaKind.THINKING: []}
        self._reason = ""
        self._found: tuple[ToolCall, ...] = ()
        self._extra: dict[str, Any] = {}

    # --- chunks ---------------------------------------------------------------------------------------------------

    def feed(self, chunks: Iterable[Json]) -> list[ModelDelta]:
        """Parsed chunks that came together; what is neither a chunk nor a list of them says nothing.

        Their words are joined before anybody looks at them, so that a word costs little where many come at once."""
        deltas: list[ModelDelta] = []
        try:
            for chunk in chunks:
                self._take(chunk, deltas)
        except TooManyCalls:
            self.fault = bad_response("far too many tool calls at once")
        except (ValueError, RecursionError):
            self.fault = bad_response("data that is nested too deeply")
        self._speak(deltas)
        return deltas

    def _take(self, chunk: Json, deltas: list[ModelDelta]) -> None:
        if self.fault is not None:
            return
        if isinstance(chunk, list):
            for item in chunk:
                self._take(item, deltas)
        if not isinstance(chunk, dict):
            return
        choice = _first_choice(chunk)
        self._take_usage(chunk, choice)
        if choice is not None:
            self._take_choice(choice, deltas)
        if chunk.get("error") or (choice is None and chunk.get("object") == "error"):
            self.fail(chunk)

    @property
    def enough(self) -> bool:
        """Nothing that may follow can matter, so nobody needs to wait for it."""
        return self._splitter.enough

    def end_mark(self) -> None:
        """The stream said that it is done."""
        self.finished = True

    def fail(self, error: Json) -> None:
        """The provider reported an error in the middle of the answer."""
        self.fault = provider_fault(read_error(error))

    def _take_usage(self, chunk: Mapping[str, Json], choice: Mapping[str, Json] | None) -> None:
        if not chunk.get("usage") and "x_groq" not in chunk and (choice is None or "usage" not in choice):
            return  # as almost always
        for holder in (chunk, choice, chunk.get("x_groq")):
            usage = holder.get("usage") if isinstance(holder, dict) else None
            if isinstance(usage, dict) and usage:
                self.usage = usage
                return

    def _take_choice(self, choice: Mapping[str, Json], deltas: list[ModelDelta]) -> None:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = _whole_message(choice.get("message"))
        if delta:
            self._take_delta(delta, deltas)
        reason = text_of(choice.get("finish_reason"))
        if reason:
            self._reason = reason.lower()
            self.finished = True

    def _take_delta(self, delta: Mapping[str, Json], deltas: list[ModelDelta]) -> None:
        thinking, text = self._texts(delta)
        if thinking:
            self._hear(DeltaKind.THINKING, thinking, deltas)
        if text:
            self._hear(DeltaKind.TEXT, text, deltas)
        if len(delta) == 1 and (text or thinking):
            return  # words and nothing else, as almost always
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for item in calls:
                if isinstance(item, dict):
                    self._calls.feed(item)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._calls.feed({"function": legacy})
        for field in _KEPT_FIELDS:
            if delta.get(field):
                self._keep(field, checked_json(delta[field]))

    def _hear(self, kind: DeltaKind, text: str, deltas: list[ModelDelta]) -> None:
        if kind is not self._heard_kind:
            self._speak(deltas)
            self._heard_kind = kind
        self._heard.append(text)

    def _speak(self, deltas: list[ModelDelta]) -> None:
        """Look at the words that were heard."""
        if not self._heard:
            return
        text, self._heard = "".join(self._heard), []
        if self._heard_kind is DeltaKind.THINKING:
            deltas += self._thought(text)
        else:
            deltas += self._show(self._splitter.feed(self._clean_text.feed(text)))

    def _texts(self, delta: Mapping[str, Json]) -> tuple[str, str]:
        """(thinking, text) of one chunk; what the provider calls its thinking is remembered, to send it back so."""
        thinking = ""
        content = delta.get("content")
        if len(delta) == 1 and isinstance(content, str):
            return "", content
        for field in _THINKING_FIELDS:
            thinking = text_of(delta.get(field))
            if thinking:
                self._extra.setdefault("thinking_field", field)
                break
        if isinstance(content, list):
            parts = [part for part in content if isinstance(part, dict)]
            thinking += "".join(_part_text(part, "thinking") for part in parts)
            text = "".join(_part_text(part, "text") for part in parts)
        else:
            text = text_of(content)
        return thinking, text or text_of(delta.get("refusal"))

    def _keep(self, field: str, value: Json) -> None:
        if not isinstance(value, list):
            self._extra[field] = value
            return
        kept = self._extra.setdefault(field, [])
        if isinstance(kept, list) and len(kept) < MAX_KEPT_PARTS:
            kept.extend(value)

    def _thought(self, text: str) -> list[ModelDelta]:
        cleaned = self._clean_thinking.feed(text)
        return self._show([ModelDelta(DeltaKind.THINKING, cleaned)] if cleaned else [])

    def _show(self, deltas: list[ModelDelta]) -> list[ModelDelta]:
        for delta in deltas:
            self._shown[delta.kind].append(delta.text)
        return deltas

    # --- the end --------------------------------------------------------------------------------------------------

    def drain(self) -> list[ModelDelta]:
        """What was still held back when the stream broke."""
        rest = self._clean_text.close()
        deltas = self._splitter.feed(rest) if rest else []
        return self._show(deltas + self._splitter.drain()) + self._thought_rest()

    def _thought_rest(self) -> list[ModelDelta]:
        rest = self._clean_thinking.close()
        return self._show([ModelDelta(DeltaKind.THINKING, rest)]) if rest else []

    def close(self) -> list[ModelDelta]:
        """The answer is whole: what was held back and is text after all. ``reply`` comes next."""
        deltas = self._thought_rest()
        rest = self._clean_text.close()
        if rest:
            deltas += self._show(self._splitter.feed(rest))
        last, self._found = self._splitter.close(proper_calls=bool(self._calls), cut_off=self._cut_off)
        self._extra |= self._splitter.extra
        return deltas + self._show(last)

    @property
    def _cut_off(self) -> bool:
        return self._reason in _LENGTH_REASONS

    def reply(self) -> ModelReply:
        """The whole message, its usage left empty. Raises ModelError where the end says that it is none."""
        cut_off = self._cut_off
        try:
            proper = self._calls.build(cut_off=cut_off)
        except TooManyCalls:
            raise bad_response("far too many tool calls at once") from None
        asked = {(call.name, repr(call.arguments)) for call in proper}
        calls = proper + tuple(call for call in self._found if (call.name, repr(call.arguments)) not in asked)
        if len(calls) > MAX_CALLS:
            raise bad_response("far too many tool calls at once")
        text, thinking = ("".join(self._shown[kind]) for kind in (DeltaKind.TEXT, DeltaKind.THINKING))
        if self._reason in _FILTER_REASONS:
            raise _filtered(self._reason)
        if self._reason == "error":
            raise interrupted()
        if not calls and not text.strip() and not cut_off:
            raise empty_answer()
        return ModelReply(text, thinking, calls, _finish(calls, cut_off), Usage(), dict(self._extra))


def _finish(calls: tuple[ToolCall, ...], cut_off: bool) -> Finish:
    """Calls decide, whatever the provider said, unless the output limit cut one of them off."""
    if calls and not (cut_off and any(call.invalid is Invalid.TRUNCATED for call in calls)):
        return Finish.TOOL_CALLS
    return Finish.LENGTH if cut_off else Finish.STOP


def _filtered(reason: str) -> ModelError:
    return ModelError(
        ErrorKind.PROVIDER_ERROR,
        "The model server's content filter stopped the answer. Ask in other words or use another model.",
        code=reason,
    )


def _first_choice(chunk: Mapping[str, Json]) -> Mapping[str, Json] | None:
    choices = chunk.get("choices")
    if isinstance(choices, list):
        for choice in choices:
            if isinstance(choice, dict) and not choice.get("index"):
                return choice
    return None


def _whole_message(message: Json) -> Mapping[str, Json] | None:
    """A message that came whole: its calls are apart by position, whatever index they carry."""
    if not isinstance(message, dict):
        return None
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    numbered = [{**call, "index": n} for n, call in enumerate(calls) if isinstance(call, dict)]
    return {**message, "tool_calls": numbered}


def _part_text(part: Mapping[str, Json], kind: str) -> str:
    """The text of one content part of that kind; a thinking part may hold parts of its own."""
    if part.get("type", "text") != kind:
        return ""
    value = part.get(kind)
    if isinstance(value, list):
        return "".join(text_of(inner.get("text")) for inner in value if isinstance(inner, dict))
    return text_of(value)
