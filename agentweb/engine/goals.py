"""Goal checks in code: made when the model answers. What fails goes back to it, until all is well or at a limit."""

import asyncio
import logging

from agentweb.engine import sentences
from agentweb.engine.enums import NoteKind
from agentweb.engine.events import GoalResult, GoalsChecked, NoteAdded
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.ports import Goal
from agentweb.engine.racing import unless_cancelled
from agentweb.engine.work import Work

logger = logging.getLogger(__name__)
TIMEOUT_S = 30.0


async def goals_missed(work: Work) -> bool:
    """Check all goals against the answer, if there are any. Whether some failed, about which the model is told."""
    answer = work.transcript.messages[-1] if work.transcript.messages else None
    if not work.setup.goals or not isinstance(answer, AssistantMessage):
        return False
    checks = asyncio.gather(*(_checked(goal, answer.text) for goal in work.setup.goals))
    results = await unless_cancelled(work.setup.controls, checks)
    if results is None:
        return False  # cancelled: the loop sees it
    work.add(GoalsChecked(work.transcript.turn, tuple(results)))
    both = zip(work.setup.goals, results, strict=True)
    missed = [f"{goal.words}: {result.problem}" for goal, result in both if not result.passed]
    if missed:
        note = work.setup.new_id()
        work.add(NoteAdded(note, work.transcript.turn, NoteKind.GOALS, sentences.missed(missed)))
    return bool(missed)


async def _checked(goal: Goal, answer: str) -> GoalResult:
    """A check that breaks has failed, since nobody knows whether the goal is reached."""
    try:
        problem = await asyncio.wait_for(goal.check(answer), TIMEOUT_S)
    except Exception as error:
        logger.warning("The goal check %r broke", goal.words, exc_info=True)
        late = f"no answer within {TIMEOUT_S:g} seconds"
        problem = sentences.check_broke(late if isinstance(error, TimeoutError) else f"{type(error).__name__}: {error}")
    return GoalResult(goal.kind, goal.subject, goal.label, not problem, problem)
