"""What a model call used, from what the server says or, where it says nothing, from lengths."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from agentweb.engine.messages import Json
from agentweb.engine.usage import Usage

BYTES_PER_TOKEN = 3.5
_MILLION = Decimal(1_000_000)
_MAX_TOKENS = 2**53  # what a server says beyond this is nonsense, and JSON readers lose it


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens. ``cached`` is the price of input tokens that the server had in its cache."""

    input: Decimal = Decimal(0)
    cached: Decimal = Decimal(0)
    output: Decimal = Decimal(0)

    def cost(self, input_tokens: int, cached_tokens: int, output_tokens: int) -> Decimal:
        fresh = max(0, input_tokens - cached_tokens)
        total = fresh * self.input + cached_tokens * self.cached + output_tokens * self.output
        return total / _MILLION


FREE = Prices()


@dataclass(frozen=True, slots=True)
class LaterPrice:
    """What counts from a day on, in UTC."""

    since: date
    prices: Prices


def count(value: Json) -> int:
    """A token count that may be missing, null or nonsense."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_TOKENS:
        return 0
    return int(value)


def _nested(usage: Mapping[str, Json], outer: str, inner: str) -> int:
    details = usage.get(outer)
    return count(details.get(inner)) if isinstance(details, Mapping) else 0


def reported(usage: Mapping[str, Json], prices: Prices) -> Usage:
    """The usage object of a chat completion, in the spellings that servers use."""
    tokens_in = count(usage.get("prompt_tokens")) or count(usage.get("input_tokens"))
    tokens_out = count(usage.get("completion_tokens")) or count(usage.get("output_tokens"))
    cached = (
        _nested(usage, "prompt_tokens_details", "cached_tokens")
        or count(usage.get("prompt_cache_hit_tokens"))
        or count(usage.get("cached_tokens"))
    )
    thinking = _nested(usage, "completion_tokens_details", "reasoning_tokens")
    return _priced(tokens_in, min(cached, tokens_in), tokens_out, min(thinking, tokens_out), prices)


def estimated(sent_bytes: int, text: str, thinking: str, arguments: str, prices: Prices) -> Usage:
    """A guess from UTF-8 lengths, for servers that count nothing."""
    thought = _tokens(len(thinking.encode("utf-8", "replace")))
    spoken = _tokens(len(text.encode("utf-8", "replace")) + len(arguments.encode("utf-8", "replace")))
    return replace(_priced(_tokens(sent_bytes), 0, thought + spoken, thought, prices), estimated_calls=1)


def _tokens(size: int) -> int:
    return -int(-size // BYTES_PER_TOKEN) if size else 0


def _priced(tokens_in: int, cached: int, tokens_out: int, thinking: int, prices: Prices) -> Usage:
    return Usage(
        input_tokens=tokens_in,
        cached_tokens=cached,
        output_tokens=tokens_out,
        thinking_tokens=thinking,
        cost=prices.cost(tokens_in, cached, tokens_out),
    )
