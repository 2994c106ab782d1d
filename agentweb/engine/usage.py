"""What a run has spent, and the ceilings it must keep to."""

from dataclasses import dataclass, fields
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals that only grow. Tokens are counts, ``cost`` is in the model's currency, ``seconds`` is working time
    (waiting for people or for a free worker is not counted). ``estimated_calls``: for so many of the model calls nobody
    counted the tokens, so that tokens and cost are a guess."""

    turns: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    cost: Decimal = Decimal(0)
    seconds: float = 0.0
    estimated_calls: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Limits:
    """The ceilings of one run. Times are seconds; ``retry_after_cap_s`` bounds what a server may ask us to wait,
    ``max_reasks`` how often the model may be asked again because none of its calls could be used, ``think_again`` how
    often extensions may have it asked again."""

    max_turns: int = 10
    max_reasks: int = 5
    think_again: int = 3
    model_attempts: int = 4
    retry_base_s: float = 0.5
    retry_cap_s: float = 30.0
    retry_after_cap_s: float = 120.0
