"""From a claimed run's rows to what the loop works with."""

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from agentweb.engine.ports import Setup
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Limits, Usage
from agentweb.registry.ports import AgentTools, LivePolicy, model_for
from agentweb.runs import transcripts, workspaces
from agentweb.runs.inbox import RunInbox
from agentweb.runs.journal import Claimed, LeaseLost
from agentweb.runs.models import Run
from agentweb.worker.controls import RunControls

InThread = Callable[[Callable[[], Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A run as it is recorded now. ``last`` is the number of its last event; the rest is what people asked of it."""

    transcript: Transcript
    usage: Usage
    setup: Setup
    last: int
    cancelled: bool
    stop_after: str


def load(claimed: Claimed, controls: RunControls, in_thread: InThread) -> Loaded:
    """Reads the rows. Raises LeaseLost."""
    run = Run.objects.select_related("conversation", "snapshot").filter(pk=claimed.run_id, epoch=claimed.epoch).first()
    if run is None:
        raise LeaseLost(claimed.run)
    transcript, usage = transcripts.load(run)
    setup = _setup(run, claimed, controls, in_thread)
    return Loaded(transcript, usage, setup, run.last_event, run.cancel_requested_at is not None, run.stop_after)


def _setup(run: Run, claimed: Claimed, controls: RunControls, in_thread: InThread) -> Setup:
    snapshot = json.loads(run.snapshot.data)
    workspace = workspaces.folder(claimed.conversation)
    return Setup(
        model=model_for(snapshot, new_id=new_id),
        tools=AgentTools(snapshot, workspace=workspace, cancelled=lambda: controls.cancelled),
        policy=LivePolicy(in_thread),
        inbox=RunInbox(run.pk, in_thread),
        controls=controls,
        system=snapshot["system"],
        limits=Limits(max_turns=snapshot["max_turns"]),
        new_id=new_id,
        clock=time.monotonic,
        sleep=asyncio.sleep,
        sequential=snapshot["sequential"],
    )


def new_id() -> str:
    return str(uuid.uuid4())
