"""Noticing that a run goes in circles, and what to do about it. Pure: all is read from the transcript, so it holds over
pauses and workers.

The ladder: first the model is told to change its method, then a person is asked, then the run is wrapped up. It begins
anew with each message of a person. Only what was called since anyone last spoke to the model is looked at.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agentweb.engine.digest import canonical
from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import Circling, NoteKind
from agentweb.engine.messages import AssistantMessage, ToolCall, UserMessage
from agentweb.engine.transcript import Transcript

REMEMBERED = 12  # turns
SAME_CALLS = 3
ROUNDS, ROUNDS_ALIKE = 3, 2  # of a ping-pong: whatever comes out, and when the same comes out
STALE_TURNS = 3
RUNGS = (NoteKind.CIRCLES, NoteKind.ALLOWED)


@dataclass(frozen=True, slots=True)
class Circle:
    """What the model does again and again; ``last`` is its last call. ``rung``: how often it was told so before."""

    sign: Circling
    last: ToolCall
    rung: int


@dataclass(frozen=True, slots=True)
class _Made:
    """A call that was made, its result included, in forms that can be compared. ``news`` is what it tells."""

    call: tuple[str, str]
    outcome: tuple[str, ...]
    news: tuple[str, ...]


def circle(transcript: Transcript, reads: Iterable[str]) -> Circle | None:
    """Whether the run goes in circles now. ``reads`` names the tools without side effects."""
    said = transcript.messages[transcript.began :]
    turns = [turn for turn in _turns(said)][-REMEMBERED:]
    if not turns:
        return None
    looks = frozenset(reads)
    made = [[_made(transcript.calls[call.id], looks) for call in turn.calls] for turn in turns]
    sign = _sign(made)
    return Circle(sign, turns[-1].calls[-1], _rung(said)) if sign else None


def _turns(said: Sequence[UserMessage | AssistantMessage]) -> Iterator[AssistantMessage]:
    """The messages with calls since anyone last spoke to the model."""
    marks = [place for place, message in enumerate(said) if _is_mark(message)]
    for message in said[marks[-1] + 1 if marks else 0 :]:
        if isinstance(message, AssistantMessage) and message.calls:
            yield message


def _is_mark(message: UserMessage | AssistantMessage) -> bool:
    return isinstance(message, UserMessage) and (message.about is None or message.about in RUNGS)


def _rung(said: Sequence[UserMessage | AssistantMessage]) -> int:
    """How many steps of the ladder the run has gone since a person last wrote."""
    rung = 0
    for message in reversed(said):
        if isinstance(message, UserMessage) and message.about is None:
            break
        rung += isinstance(message, UserMessage) and message.about in RUNGS
    return rung


def _made(entry: CallEntry, reads: frozenset[str]) -> _Made:
    call, result = entry.call, entry.result
    arguments = call.raw if call.arguments is None else canonical(call.arguments)
    outcome = (result.kind.value, result.content) if result is not None else ()
    done = result is not None and not result.is_error and call.name not in reads
    # A tool that does something tells little, often the same each time: what it was given makes it new.
    return _Made((call.name, arguments), outcome, (call.name, arguments if done else "", *outcome))


def _sign(turns: list[list[_Made]]) -> Circling | None:
    made = [one for turn in turns for one in turn]
    calls = [one.call for one in made]
    if len(calls) >= SAME_CALLS and len(set(calls[-SAME_CALLS:])) == 1:
        return Circling.SAME_CALL
    if _alternates(calls, ROUNDS) or _alternates([(one.call, one.outcome) for one in made], ROUNDS_ALIKE):
        return Circling.PING_PONG
    if _stale(turns) >= STALE_TURNS:
        return Circling.NOTHING_NEW
    return None


def _alternates(items: Sequence[object], rounds: int) -> bool:
    """Whether the items end in so many rounds of the same two."""
    last = items[-2 * rounds :]
    return len(last) == 2 * rounds and last[0] != last[1] and list(last) == list(last[:2]) * rounds


def _stale(turns: list[list[_Made]]) -> int:
    """How many turns in a row, up to the last, told nothing that was not known before them."""
    known: set[tuple[str, ...]] = set()
    stale = 0
    for turn in turns:
        news = {one.news for one in turn}
        stale = stale + 1 if news <= known else 0
        known |= news
    return stale
