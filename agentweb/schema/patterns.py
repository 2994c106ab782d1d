"""Regular expressions from schemas: read as JSON Schema means them, refused where matching could take for ever.

Each accepted pattern comes with the length of text up to which matching is quick; longer texts are not tried.
"""

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from agentweb.schema import regex_graph

MAX_PATTERN = 1_000
MAX_TEXT = 1_000_000
MAX_DEGREE = 5
MAX_BRANCHING = 200_000
STEPS = 5_000_000
"""Steps of the matcher that a single check may take, a small part of a second."""


class PatternError(ValueError):
    """A pattern that is not accepted; `keyword` names the sentence."""

    def __init__(self, keyword: str) -> None:
        self.keyword = keyword
        super().__init__(keyword)


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern, and the longest text in characters that it may be tried on."""

    regex: re.Pattern[str]
    longest: int
    degree: int


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Pattern:
    """The pattern ready for `search`. Raises `PatternError`.

    As in JavaScript, \\d and \\w are ASCII and $ is the very end (Python's would let a line break through).
    """
    if len(pattern) > MAX_PATTERN:
        raise PatternError("pattern.chars")
    try:
        degree, branching = _cost(pattern)
        regex = re.compile(_strict_end(pattern), re.ASCII)
    except (regex_graph.TooComplex, RecursionError):
        raise PatternError("pattern.complex") from None
    except (re.error, OverflowError):
        raise PatternError("pattern.syntax") from None
    except regex_graph.Endless:
        raise PatternError("pattern.slow") from None
    except regex_graph.Unsupported:
        raise PatternError("pattern.feature") from None
    if degree > MAX_DEGREE or branching > MAX_BRANCHING:
        raise PatternError("pattern.slow")
    # n characters shared among d repetitions can be split in about n**d / d! ways.
    longest = int((math.factorial(degree) * STEPS / branching) ** (1 / degree)) if degree else MAX_TEXT
    return Pattern(regex, min(longest, MAX_TEXT), degree)


def _cost(pattern: str) -> tuple[int, int]:
    """(loops in a row that share characters, ways through the choices outside of loops)."""
    tree = regex_graph.parse(pattern)
    anchored = len(tree) > 0 and str(tree[0][0]) == "AT" and str(tree[0][1]) in ("AT_BEGINNING", "AT_BEGINNING_STRING")
    degree, branching, todo = 0, 1, [tree]
    while todo:
        graph = regex_graph.graph_of(todo.pop(), pattern, anchored)
        todo.extend(graph.asides)
        degree = max(degree, graph.degree())
        branching *= graph.branching()
    return degree, branching


def _strict_end(pattern: str) -> str:
    r"""The pattern with each $ outside brackets written as \Z."""
    parts, index, in_class = [], 0, False
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            parts.append(pattern[index : index + 2])
            index += 2
            continue
        if in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            # A bracket right at the start of a class is a member of it.
            head = re.match(r"\[\^?\]?", pattern[index:])
            parts.append(head[0] if head else char)
            index += len(parts[-1])
            continue
        parts.append(r"\Z" if char == "$" and not in_class else char)
        index += 1
    return "".join(parts)
