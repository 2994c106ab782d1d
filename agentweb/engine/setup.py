"""Everything that one run works with, in one value."""

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from agentweb.engine.context import Folding
from agentweb.engine.keeping import Answers, NoAnswers
from agentweb.engine.ports import Budgets, Controls, Goal, Inbox, Model, Policy, Toolset, Unlimited
from agentweb.engine.seams import Seams
from agentweb.engine.usage import Limits


@dataclass(frozen=True, slots=True)
class Setup:
    """``clock`` gives seconds that only grow; ``new_id`` a new opaque id; ``jitter`` a number from 0 to 1 that spreads
    retries, so that runs that failed together do not come back together. ``guard``: going in circles is noticed.
    ``cheaper``: the model that people may choose when a budget runs low; ``fallback``: the one that is asked once the
    model has failed for good. ``sizes``: tokens that these take, by their names, where it is not what ``folding`` says.
    ``lost``: the worker before was lost. ``run``, ``conversation`` and ``agent`` are names for extensions; the loop
    itself needs none."""

    model: Model
    tools: Toolset
    policy: Policy
    inbox: Inbox
    controls: Controls
    system: str
    limits: Limits
    new_id: Callable[[], str]
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    sequential: bool = False
    guard: bool = True
    budgets: Budgets = field(default_factory=Unlimited)
    answers: Answers = field(default_factory=NoAnswers)
    cheaper: Model | None = None
    fallback: Model | None = None
    folding: Folding = field(default_factory=Folding)
    sizes: Mapping[str, int] = field(default_factory=dict)
    jitter: Callable[[], float] = random.random
    goals: tuple[Goal, ...] = ()
    seams: Seams = field(default_factory=Seams)
    lost: bool = False
    run: str = ""
    conversation: str = ""
    agent: str = ""
