"""A small cast of people around one team, and the things that they share."""

from dataclasses import dataclass
from uuid import uuid4

from django.utils import timezone

from agentweb.registry import demo
from agentweb.registry.models import Agent
from agentweb.runs import services
from agentweb.runs.models import Conversation, Run, WorkerProcess
from agentweb.runs.selectors import conversation_for
from agentweb.teams.models import Membership, Role, Team, User

TEAM = "Team"
PEOPLE = {
    "owner": Role.MEMBER,
    "member": Role.MEMBER,
    "admin": Role.ADMIN,
    "reviewer": Role.REVIEWER,
    "stranger": Role.MEMBER,
}
AGENTS = {"agent": "Assistant", "builder": "Builder"}


@dataclass(frozen=True, slots=True)
class Cast:
    """Owner and member chat, the admin configures too, the reviewer reads, the stranger is in another team."""

    team: Team
    owner: User
    member: User
    admin: User
    reviewer: User
    stranger: User
    agent: Agent
    builder: Agent

    def person(self, name: str) -> User | None:
        return None if name == "anonymous" else getattr(self, name)

    def conversation(self, visibility: str = "private", agent: Agent | None = None) -> Conversation:
        """One of the owner's, as the owner sees it."""
        made = services.create_conversation(
            user=self.owner, agent=agent or self.agent, team=self.team, visibility=visibility
        )
        return conversation_for(self.owner, made.public_id)

    def run(self, text: str = "What is the date today?", visibility: str = "private") -> Run:
        return services.send_message(user=self.owner, conversation=self.conversation(visibility), text=text).run

    def builder_run(self, visibility: str = "private") -> Run:
        """A queued run of the agent with workspace tools."""
        conversation = self.conversation(visibility, self.builder)
        return services.send_message(user=self.owner, conversation=conversation, text="Write a file").run


def make_cast() -> Cast:
    """Everyone, on a database with the registry of a new site; those of the whole run of tests while they are there."""
    return _standing() or _new()


def _standing() -> Cast | None:
    people = {user.username: user for user in User.objects.filter(username__in=PEOPLE)}
    if len(people) < len(PEOPLE):
        return None
    agents = {agent.name: agent for agent in Agent.objects.filter(name__in=AGENTS.values())}
    return Cast(
        team=Team.objects.get(name=TEAM),
        **people,
        **{field: agents[name] for field, name in AGENTS.items()},
    )


def _new() -> Cast:
    team, elsewhere = Team.objects.create(name=TEAM), Team.objects.create(name="Elsewhere")
    for name, role in PEOPLE.items():
        _person(name, elsewhere if name == "stranger" else team, role)
    demo.prepare()  # there are people now, so it makes no demo team
    cast = _standing()
    assert cast is not None
    return cast


def make_worker(name: str = "worker") -> WorkerProcess:
    now = timezone.now()
    return WorkerProcess.objects.create(public_id=uuid4(), name=name, started_at=now, beat_at=now)


def _person(name: str, team: Team, role: Role) -> None:
    user = User(username=name, is_staff=name == "admin", is_superuser=name == "admin")
    user.set_unusable_password()
    user.save()
    Membership.objects.create(user=user, team=team, role=role)
