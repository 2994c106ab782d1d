"""What of a conversation is really sent to the model: older messages are folded when it becomes too long. Pure.

A fold is made rarely and then cuts deep, so that the requests between two folds begin alike, which servers cache.
Results stand with their calls, so no call is ever cut from its result. What is folded stays in the record, and on the
page.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from agentweb.engine import sentences
from agentweb.engine.digest import canonical
from agentweb.engine.enums import Strategy
from agentweb.engine.messages import AssistantMessage, Message, ToolResult, UserMessage
from agentweb.engine.ports import ToolSpec
from agentweb.engine.transcript import Fold, Transcript

BYTES_PER_TOKEN = 3.5
LONGEST_CHARACTER = 4  # bytes
PER_MESSAGE = 4  # tokens
ROOM = 0.9  # of the context size: the rest is for the answer
READS = 0.8  # of the context size: what whoever sums up gets to read at most
LENGTHS = (6_000, 2_000, 600, 200)  # characters of one part that whoever sums up gets to read, the first that fit

Said = UserMessage | AssistantMessage


@dataclass(frozen=True, slots=True)
class Folding:
    """How an agent folds: with which strategy, how many turns stay whole (at most), from how many tokens on, and
    whether also whenever so many turns more than those were said (``every``). ``size`` is what the model takes."""

    strategy: Strategy = Strategy.WINDOW
    keep: int = 10
    size: int = 128_000
    fold_at: int | None = None
    every: int | None = None

    @property
    def limit(self) -> int:
        return min(self.fold_at or self.size, int(self.size * ROOM))

    @property
    def room(self) -> int:
        """Tokens that whoever sums up may get to read."""
        return int(self.size * READS)


@dataclass(frozen=True, slots=True)
class Plan:
    """``messages`` were whole until now and are to be folded, together with the older ``folds`` that this one replaces;
    it will stand for ``count`` messages in all. ``before``: the tokens of the request now. ``tight``: it must be."""

    messages: tuple[str, ...]
    folds: tuple[str, ...]
    count: int
    before: int
    tight: bool


def plan(transcript: Transcript, folding: Folding, overhead: Callable[[], int], *, forced: bool = False) -> Plan | None:
    """What to fold now, if anything. ``overhead`` tells the tokens of prompt and tools; ``forced``: however few."""
    before = estimate(transcript, overhead)
    tight = forced or before > folding.limit
    if not tight and not folding.every:
        return None
    folded = transcript.folded
    whole = [message for message in transcript.messages if message.id not in folded]
    target = max(0, min(before, folding.limit) // 2 - overhead()) if tight else None
    fresh = _to_fold(transcript, whole, folding, target)
    if not fresh:
        return None
    found = Plan(tuple(message.id for message in fresh), (), len(fresh), before, tight)
    if folding.strategy is Strategy.WINDOW:
        return as_window(transcript, found)
    room = max(0, folding.limit // 2 - overhead())
    return found if _adds_a_layer(transcript, folding, room) else _with_folds(found, transcript.shown_folds())


def as_window(transcript: Transcript, found: Plan) -> Plan:
    """The same without a summary: it takes in what was left out before, and no summary that there is."""
    left_out = [fold for fold in transcript.shown_folds() if fold.strategy is Strategy.WINDOW]
    return _with_folds(replace(found, count=len(found.messages)), left_out)


def _with_folds(found: Plan, folds: Sequence[Fold]) -> Plan:
    count = found.count + sum(fold.count for fold in folds)
    return replace(found, folds=tuple(fold.message for fold in folds), count=count)


def estimate(transcript: Transcript, overhead: Callable[[], int]) -> int:
    """Tokens of the next request: what the last one was counted as and what came since, or a guess from lengths."""
    since: list[Message] = []
    for place in range(len(transcript.messages) - 1, transcript.folded_at - 1, -1):
        message = transcript.messages[place]
        usage = transcript.usages.get(message.id)
        if usage is not None and usage.input_tokens:
            results = _results(transcript, message)
            return usage.input_tokens + usage.output_tokens + tokens([*results, *since])
        since = [*_with_results(transcript, message), *since]
    return overhead() + tokens(transcript.history())


def overhead(system: str, tools: Iterable[ToolSpec]) -> int:
    """Tokens of what stands in front of each request."""
    described = [[tool.name, tool.description, dict(tool.parameters)] for tool in tools]
    return _tokens(system) + _tokens(json.dumps(described, default=str))


def tokens(messages: Iterable[Message]) -> int:
    return sum(PER_MESSAGE + _tokens(_words(message)) for message in messages)


def material(
    transcript: Transcript, messages: Sequence[str], folds: Sequence[str], room: int, *, notes: bool = False
) -> str:
    """What whoever sums up gets to read, ``room`` tokens at most: the older folds, and the messages with the results of
    their calls, with ``notes`` the working notes so far too. Long parts lose their middle, and if need be so does the
    whole."""
    chosen = set(messages)
    said = [message for message in transcript.messages if message.id in chosen]
    known = sentences.with_notes("", transcript.notes).strip() if notes else ""
    older = [*filter(None, [known]), *(fold.text for fold in transcript.folds if fold.message in folds)]
    text = ""
    for longest in LENGTHS:
        text = "\n\n".join([*older, *(as_text(transcript, message, longest) for message in said)])
        if _tokens(text) <= room:
            return text
    return shortened(text, int(room * BYTES_PER_TOKEN / LONGEST_CHARACTER))


def as_text(transcript: Transcript, message: Said, longest: int = LENGTHS[0]) -> str:
    """A message and the results of its calls, for whoever sums up; a part has ``longest`` characters at most."""
    if isinstance(message, UserMessage):
        who = "Note" if message.about else f"User {message.author}".strip()
        return f"{who}: {shortened(message.text, longest)}"
    lines = [f"Agent: {shortened(message.text, longest)}"] if message.text else []
    for call in message.calls:
        result = transcript.calls[call.id].result
        lines.append(f"Agent called {call.name} {shortened(call.raw or canonical(call.arguments), longest)}")
        lines += [f"Result: {shortened(result.content, longest)}"] if result is not None else []
    return "\n".join(lines)


def _to_fold(transcript: Transcript, whole: Sequence[Said], folding: Folding, target: int | None) -> list[Said]:
    """The older part of what is whole. The first message of a person and the last one stay, and as many last turns as
    fit in ``target`` tokens, one at least; without a target none goes before enough of them are there."""
    people = [message for message in whole if isinstance(message, UserMessage) and message.about is None]
    pinned = {message.id for message in (*people[:1], *people[-1:])}
    turns = [place for place, message in enumerate(whole) if isinstance(message, AssistantMessage)]
    if target is None and len(turns) < folding.keep + (folding.every or 0):
        return []
    for count in range(min(folding.keep, len(turns)), 0, -1):
        cut = turns[-count]
        stays = [*whole[cut:], *(message for message in whole[:cut] if message.id in pinned)]
        if count == 1 or target is None or tokens(_all_with_results(transcript, stays)) <= target:
            return [message for message in whole[:cut] if message.id not in pinned]
    return []


def _adds_a_layer(transcript: Transcript, folding: Folding, room: int) -> bool:
    """Layers stand one behind the other until they take too much room themselves; then they become one."""
    layers = sum(_tokens(fold.text) for fold in transcript.shown_folds())
    return folding.strategy is Strategy.LAYERED and layers <= room // 2


def _results(transcript: Transcript, message: Said) -> list[ToolResult]:
    calls = message.calls if isinstance(message, AssistantMessage) else ()
    results = (transcript.calls[call.id].result for call in calls)
    return [result for result in results if result is not None]


def _with_results(transcript: Transcript, message: Said) -> list[Message]:
    return [message, *_results(transcript, message)]


def _all_with_results(transcript: Transcript, messages: Iterable[Said]) -> Iterator[Message]:
    for message in messages:
        yield from _with_results(transcript, message)


def _words(message: Message) -> str:
    match message:
        case UserMessage(text=text):
            return text
        case ToolResult(content=content):
            return content
        case AssistantMessage(text=text, calls=calls):
            return text + "".join(f"{call.name}{call.raw or canonical(call.arguments)}" for call in calls)


def _tokens(text: str) -> int:
    return -int(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}{sentences.cut(len(text) - 2 * half)}{text[len(text) - half :]}"
