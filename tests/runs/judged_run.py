"""What a worker that has just claimed a run would make of a call."""

from uuid import uuid4

from agentweb.registry.policies import LivePolicy, Who
from agentweb.runs import journal
from agentweb.runs.models import Run
from agentweb.runs.surroundings import RunSurroundings
from tests.cast import make_worker
from tests.registry.judging import at_once, judged

SAME = {"path": "a.txt", "content": "hello"}


def claimed_verdict(run: Run, arguments: dict = SAME, name: str = "write_file", **call):
    """The claim and the verdict, whatever the run was doing before."""
    Run.objects.filter(pk=run.pk).update(status=Run.Status.QUEUED, owner=None)
    claimed = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert claimed is not None
    policy = LivePolicy(at_once, Who(claimed.agent, claimed.team, claimed.user), RunSurroundings(claimed))
    return claimed, judged(policy, name, arguments, **call)
