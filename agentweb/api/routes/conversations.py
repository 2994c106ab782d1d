"""Agents, conversations and their messages."""

from typing import Annotated

from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from ninja import Header, Query, Router

from agentweb.api import paging
from agentweb.api.shapes import ConversationIn, MessageIn, conversation_out, item_out, usage_out
from agentweb.registry.models import Agent
from agentweb.runs import selectors, services, totals
from agentweb.runs.errors import Conflict, Invalid
from agentweb.teams.access import teams_of
from agentweb.teams.models import Team, User

router = Router(tags=["conversations"])
Limit = Annotated[int, Query(ge=1, le=paging.MOST)]


@router.get("/agents")
def agents(request: HttpRequest):
    """The agents that you may start a conversation with."""
    return {
        "items": [
            {
                "id": str(row.public_id),
                "name": row.name,
                "description": row.description,
                "model": row.model.name if row.model else None,
            }
            for row in selectors.agents_for(request.user)
        ]
    }


@router.post("/conversations")
def create(request: HttpRequest, body: ConversationIn):
    """Start a conversation; without an agent, with the first one; without a team, in your oldest."""
    conversation = services.create_conversation(
        user=request.user,
        agent=_agent(request.user, body.agent),
        team=_team(request.user, body.team),
        title=body.title,
        visibility=body.visibility,
    )
    return JsonResponse(conversation_out(conversation), status=201)


@router.get("/conversations")
def conversations(request: HttpRequest, cursor: str = "", limit: Limit = 50):
    """Your conversations and those that your teams share, newest first."""
    return paging.page(selectors.conversations_for(request.user), cursor, limit, conversation_out)


@router.get("/conversations/{conversation_id}")
def conversation(request: HttpRequest, conversation_id: str):
    """One conversation, with what all its runs have spent."""
    found = selectors.conversation_for(request.user, conversation_id)
    return conversation_out(found) | {"usage": usage_out(totals.of_conversation(found))}


@router.get("/conversations/{conversation_id}/messages")
def messages(request: HttpRequest, conversation_id: str, cursor: str = "", limit: Limit = 100):
    """The transcript, oldest first, each tool result behind the message that asked for it."""
    found = selectors.conversation_for(request.user, conversation_id)
    after = paging.decode(cursor) if cursor else 0
    items, following = selectors.transcript_page(found, after=after, limit=limit)
    return {"items": [item_out(item) for item in items], "next": paging.encode(following) if following else None}


@router.post("/conversations/{conversation_id}/messages")
def send(
    request: HttpRequest,
    conversation_id: str,
    body: MessageIn,
    idempotency_key: Annotated[str, Header(alias="Idempotency-Key")] = "",
):
    """Say something: at once when no run is live, else as steering or as a follow-up.

    With ``attended: false`` nobody is asked in the run that begins: what would wait for a decision is refused."""
    sent = services.send_message(
        user=request.user,
        conversation=selectors.conversation_for(request.user, conversation_id),
        text=body.text,
        delivery=body.delivery,
        key=idempotency_key,
        attended=body.attended,
    )
    answer = {"message": sent.message, "run": str(sent.run.public_id), "delivered": sent.delivered}
    return JsonResponse(answer, status=202)


def _agent(user: User, named: str | None) -> Agent:
    """By id or by name; without either the first. Raises Invalid."""
    agents = selectors.agents_for(user)
    if named is None:
        found = agents.order_by("pk").first()
        if found is None:
            raise Conflict(_("There is no agent that you may use. Ask an admin."))
        return found
    found = next((row for row in agents if named in (str(row.public_id), row.name)), None)
    if found is None:
        words = _("There is no such agent for you.")
        raise Invalid(words, [("agent", words)])
    return found


def _team(user: User, named: str | None) -> Team | None:
    if named is None:
        return None
    found = next((row for row in teams_of(user=user) if named in (str(row.public_id), row.name)), None)
    if found is None:
        words = _("You are in no such team.")
        raise Invalid(words, [("team", words)])
    return found
