"""Splits streamed answer text into thinking and answer. Thinking tags count only at the very start."""

from collections.abc import Mapping
from enum import Enum, auto

from agentweb.engine.enums import DeltaKind
from agentweb.engine.messages import Json, ToolCall
from agentweb.engine.ports import ModelDelta
from agentweb.llm.protocols.answers import AnswerReader, shown

_THINK_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>"}


class _State(Enum):
    START = auto()
    THINKING = auto()
    AFTER_THINKING = auto()
    ANSWER = auto()


def partial_tag(text: str, tags: tuple[str, ...]) -> int:
    """How many characters at the end of ``text`` may be the beginning of one of ``tags``."""
    # A tag holds its first character only once, so its beginning can only be at the last one.
    at = max(text.rfind("<"), text.rfind("["))
    end = text[at:] if at >= 0 else ""
    return len(end) if end and any(tag.startswith(end) and tag != end for tag in tags) else 0


class TextSplitter:
    """Feed it text; it gives deltas. All that is not thinking goes through the reader of the answer."""

    def __init__(self, answer: AnswerReader) -> None:
        self._state = _State.START
        self._blank: list[str] = []  # before the first word, or behind the last one of a thought
        self._held = ""  # where a tag may be coming, so a few characters at most
        self._end_tag = ""
        self._thought = False  # something was
        self._answer = answer

    @property
    def extra(self) -> Mapping[str, Json]:
        return self._answer.extra

    @property
    def enough(self) -> bool:
        return self._answer.enough

    def feed(self, text: str) -> list[ModelDelta]:
        if self._state is _State.ANSWER:
            return self._answer.feed(text)
        if self._state is _State.START and not self._held:
            self._blank.append(text)
            if text.isspace():
                return []
            text, self._blank = "".join(self._blank), []
        self._held += text
        deltas: list[ModelDelta] = []
        if self._state is _State.START:
            self._start()
        if self._state is _State.THINKING:
            deltas += self._think()
        if self._state is _State.AFTER_THINKING:
            self._held = self._held.lstrip()
            if self._held:
                self._state = _State.ANSWER
        if self._state is _State.ANSWER:
            text, self._held = self._held, ""
            deltas += self._answer.feed(text)
        return deltas

    def _start(self) -> None:
        begin = self._held.lstrip()
        if not begin:
            return
        for tag, end_tag in _THINK_TAGS.items():
            if begin.startswith(tag):
                self._state, self._end_tag, self._held = _State.THINKING, end_tag, begin[len(tag) :].lstrip()
                return
        if not any(tag.startswith(begin) for tag in _THINK_TAGS):
            self._state = _State.ANSWER

    def _think(self) -> list[ModelDelta]:
        """Blank text waits for what follows it, since none is shown at the end of a thought."""
        thought, end, rest = self._held.partition(self._end_tag)
        size = 0 if end else partial_tag(thought, (self._end_tag,))
        self._held = rest if end else thought[len(thought) - size :]
        thought = thought[: len(thought) - size]
        said = thought.rstrip()
        before = "".join(self._blank) if said and self._thought else ""
        if said or end:
            self._blank, self._thought = [], True
        if end:
            self._state = _State.AFTER_THINKING
        elif blank := thought[len(said) :]:
            self._blank.append(blank)
        return shown(DeltaKind.THINKING, before + said)

    def _rest(self) -> str:
        rest = "".join(self._blank) + self._held
        self._blank, self._held = [], ""
        return rest

    def drain(self) -> list[ModelDelta]:
        """What was held back, as it came: the stream broke, so none of it can be a call."""
        rest = self._rest()
        if self._state is _State.THINKING:
            return shown(DeltaKind.THINKING, rest)
        return (self._answer.feed(rest) if rest else []) + self._answer.drain()

    def close(self, *, proper_calls: bool, cut_off: bool) -> tuple[list[ModelDelta], tuple[ToolCall, ...]]:
        """The end of a whole answer. ``proper_calls``: the provider also sent calls in their own field."""
        rest = self._rest()
        if self._state is _State.THINKING:
            return shown(DeltaKind.THINKING, rest.rstrip()), ()
        deltas = self._answer.feed(rest) if rest and self._state is _State.START else []
        last, calls = self._answer.close(proper_calls=proper_calls, cut_off=cut_off)
        return deltas + last, calls
