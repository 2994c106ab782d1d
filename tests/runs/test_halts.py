"""Emergency stops: what they hit, what they hold, who may begin and end them."""

from uuid import uuid4

import pytest

from agentweb.engine import events
from agentweb.engine.usage import Usage
from agentweb.registry.models import Agent
from agentweb.runs import halting, halts, journal, services, upkeep
from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound
from agentweb.runs.models import Call, Halt, Run
from agentweb.runs.selectors import run_for
from agentweb.teams.models import Team
from tests.cast import make_worker
from tests.runs.judged_run import SAME, claimed_verdict
from tests.runs.waiting_call import waiting_approvals

EVERYTHING = {"kind": "all", "agent": None, "tool": ""}


def stop(cast, team="own", **what) -> Halt:
    chosen = EVERYTHING | what
    return halting.begin(user=cast.admin, team=cast.team if team == "own" else team, reason="It goes wild", **chosen)


def claim(run):
    return journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))


def now(run) -> Run:
    return Run.objects.get(pk=run.pk)


@pytest.fixture
def run(cast) -> Run:
    return cast.builder_run()


@pytest.fixture
def calling(cast, run):
    """A run at work that is about to make a call, and that call."""
    waiting_approvals(cast, run)
    claimed, _verdict = claimed_verdict(run)
    return claimed, Call.objects.get(run=run)


def started(call) -> events.ToolStarted:
    return events.ToolStarted(str(call.public_id), call.name, SAME, "rule")


@pytest.mark.parametrize(
    ("what", "held"),
    [("everything", True), ("its agent", True), ("another agent", False), ("another team", False), ("a tool", False)],
)
def test_a_queued_run_is_held_by_what_stops_all_of_it(cast, run, what, held):
    {
        "everything": lambda: stop(cast),
        "its agent": lambda: stop(cast, kind="agent", agent=cast.builder),
        "another agent": lambda: stop(cast, kind="agent", agent=cast.agent),
        "another team": lambda: Halt.objects.create(kind="all", team=Team.objects.create(name="X"), by=cast.admin),
        "a tool": lambda: stop(cast, kind="tool", tool="write_file"),
    }[what]()
    assert (claim(run) is None) is held
    row = now(run)
    assert (row.status, row.halt is not None) == (("waiting", True) if held else ("running", False))
    assert (row.events.last().kind == "RunHeld") is held


def test_a_stop_in_all_teams_holds_too(cast, run):
    Halt.objects.create(kind="all", by=cast.admin, reason="fire")
    assert claim(run) is None


@pytest.mark.parametrize(("tool", "hit"), [("write_file", True), ("read_file", False)])
def test_a_stopped_tool_does_not_start_and_others_do(cast, calling, tool, hit):
    claimed, call = calling
    halt = stop(cast, kind="tool", tool=tool)
    appended = journal.append(claimed, (started(call),))
    assert (appended.refused, appended.halt) == (hit, halt.pk if hit else 0)
    assert Call.objects.get(pk=call.pk).status == ("waiting" if hit else "started")


def test_of_a_stopped_agent_no_model_is_asked_and_what_was_done_is_kept(cast, calling):
    claimed, _call = calling
    stop(cast, kind="agent", agent=cast.builder)
    model = events.ModelRequested(str(uuid4()), 2, 1, "scripted", "d")
    appended = journal.append(claimed, (events.TurnFinished(1), events.TurnStarted(2), model))
    assert appended.halt
    assert now(claimed_row(claimed)).events.last().kind == "TurnFinished"


def claimed_row(claimed) -> Run:
    return Run.objects.get(pk=claimed.run_id)


def test_holding_closes_the_call_that_runs_and_letting_go_queues_the_run(cast, calling):
    claimed, call = calling
    journal.append(claimed, (started(call),))
    halt = stop(cast, kind="tool", tool="write_file")
    assert halts.hitting([claimed.run_id]) == {claimed.run_id: halt.pk}
    assert journal.hold(claimed, halt.pk)
    call.refresh_from_db()
    assert (call.status, call.result_kind) == ("cancelled", "cancelled")
    assert halting.lift(user=cast.admin, halt=halting.halt_for(cast.admin, halt.public_id)) == 1
    row = claimed_row(claimed)
    assert (row.status, row.halt, row.held_at) == ("queued", None, None)
    assert claim(row) is not None


def test_only_what_is_at_work_on_it_is_ended(cast, calling):
    claimed, _call = calling
    stop(cast, kind="tool", tool="write_file")
    assert halts.hitting([claimed.run_id]) == {}


def test_a_stop_that_is_over_holds_nothing(cast, calling):
    claimed, _call = calling
    halt = stop(cast)
    halting.lift(user=cast.admin, halt=halting.halt_for(cast.admin, halt.public_id))
    assert not journal.hold(claimed, halt.pk)
    assert claimed_row(claimed).status == "running"


def test_a_run_that_is_to_be_cancelled_is_not_held(cast, run):
    stop(cast)
    assert claim(run) is None
    services.cancel_run(user=cast.owner, run=run_for(cast.owner, run.public_id))
    assert claim(run) is not None


def test_nobody_but_those_who_end_the_stop_lets_a_run_go_on(cast, run):
    stop(cast)
    claim(run)
    with pytest.raises(Conflict):
        services.resume_run(user=cast.owner, run=run_for(cast.owner, run.public_id))
    services.stop_run(user=cast.owner, run=run_for(cast.owner, run.public_id), after="acting")
    assert claim(run) is None
    assert upkeep.queue_decided() == 0
    assert now(run).status == "waiting"


def test_the_sweep_finds_what_a_stop_that_is_over_still_holds(cast, run):
    halt = stop(cast)
    claim(run)
    Halt.objects.filter(pk=halt.pk).update(ended_at=halt.created_at, ended_by=cast.admin)
    assert upkeep.queue_decided() == 1
    assert now(run).status == "queued"


def test_a_waiting_run_is_held_once_it_is_decided(cast, run):
    waiting_approvals(cast, run)
    stop(cast)
    journal.mark_queued(now(run))
    assert claim(run) is None


@pytest.mark.parametrize(
    ("what", "concerned"),
    [
        (EVERYTHING, True),
        ({"kind": "agent", "agent": "builder", "tool": ""}, True),
        ({"kind": "agent", "agent": "agent", "tool": ""}, False),
        ({"kind": "tool", "agent": None, "tool": "write_file"}, True),
        ({"kind": "tool", "agent": None, "tool": "no_such_tool"}, False),
    ],
)
def test_the_runs_that_it_concerns_are_known_before(cast, run, what, concerned):
    what = what | {"agent": getattr(cast, what["agent"]) if what["agent"] else None}
    assert list(halts.affected(team=cast.team, **what)) == ([run] if concerned else [])
    halt = stop(cast, **what)
    assert halts.concerning(run.conversation) == ([halt] if concerned else [])


@pytest.mark.parametrize("who", ["owner", "member", "reviewer", "stranger"])
def test_only_admins_stop_something_and_only_in_their_team(cast, who):
    with pytest.raises(Forbidden):
        halting.begin(user=cast.person(who), team=cast.team, reason="x", **EVERYTHING)
    halt = stop(cast)
    with pytest.raises(NotFound):
        halting.halt_for(cast.person(who), halt.public_id)


def test_an_admin_of_a_team_stops_nothing_elsewhere_and_staff_everything(cast):
    cast.admin.is_superuser = False
    cast.admin.save()
    for team in (None, Team.objects.get(name="Elsewhere")):
        with pytest.raises(Forbidden):
            stop(cast, team=team)
    everywhere = Halt.objects.create(kind="all", by=cast.admin, reason="fire")
    assert not halting.halt_for(cast.admin, everywhere.public_id).may_lift
    cast.owner.is_superuser = True
    cast.owner.save()
    assert halting.begin(user=cast.owner, team=None, reason="x", **EVERYTHING).team is None


def test_a_stop_says_why_and_ends_once(cast):
    with pytest.raises(Invalid):
        halting.begin(user=cast.admin, team=cast.team, reason="  ", **EVERYTHING)
    halt = stop(cast)
    found = halting.halt_for(cast.admin, halt.public_id)
    halting.lift(user=cast.admin, halt=found)
    with pytest.raises(Conflict):
        halting.lift(user=cast.admin, halt=found)


def test_ending_a_pause_of_the_run_is_no_start(cast, calling):
    claimed, call = calling
    stop(cast)
    paused = journal.append(claimed, (events.RunPaused((str(call.public_id),), Usage()),))
    assert (paused.paused, paused.halt) == (True, 0)


def test_an_agent_that_is_stopped_is_named_in_the_record(cast, run):
    stop(cast, kind="agent", agent=Agent.objects.get(pk=cast.builder.pk))
    claim(run)
    assert '"what":"Builder"' in now(run).events.last().payload
