"""Emergency stops: what they hit. What is stopped is held, and goes on later."""

from collections.abc import Collection, Iterable

from django.db.models import Exists, OuterRef, QuerySet

from agentweb.engine import events
from agentweb.registry.models import Agent, Tool
from agentweb.runs.models import Call, Conversation, Halt, Run
from agentweb.teams import fixed
from agentweb.teams.models import Team

BEGINS = (events.TurnStarted, events.ModelRequested, events.SummaryRequested)

_STANDING = fixed.Query(lambda: Halt.objects.select_related("agent", "by", "team").filter(ended_at=None).order_by("pk"))


def standing() -> list[Halt]:
    """The stops that count now; one query."""
    return list(_STANDING.all())


def stopped(halts: Iterable[Halt], *, agent: int, team: int) -> Halt | None:
    """The stop that lets nothing at all of a run go on, by the row ids of its agent and team."""
    for halt in halts:
        here = halt.team_id in (None, team)
        if here and (halt.kind == Halt.Kind.ALL or (halt.kind == Halt.Kind.AGENT and halt.agent_id == agent)):
            return halt
    return None


def stopped_tools(halts: Iterable[Halt], *, team: int) -> dict[str, Halt]:
    """By name, the tools that may not start in this team."""
    return {halt.tool: halt for halt in halts if halt.kind == Halt.Kind.TOOL and halt.team_id in (None, team)}


def against(run: Run, batch: Iterable[events.Event]) -> tuple[Halt | None, events.Batch]:
    """The stop that a batch runs into, and what of the batch may be recorded all the same.

    ``run`` knows its conversation. A person's wish to end the run is never held up: then only tools stay stopped."""
    batch, halts, team = tuple(batch), standing(), run.conversation.team_id
    starts = [event for event in batch if isinstance(event, events.ToolStarted)]
    whole = None if run.cancel_requested_at else stopped(halts, agent=run.agent_id, team=team)
    tools = stopped_tools(halts, team=team)
    hit = next((tools[event.name] for event in starts if event.name in tools), None)
    if whole and (starts or any(isinstance(event, BEGINS) for event in batch)):
        hit = whole
    if hit is None:
        return None, batch
    end = next((place for place, event in enumerate(batch) if whole and isinstance(event, BEGINS)), len(batch))
    return hit, tuple(event for event in batch[:end] if not isinstance(event, events.ToolStarted))


def hitting(runs: Collection[int]) -> dict[int, int]:
    """By row id, the runs of these that are at work on what is stopped, with the stop's row id."""
    halts = standing()
    if not halts or not runs:
        return {}
    rows = Run.objects.filter(pk__in=runs, cancel_requested_at=None).values_list("pk", "agent", "conversation__team")
    names = {halt.tool for halt in halts if halt.tool}
    at_work: dict[int, set[str]] = {}
    if names:
        started = Call.objects.filter(run__in=runs, status=Call.Status.STARTED, name__in=names)
        for run, name in started.values_list("run", "name"):
            at_work.setdefault(run, set()).add(name)
    found = {}
    for pk, agent, team in rows:
        tools = stopped_tools(halts, team=team)
        hit = stopped(halts, agent=agent, team=team) or next(
            (tools[name] for name in at_work.get(pk, ()) if name in tools), None
        )
        if hit:
            found[pk] = hit.pk
    return found


def affected(*, kind: str, agent: Agent | None, tool: str, team: Team | None) -> QuerySet[Run]:
    """The live runs that such a stop would hold: those of the agent, or those that may call the tool."""
    runs = Run.objects.exclude(status=Run.Status.FINISHED).filter(cancel_requested_at=None)
    if team is not None:
        runs = runs.filter(conversation__team=team)
    if kind == Halt.Kind.AGENT:
        runs = runs.filter(agent=agent)
    elif kind == Halt.Kind.TOOL:
        runs = runs.filter(agent__tools__name=tool)
    using = Call.objects.filter(run=OuterRef("pk"), status=Call.Status.STARTED)
    if kind == Halt.Kind.TOOL:
        using = using.filter(name=tool)
    found = runs.annotate(using=Exists(using)).select_related("agent", "requested_by", "conversation__team")
    return found.order_by("-using", "-pk")


def concerning(conversation: Conversation) -> list[Halt]:
    """The stops that people of a conversation should know of."""
    halts = standing()
    if not halts:
        return []
    team, agent = conversation.team_id, conversation.agent_id
    tools = set(stopped_tools(halts, team=team))
    has = set(Tool.objects.filter(agents=agent, name__in=tools).values_list("name", flat=True)) if tools else set()
    return [
        halt
        for halt in halts
        if halt.team_id in (None, team) and (stopped([halt], agent=agent, team=team) or halt.tool in has)
    ]
