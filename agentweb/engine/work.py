"""The loop's one working value: a transcript and its totals, moved on together, and what is not recorded yet."""

from dataclasses import dataclass, field, replace

from agentweb.engine.closing import End, ending
from agentweb.engine.context import Folding, Plan, overhead, plan
from agentweb.engine.enums import StopAfter
from agentweb.engine.events import Batch, Event, RunPaused
from agentweb.engine.ports import Model
from agentweb.engine.seams import About
from agentweb.engine.setup import Setup
from agentweb.engine.spending import spent
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Usage


@dataclass(slots=True)
class Work:
    """Events are applied as they are added and wait in ``pending`` until a boundary takes them out as one batch.
    ``limit`` is how the run ends once the model, asked a last time, has summed up.

    If that batch is not recorded, this value is thrown away with the generator, so the two never part."""

    transcript: Transcript
    usage: Usage
    setup: Setup
    ending: End | None = None
    limit: End | None = None
    paused: bool = False
    pending: list[Event] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        """Nothing more is done now."""
        return self.paused or self.ending is not None

    @property
    def cancelled(self) -> bool:
        return self.setup.controls.cancelled

    @property
    def model(self) -> Model:
        """The model that is asked: the agent's, or for the rest of the run the cheaper one once people chose it, or the
        fallback once another has failed for good."""
        if self.setup.fallback and self.transcript.fallback:
            return self.setup.fallback
        return self.setup.cheaper if self.setup.cheaper and self.transcript.cheaper else self.setup.model

    @property
    def may_act(self) -> bool:
        """No person asked for an end before the next tool call."""
        return not self.cancelled and self.stop_after is not StopAfter.REASONING

    @property
    def stop_after(self) -> StopAfter | None:
        """Where the run shall stop: as a person wants, else as an extension does."""
        stop = self.transcript.stop
        return self.setup.controls.stop_after or (stop.after if stop else None)

    @property
    def unrecorded(self) -> Usage:
        """What was spent since the last batch was taken out."""
        return sum((spent(event) for event in self.pending), Usage())

    def fold_plan(self, *, forced: bool = False) -> Plan | None:
        """What to fold before the next model call, if anything."""
        setup = self.setup
        return plan(self.transcript, self.folding, lambda: overhead(setup.system, setup.tools.specs), forced=forced)

    @property
    def folding(self) -> Folding:
        """How the agent folds, with the size of the model that is asked."""
        size = self.setup.sizes.get(self.model.name)
        return replace(self.setup.folding, size=size) if size else self.setup.folding

    def about(self) -> About:
        setup, transcript = self.setup, self.transcript
        return About(
            run=setup.run,
            conversation=setup.conversation,
            agent=setup.agent,
            turn=transcript.turn,
            messages=transcript.history(whole=True),
            tools=setup.tools.specs,
            usage=self.usage,
            limits=setup.limits,
        )

    def add(self, *events: Event) -> None:
        for event in events:
            self.transcript.apply(event)
            self.usage += spent(event)
            self.pending.append(event)

    def take(self) -> Batch:
        batch, self.pending = tuple(self.pending), []
        return batch

    def end(self, end: End) -> None:
        """The run is to end so."""
        self.ending = end

    def close(self) -> None:
        """Close whatever is open and finish the run, as it is to end."""
        assert self.ending is not None
        self.add(*ending(self.transcript, self.usage, self.ending))

    def pause(self, *, lost: bool = False) -> None:
        """Leave the run to those that its calls wait for, or, ``lost``, to a person who says that it goes on."""
        asked = self.transcript.question
        waiting = tuple(entry.call.id for entry in self.transcript.open_calls() if entry.waits)
        question = asked.approval if asked and asked.waits else ""
        self.add(RunPaused(() if lost else waiting, self.usage, lost, "" if lost else question))
        self.paused = True
