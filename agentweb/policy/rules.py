"""What a rule says and what is known of a call."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json
from agentweb.engine.terms import Circle, Later, Named


class Says(StrEnum):
    """What a rule makes of the calls that it means. RAISE gives no verdict: the call counts as riskier."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    RAISE = "raise"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of one version of a policy; ``number`` is its place there, from 1. None or empty: it does not matter.

    ``condition`` is a JSON Schema that the arguments must fit. ``raise_to`` belongs to RAISE, ``reason`` to DENY. To
    ASK belong ``requires_comment`` and the terms: so long people may decide (``wait_minutes``; 0: for ever), who may
    (``deciders``, and ``later`` others), how many must approve (``needed``; 0: one), and whether the one who asked may
    not (``apart``).
    ``broken``: the rule cannot be read, so of any call it is unknown whether it is meant."""

    policy: str
    version: int
    number: int
    says: Says
    tool: str = "*"
    risk: Risk | None = None
    agent: Named | None = None
    team: Named | None = None
    user: Named | None = None
    role: str = ""
    tainted: bool | None = None
    attended: bool | None = None
    condition: Mapping[str, Json] | None = None
    raise_to: Risk | None = None
    requires_comment: bool = False
    wait_minutes: int = 0
    deciders: Circle | None = None
    later: Later | None = None
    needed: int = 0
    apart: bool = False
    reason: str = ""
    name: str = ""
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a call when it is judged: row ids, the person's role in the team, the arguments that would run.

    None means unknown; then a rule that looks at it cannot be told to fit. ``tainted``: the run has read what came from
    an untrusted source. ``acts``: the tool changes or sends something. Not ``attended``: nobody is there who could be
    asked."""

    tool: str
    risk: Risk
    arguments: Mapping[str, Json] | None
    agent: int | None = None
    team: int | None = None
    user: int | None = None
    role: str | None = None
    tainted: bool = False
    attended: bool = True
    acts: bool = False
