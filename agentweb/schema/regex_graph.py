"""A regular expression as a graph of its character positions, to see where matching can take very long.

Python's matcher tries every way to split a text among repetitions. Two ways through one repetition for the same text
make the time exponential; repetitions that follow each other and can share characters make it polynomial, one degree
each. The graph has one node per character position (after Glushkov) and its edges count in how many ways one position
follows another.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

# The standard library's own parser of expressions; it has no public name.
_parser: Any = import_module("re._parser")

MAX_POSITIONS = 250
MAX_LOOP = 120
MAX_COPIES = 100
FEW_COPIES = 8
MAX_WORK = 5_000

_SAMPLES = "\x00\t\n -./059:@AZ_aMmz~\x7f\u00a0\u0660\u00e9\u4e2d\uffff"
_CATEGORIES = {
    "CATEGORY_DIGIT": re.compile(r"\d", re.ASCII),
    "CATEGORY_NOT_DIGIT": re.compile(r"\D", re.ASCII),
    "CATEGORY_SPACE": re.compile(r"\s", re.ASCII),
    "CATEGORY_NOT_SPACE": re.compile(r"\S", re.ASCII),
    "CATEGORY_WORD": re.compile(r"\w", re.ASCII),
    "CATEGORY_NOT_WORD": re.compile(r"\W", re.ASCII),
}


class Endless(Exception):
    """Some text takes exponential time."""


class TooComplex(Exception):
    """Too large to be judged."""


class Unsupported(Exception):
    """A feature whose time cannot be judged."""


@dataclass
class _Piece:
    """Where a part of the expression can begin and end (a position as often as there are ways to it), and in how many
    ways it can match nothing."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    empties: int = 1


class Graph:
    """The positions of one expression. Sets of characters and of positions are bits of an integer."""

    def __init__(self, alphabet: str, fold: bool) -> None:
        self.alphabet = alphabet
        self.fold = fold
        self.chars: list[int] = []
        self.follow: list[dict[int, int]] = []
        self.work = 0
        self.depth = 0
        self.asides: list[Any] = []

    def build(self, items: Iterable[tuple[Any, Any]]) -> _Piece:
        """Add a sequence of parsed items. Raises `Endless`, `TooComplex` or `Unsupported`."""
        whole = _Piece()
        for op, argument in items:
            whole = self.join(whole, self._item(str(op), argument))
        return whole

    def _item(self, op: str, argument: Any) -> _Piece:
        match op:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "RANGE" | "CATEGORY":
                return self.add(self._charset(op, argument))
            case "AT" | "FAILURE":
                return _Piece()
            case "SUBPATTERN":
                return self.build(argument[-1])
            case "ATOMIC_GROUP":
                return self.build(argument)
            case "BRANCH":
                return _either([self.build(branch) for branch in argument[1]])
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeat(*argument)
            case "ASSERT" | "ASSERT_NOT" if self.depth == 0:
                self.asides.append(argument[1])
                return _Piece()
        raise Unsupported(op)

    def add(self, charset: int) -> _Piece:
        self.work += 1
        if len(self.chars) >= MAX_POSITIONS or self.work > MAX_WORK:
            raise TooComplex
        self.chars.append(charset)
        self.follow.append({})
        node = len(self.chars) - 1
        return _Piece([node], [node], empties=0)

    def join(self, left: _Piece, right: _Piece) -> _Piece:
        self.link(left.last, right.first)
        if max(left.empties, right.empties) > MAX_WORK:
            raise TooComplex
        first = left.first + right.first * left.empties
        last = right.last + left.last * right.empties
        if len(first) + len(last) > MAX_WORK:
            raise TooComplex
        return _Piece(first, last, left.empties * right.empties)

    def link(self, sources: list[int], targets: list[int]) -> None:
        for source in sources:
            edges = self.follow[source]
            for target in targets:
                edges[target] = edges.get(target, 0) + 1
        self.work += len(sources) * len(targets) // 10

    def _repeat(self, low: int, high: Any, body: Any) -> _Piece:
        if high == 0:
            return _Piece()
        if high == 1:
            piece = self.build(body)
            return _Piece(piece.first, piece.last, piece.empties + (low == 0))
        self.depth += 1
        start = len(self.chars)
        piece = self.build(body)
        size = len(self.chars) - start
        # A few copies cannot take long: the choices inside them are counted one by one instead.
        if low != high or low > FEW_COPIES or piece.empties:
            self._judge_loop(start, piece)
        if low == high and low <= MAX_COPIES and size * low <= MAX_POSITIONS - start:
            del self.chars[start:], self.follow[start:]
            piece = _Piece()
            for _ in range(low):
                piece = self.join(piece, self.build(body))
        self.depth -= 1
        return _Piece(piece.first, piece.last, piece.empties + (low == 0))

    def _judge_loop(self, start: int, piece: _Piece) -> None:
        """Close the loop over the positions from `start` on; refuse it when one text has two ways round it."""
        if piece.empties:
            raise Endless
        self.link(piece.last, piece.first)
        nodes = range(start, len(self.chars))
        if len(nodes) > MAX_LOOP:
            raise TooComplex
        if any(ways > 1 for node in nodes for ways in self.follow[node].values()):
            raise Endless
        # Pairs of different positions that the same text can have reached from a common one.
        todo = [pair for node in nodes for pair in self._apart(node, node)]
        seen = set(todo)
        while todo:
            one, other = todo.pop()
            if self.follow[one].keys() & self.follow[other].keys():
                raise Endless
            for pair in self._apart(one, other):
                if pair not in seen:
                    seen.add(pair)
                    todo.append(pair)
            self.work += 1
            if self.work > MAX_WORK:
                raise TooComplex

    def _apart(self, one: int, other: int) -> list[tuple[int, int]]:
        return [
            (min(left, right), max(left, right))
            for left in self.follow[one]
            for right in self.follow[other]
            if left != right and self.chars[left] & self.chars[right]
        ]

    def _charset(self, op: str, argument: Any) -> int:
        bits = 0
        for index, char in enumerate(self.alphabet):
            forms = {char, char.lower(), char.upper()} if self.fold else {char}
            if any(len(form) == 1 and _accepts(op, argument, form) for form in forms):
                bits |= 1 << index
        return bits

    def loops(self) -> list[tuple[int, int]]:
        """Each loop as (its positions, the characters it can read)."""
        reach = self._reach()
        found: dict[int, int] = {}
        for node, reached in enumerate(reach):
            if reached >> node & 1:
                members = sum(1 << other for other in _bits(reached) if reach[other] >> node & 1)
                found[members] = found.get(members, 0) | self.chars[node]
        return list(found.items())

    def _reach(self) -> list[int]:
        reach = [sum(1 << target for target in edges) for edges in self.follow]
        for middle in range(len(reach)):
            through = reach[middle]
            for node in range(len(reach)):
                if reach[node] >> middle & 1:
                    reach[node] |= through
        return reach

    def degree(self) -> int:
        """How many loops in a row can share the characters of one text."""
        loops = self.loops()
        later = {members: self._sharing(members, chars, loops) for members, chars in loops}
        depths: dict[int, int] = {}
        pending = [members for members, _ in loops]
        while pending:
            members = pending[-1]
            missing = [other for other in later[members] if other not in depths]
            if missing:
                pending.extend(missing)
                continue
            depths[members] = 1 + max((depths[other] for other in later[members]), default=0)
            pending.pop()
        return max(depths.values(), default=0)

    def branching(self) -> int:
        """In how many ways, at most, one text can be led through the choices outside of loops."""
        ways, inside = 1, 0
        for members, _ in self.loops():
            inside |= members
            ways *= max(self._choices(self.follow[node], members) for node in _bits(members))
        for node, edges in enumerate(self.follow):
            if not inside >> node & 1:
                ways *= self._choices(edges, 0)
        return ways

    def _choices(self, edges: dict[int, int], loop: int) -> int:
        """The most ways that one character opens out of a loop, or out of a position that is in none."""
        targets = [(self.chars[target], ways) for target, ways in edges.items() if not loop >> target & 1]
        if sum(ways for _, ways in targets) <= 1:
            return 1
        return max(
            1, *(sum(ways for chars, ways in targets if chars >> bit & 1) for bit in range(len(self.alphabet) + 1))
        )

    def _sharing(self, members: int, chars: int, loops: list[tuple[int, int]]) -> list[int]:
        """The loops that can be reached from a loop by reading only what the loop itself could read."""
        seen = members
        todo = list(_bits(members))
        while todo:
            for target in self.follow[todo.pop()]:
                if not seen >> target & 1 and self.chars[target] & chars:
                    seen |= 1 << target
                    todo.append(target)
        return [other for other, read in loops if other != members and other & seen and read & chars]


def parse(pattern: str) -> Any:
    """The parsed expression. Raises `re.error`, `OverflowError` or `RecursionError`."""
    return _parser.parse(pattern, re.ASCII)


def graph_of(items: Iterable[tuple[Any, Any]], pattern: str, anchored: bool) -> Graph:
    """The graph of parsed items; without an anchor the search itself is a loop before them."""
    edges = {neighbour for char in pattern for neighbour in (ord(char) - 1, ord(char), ord(char) + 1)}
    alphabet = "".join(sorted({*_SAMPLES, *(chr(code) for code in edges if 0 <= code <= 0x10FFFF)}))
    graph = Graph(alphabet, fold=re.search(r"\(\?[a-zA-Z-]*i", pattern) is not None)
    every = (1 << len(alphabet)) - 1
    # The search is a loop over anything; with an anchor it is a single step. The end reads a sign of its own.
    start = graph.add(every)
    if not anchored:
        graph.link(start.last, start.first)
    whole = graph.join(start, graph.build(items))
    graph.join(whole, graph.add(1 << len(alphabet)))
    return graph


def _either(branches: list[_Piece]) -> _Piece:
    return _Piece(
        [node for branch in branches for node in branch.first],
        [node for branch in branches for node in branch.last],
        sum(branch.empties for branch in branches),
    )


def _bits(number: int) -> Iterable[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _accepts(op: str, argument: Any, char: str) -> bool:
    match op:
        case "LITERAL":
            return ord(char) == int(argument)
        case "NOT_LITERAL":
            return ord(char) != int(argument)
        case "ANY":
            return char != "\n"
        case "RANGE":
            return bool(argument[0] <= ord(char) <= argument[1])
        case "CATEGORY":
            return _CATEGORIES[str(argument).replace("UNI_", "")].match(char) is not None
    items = [(str(inner), value) for inner, value in argument]
    accepted = any(_accepts(inner, value, char) for inner, value in items if inner != "NEGATE")
    return accepted != any(inner == "NEGATE" for inner, _ in items)
