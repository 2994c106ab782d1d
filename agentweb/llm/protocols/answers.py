"""What reads the text of one answer while it streams."""

from collections.abc import Mapping
from typing import Protocol

from agentweb.engine.enums import DeltaKind
from agentweb.engine.messages import Json, ToolCall
from agentweb.engine.ports import ModelDelta


class AnswerReader(Protocol):
    """Gives what people see of the text, and at its end the calls that it holds. What was given is never taken back."""

    @property
    def extra(self) -> Mapping[str, Json]:
        """What the message keeps beside its texts, known when the answer has ended."""
        ...

    @property
    def enough(self) -> bool:
        """What follows would be cut, whatever it is: the rest of the answer needs not be waited for, nor paid."""
        ...

    def feed(self, text: str) -> list[ModelDelta]: ...

    def drain(self) -> list[ModelDelta]:
        """The stream broke: what was held back and can be shown. No call comes of it."""
        ...

    def close(self, *, proper_calls: bool, cut_off: bool) -> tuple[list[ModelDelta], tuple[ToolCall, ...]]:
        """The answer has ended. ``proper_calls``: the provider also sent calls in their own field; ``cut_off``: it
        hit the output limit."""
        ...


def shown(kind: DeltaKind, text: str) -> list[ModelDelta]:
    """One delta, or none for no text."""
    return [ModelDelta(kind, text)] if text else []


class PlainAnswer:
    """Text that is nothing but an answer."""

    extra: Mapping[str, Json] = {}
    enough = False

    def feed(self, text: str) -> list[ModelDelta]:
        return shown(DeltaKind.TEXT, text)

    def drain(self) -> list[ModelDelta]:
        return []

    def close(self, *, proper_calls: bool, cut_off: bool) -> tuple[list[ModelDelta], tuple[ToolCall, ...]]:
        return [], ()
