"""What a new site starts with: tools, the scripted model, a policy, two agents, and on an empty site a demo team."""

import secrets
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from agentweb.registry import catalog, endpoint, prompts
from agentweb.registry.models import Agent, ChatModel, Policy, PolicyRule, Prompt, Risk, Tool
from agentweb.registry.services import enact, give_key, write_prompt
from agentweb.registry.snapshots import DEFAULT_MODEL, SCRIPTED_MODEL
from agentweb.teams.models import Membership, Role, Team, User

PEOPLE = (("admin", Role.ADMIN), ("ann", Role.MEMBER), ("ben", Role.MEMBER), ("rita", Role.REVIEWER))
EVERYDAY = ("current_time", "calculator", "weather", "ask_user", "fetch_web_page", "run_python")
WORKSPACE = ("list_files", "read_file", "search_files", "write_file", "edit_file", "delete_file")
RULES = (
    (Risk.LOW, PolicyRule.Says.ALLOW, False),
    (Risk.MEDIUM, PolicyRule.Says.ASK, False),
    (Risk.HIGH, PolicyRule.Says.ASK, True),
)


@dataclass(frozen=True, slots=True)
class Account:
    """A person that was just made. The password is in no other place."""

    username: str
    password: str
    role: str


def prepare() -> list[Account]:
    """Bring the site to where it can work; running it again changes nothing that people have set."""
    with transaction.atomic():
        catalog.sync()
        _scripted_model()
        _default_model()
        _policy()
        _prompt()
        _agents()
        return [] if User.objects.exists() else _people()


def _scripted_model() -> None:
    ChatModel.objects.get_or_create(
        name=SCRIPTED_MODEL, defaults={"kind": ChatModel.Kind.SCRIPTED, "context_size": 32_000}
    )


def _default_model() -> None:
    """The row named default, from the environment; it stays as it is when the environment names no model.

    What is secret and an admin entered is kept where the environment has none, but never for another endpoint."""
    if not endpoint.is_named():
        return
    model = ChatModel.objects.filter(name=DEFAULT_MODEL).first() or ChatModel(name=DEFAULT_MODEL)
    base_url = settings.OPENAI_BASE_URL or endpoint.STANDARD_URL
    if settings.OPENAI_API_KEY or model.base_url != base_url:
        give_key(model=model, key=settings.OPENAI_API_KEY)
    if model.base_url != base_url:
        model.encrypted_headers = ""
    model.kind, model.base_url, model.model_name = ChatModel.Kind.OPENAI, base_url, settings.OPENAI_MODEL
    model.save()


def _policy() -> None:
    if Policy.objects.exists():
        return
    policy = Policy.objects.create(name="default")
    for position, (risk, says, comment) in enumerate(RULES):
        PolicyRule.objects.create(policy=policy, position=position, risk=risk, verdict=says, requires_comment=comment)
    enact(policy=policy)


def _prompt() -> None:
    """The built-in template as a row that admins can change, on a site that has no template."""
    if not Prompt.objects.exists():
        write_prompt(prompt=Prompt.objects.create(name="default", text=prompts.BUILT_IN), text=prompts.BUILT_IN)


def _agents() -> None:
    if Agent.objects.exists():
        return
    _agent("Assistant", "Answers questions, computes, and reads pages of the web.", EVERYDAY)
    _agent(
        "Builder",
        "Reads and writes files in the conversation's workspace; asks before it changes anything.",
        EVERYDAY + WORKSPACE,
        "You work on files in the workspace of this conversation. Read a file before you change it.",
    )


def _agent(name: str, description: str, tools: tuple[str, ...], instructions: str = "") -> None:
    prompt = Prompt.objects.order_by("pk").first()
    agent = Agent.objects.create(name=name, description=description, instructions=instructions, prompt=prompt)
    agent.tools.set(Tool.objects.filter(name__in=tools))


def _people() -> list[Account]:
    team = Team.objects.create(name="Demo")
    accounts = []
    for username, role in PEOPLE:
        password = secrets.token_urlsafe(9)
        make = User.objects.create_superuser if role == Role.ADMIN else User.objects.create_user
        user = make(username, password=password)
        Membership.objects.create(team=team, user=user, role=role)
        accounts.append(Account(username, password, role.value))
    return accounts
