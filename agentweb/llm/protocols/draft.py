"""An action in lines of text, as far as it has come."""

from agentweb.llm.arguments import ValueScan
from agentweb.llm.protocols.actions import Action, read_block, read_labelled, read_tagged

MOST_LEAD = 1_000  # characters of a fence and of blank text in it before a value


class Draft:
    """``tagged``: it stands in tags, which its text begins with; ``block``: it is JSON that nothing announces."""

    def __init__(self, *, tagged: bool = False, block: bool = False) -> None:
        self.block = block
        self._tagged = tagged
        self._head: list[str] = []
        self._given: list[str] | None = None
        self._lead = ""
        self._ended = False
        self._scan = ValueScan()
        self._scans: bool | None = True if block else None  # whether a JSON value is being written; None: not clear yet

    def begin_input(self) -> bool:
        """What follows is the input of the action; False when that has begun before."""
        if self._given is not None or self._tagged or self.block:
            return False
        self._given = []
        return True

    def add(self, text: str) -> None:
        (self._head if self._given is None else self._given).append(text)
        if self._scans is None and self._given is not None:
            text = self._begin_value(text)
        if self._scans:
            self._scan.feed(text)

    def _begin_value(self, text: str) -> str:
        """Whether the input is a JSON value, once that is clear, and the beginning of it."""
        self._lead += text if self._lead else text.lstrip()
        fenced = self._lead
        if fenced.startswith("`"):
            _, newline, fenced = fenced.partition("\n")
            if not newline and len(self._lead) < MOST_LEAD:
                return ""
        value = fenced.lstrip()
        if value or len(self._lead) >= MOST_LEAD:
            self._scans, self._lead = value.startswith(("{", "[")), ""
        return value

    @property
    def text(self) -> str:
        return "".join(self._head) if self._given is None else "".join(self._given)

    def is_whole_block(self) -> bool:
        """Once, when the JSON object that nothing announced has come to its end."""
        ended = self.block and self._scan.complete and not self._ended
        self._ended = self._ended or ended
        return ended

    @property
    def is_open(self) -> bool:
        """A JSON value has begun and not ended, so no mark can stand here."""
        return bool(self._scans) and self._scan.is_open

    def read(self) -> Action | None:
        head = "".join(self._head)
        if self.block:
            return read_block(head)
        if self._tagged:
            return read_tagged(head)
        return read_labelled(head, None if self._given is None else "".join(self._given))
