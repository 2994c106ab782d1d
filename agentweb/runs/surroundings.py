"""What is known of a run where its calls are judged, beyond the rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentweb.engine.events import Passage
from agentweb.policy.grants import Grant
from agentweb.runs import grants, taint
from agentweb.runs.journal import Claimed


@dataclass(frozen=True, slots=True)
class RunSurroundings:
    """Looked up at each judgement, since people change it while the run is at work."""

    claimed: Claimed

    @property
    def attended(self) -> bool:
        return self.claimed.attended

    def passages(self) -> tuple[Passage, ...]:
        return taint.passages(self.claimed.conversation_id)

    def grants(self, tools: Sequence[str]) -> Sequence[Grant]:
        run = self.claimed
        holds = grants.covering(run.run_id, run.conversation_id, run.agent, run.team, run.user)
        return grants.counting(holds, tools)
