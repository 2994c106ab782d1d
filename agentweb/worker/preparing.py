"""From a claimed run's rows to what the loop works with."""

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from django.db.models import BigAutoField, PositiveIntegerField

from agentweb.engine.context import Folding
from agentweb.engine.enums import Strategy
from agentweb.engine.setup import Setup
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Limits, Usage
from agentweb.registry.goals import goals_in
from agentweb.registry.policies import LivePolicy, Who
from agentweb.registry.ports import AgentTools, model_for
from agentweb.registry.seams import installed
from agentweb.runs import transcripts, workspaces
from agentweb.runs.budgets import RunBudgets, Share
from agentweb.runs.inbox import RunInbox
from agentweb.runs.journal import Claimed, LeaseLost
from agentweb.runs.kept_answers import KeptAnswers
from agentweb.runs.models import Run
from agentweb.runs.surroundings import RunSurroundings
from agentweb.teams import fixed
from agentweb.worker.controls import RunControls

InThread = Callable[[Callable[[], Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A run as it is recorded now. ``last`` is the number of its last event, ``snapshot`` what it uses."""

    transcript: Transcript
    usage: Usage
    last: int
    cancelled: bool
    stop_after: str
    snapshot: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ready(Loaded):
    """A run with all that it works with. ``policy`` is that of the setup, which knows on what it judged last."""

    setup: Setup
    policy: LivePolicy


_UNREAD = ("reason_text", "error", "goals", "head_hash", "head_signature", "queued_at", "created_at", "finished_at")
_HELD = fixed.Query(
    lambda pk, epoch: (
        Run.objects.select_related("snapshot").defer("snapshot__created_at", *_UNREAD).filter(pk=pk, epoch=epoch)
    ).order_by(),
    pk=BigAutoField(),
    epoch=PositiveIntegerField(),
)


def load(claimed: Claimed) -> Loaded:
    """Reads the rows. Raises LeaseLost."""
    run: Run | None = _HELD.first(pk=claimed.run_id, epoch=claimed.epoch)
    if run is None:
        raise LeaseLost(claimed.run)
    transcript, usage = transcripts.load(run)
    cancelled = run.cancel_requested_at is not None
    return Loaded(transcript, usage, run.last_event, cancelled, run.stop_after, _snapshot(run.snapshot.data))


@lru_cache(maxsize=64)
def _snapshot(text: str) -> Mapping[str, Any]:
    """Many runs use what others do, and none changes it."""
    read: Mapping[str, Any] = json.loads(text)
    return read


def prepare(claimed: Claimed, controls: RunControls, in_thread: InThread, rest_s: Callable[[], float]) -> Ready:
    """The run, and what it works with by what it was started with and what admins have set up. Reads the rows.

    ``rest_s``: for how long the model's words may gather before they are read on. Raises LeaseLost."""
    loaded = load(claimed)
    policy = LivePolicy(in_thread, Who(claimed.agent, claimed.team, claimed.user), RunSurroundings(claimed))
    setup = _setup(loaded.snapshot, claimed, controls, in_thread, rest_s, policy)
    return Ready(**{each.name: getattr(loaded, each.name) for each in fields(loaded)}, setup=setup, policy=policy)


def _setup(
    snapshot: Mapping[str, Any],
    claimed: Claimed,
    controls: RunControls,
    in_thread: InThread,
    rest_s: Callable[[], float],
    policy: LivePolicy,
) -> Setup:
    workspace = workspaces.folder(claimed.conversation)
    return Setup(
        model=model_for(snapshot, new_id=new_id, rest_s=rest_s),
        cheaper=model_for(snapshot, new_id=new_id, rest_s=rest_s, which="cheaper") if snapshot.get("cheaper") else None,
        fallback=model_for(snapshot, new_id=new_id, rest_s=rest_s, which="fallback")
        if snapshot.get("fallback")
        else None,
        tools=AgentTools(snapshot, workspace=workspace, cancelled=lambda: controls.cancelled),
        policy=policy,
        inbox=RunInbox(claimed.run_id, in_thread),
        controls=controls,
        system=snapshot["system"],
        limits=Limits(max_turns=snapshot["max_turns"]),
        new_id=new_id,
        clock=time.monotonic,
        sleep=asyncio.sleep,
        sequential=snapshot["sequential"],
        guard=snapshot.get("loop_guard", True),
        folding=folding_in(snapshot),
        sizes=sizes_in(snapshot),
        budgets=RunBudgets(Share(claimed.run_id, claimed.team, claimed.agent, claimed.user), in_thread),
        goals=goals_in(snapshot, workspace=workspace),
        answers=KeptAnswers(claimed.team, claimed.conversation_id),
        seams=installed(),
        lost=claimed.recovered,
        run=claimed.run,
        conversation=claimed.conversation,
        agent=snapshot["agent"]["name"],
    )


def sizes_in(snapshot: Mapping[str, Any]) -> dict[str, int]:
    """How many tokens the other models take, by their names."""
    others = [snapshot[which] for which in ("cheaper", "fallback") if snapshot.get(which)]
    return {other["name"]: other["context_size"] for other in others if other.get("context_size")}


def folding_in(snapshot: Mapping[str, Any]) -> Folding:
    """How the run folds; runs that began before there was a choice keep the engine's own."""
    chosen, size = snapshot.get("folding"), snapshot["model"].get("context_size") or Folding().size
    if not chosen:
        return Folding(size=size)
    return Folding(Strategy(chosen["strategy"]), chosen["keep"], size, chosen["fold_at"], chosen["every"])


def new_id() -> str:
    return str(uuid.uuid4())
