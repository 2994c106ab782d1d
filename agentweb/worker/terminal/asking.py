"""From a command line to a run, through the same gates and services as the pages."""

from django.db import transaction
from django.utils.translation import gettext as _

from agentweb.registry.models import Agent
from agentweb.runs import selectors, services
from agentweb.runs.errors import Conflict, Invalid, NotFound
from agentweb.runs.models import Conversation
from agentweb.runs.services import Sent
from agentweb.teams.models import User


def person(username: str) -> User:
    """Raises NotFound."""
    found = User.objects.filter(username=username, is_active=True).first()
    if found is None:
        raise NotFound(_("There is no active user named %(name)r.") % {"name": username})
    return found


def send(*, user: User, question: str, agent: str | None, conversation: str | None, attended: bool) -> Sent:
    """Ask in a new conversation, or go on with one. Raises RequestError with a sentence."""
    with transaction.atomic():  # a question that is refused leaves no empty conversation
        found = _conversation(user, conversation, agent) if conversation else _new(user, agent)
        return services.send_message(user=user, conversation=found, text=question, attended=attended)


def _conversation(user: User, public_id: str, agent: str | None) -> Conversation:
    found = selectors.conversation_for(user, public_id)
    if agent is not None and agent != found.agent.name:
        words = _("This conversation is with the agent %(agent)s.") % {"agent": found.agent.name}
        raise Invalid(words, [("agent", words)])
    return found


def _new(user: User, agent: str | None) -> Conversation:
    made = services.create_conversation(user=user, agent=_agent(user, agent))
    return selectors.conversation_for(user, made.public_id)


def _agent(user: User, name: str | None) -> Agent:
    agents = list(selectors.agents_for(user).order_by("pk"))
    if not agents:
        raise Conflict(_("There is no agent that you may use. Ask an admin."))
    found = agents[0] if name is None else next((row for row in agents if row.name == name), None)
    if found is None:
        names = ", ".join(row.name for row in agents)
        raise NotFound(_("There is no agent named %(name)r. There are: %(names)s.") % {"name": name, "names": names})
    return found
