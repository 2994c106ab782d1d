"""Remembered consent: whether a grant covers a call, and what becomes of a verdict then."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from agentweb.engine.digest import canonical
from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json, ToolCall
from agentweb.engine.ports import Allow, Ask, ToolSpec, Verdict


@dataclass(frozen=True, slots=True)
class Grant:
    """What one person agreed to beforehand, for calls of one tool as it was defined then. ``free``: the names of the
    arguments that may be anything, or be left out; all others are exactly those of ``arguments``."""

    id: str
    tool: str
    tool_digest: str
    arguments: Mapping[str, Json]
    free: frozenset[str]
    by: str
    at: datetime


def rememberable(ask: Ask) -> bool:
    """Whether a grant may answer the question at all: at high risk, and where a comment is wanted, each call is looked
    at by itself; and nobody answers beforehand for those whom a rule chooses."""
    if ask.terms is not None and ask.terms.choose_people:
        return False
    return ask.risk is not Risk.HIGH and not ask.requires_comment


def covers(grant: Grant, tool: str, tool_digest: str, arguments: Mapping[str, Json] | None) -> bool:
    """Whether the call is one of those that the grant speaks of. Arguments that cannot be read never are."""
    if arguments is None or not tool_digest or (grant.tool, grant.tool_digest) != (tool, tool_digest):
        return False
    return bound(arguments, grant.free) == bound(grant.arguments, grant.free)


def bound(arguments: Mapping[str, Json], free: Iterable[str]) -> str:
    """The arguments that may not differ, as one text."""
    loose = frozenset(free)
    return canonical({name: value for name, value in arguments.items() if name not in loose})


def wants_grant(verdict: Verdict, call: ToolCall) -> bool:
    """Whether a grant could change anything. A call that was only found in the text of an answer is always shown."""
    return isinstance(verdict, Ask) and rememberable(verdict) and not call.recovered


def with_grants(verdict: Verdict, call: ToolCall, spec: ToolSpec, grants: Iterable[Grant]) -> Verdict:
    """The verdict where people have agreed beforehand: only a question is answered by that, never a refusal."""
    if not isinstance(verdict, Ask) or not wants_grant(verdict, call):
        return verdict
    found = next((one for one in grants if covers(one, spec.name, spec.digest, call.arguments)), None)
    return verdict if found is None else Allow(line(found, verdict), found.id, verdict, verdict.untrusted)


def line(grant: Grant, ask: Ask) -> str:
    """As events name it: whose grant it was, and the rule that would have asked."""
    return f"allowed by {grant.by}'s grant of {grant.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC; else {ask.rule}"
