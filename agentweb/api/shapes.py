"""The JSON that goes in and out. Field names are a contract with other programs."""

import json
from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field

from agentweb.engine.usage import Usage
from agentweb.runs import services
from agentweb.runs.expiry import is_overdue
from agentweb.runs.models import (
    Approval,
    Call,
    Conversation,
    Delegation,
    Event,
    Grant,
    QueuedMessage,
    Run,
    Taint,
    Vote,
)
from agentweb.runs.selectors import Item
from agentweb.runs.votes import shown_digest

Text = Annotated[str, Field(strict=True)]


class Body(Schema):
    """A request body: unknown fields are refused, since they are most often misspelt ones."""

    model_config = ConfigDict(extra="forbid")


class ConversationIn(Body):
    agent: Text | None = None
    title: Text = ""
    team: Text | None = None
    visibility: Literal["private", "team"] = "private"


class MessageIn(Body):
    text: Text
    delivery: Literal["auto", "steer", "follow_up"] = "auto"
    attended: Annotated[bool, Field(strict=True)] = True


class StopIn(Body):
    after: Literal["reasoning", "acting"]


class ContinueIn(Body):
    turns: Annotated[int, Field(strict=True, ge=1, le=services.MAX_TURNS)] | None = None


class ResultIn(Body):
    call: Text
    content: Any
    is_error: Annotated[bool, Field(strict=True)] = False


class ResultsIn(Body):
    results: list[ResultIn] = []
    text: Text = ""


class ResolutionIn(Body):
    outcome: Literal["done", "not_done", "tell_model"]
    content: Text = ""
    comment: Text = ""


class QueuedIn(Body):
    text: Text


class DelegationIn(Body):
    to: Text
    comment: Text = ""


class GrantIn(Body):
    scope: Literal["run", "conversation", "until"]
    until: datetime | None = None
    vary: Annotated[bool, Field(strict=True)] = False
    free: tuple[Text, ...] | None = None


class DecisionIn(Body):
    decision: Literal["approve", "modify", "reject", "respond"]
    digest: Text
    arguments: Any = None
    comment: Text = ""
    response: Text = ""
    grant: GrantIn | None = None


def conversation_out(row: Conversation) -> dict[str, Any]:
    return {
        "id": str(row.public_id),
        "title": row.title,
        "agent": str(row.agent.public_id),
        "team": str(row.team.public_id),
        "visibility": row.visibility,
        "created_at": time_out(row.created_at),
        "active_at": time_out(row.active_at),
    }


def item_out(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "role": item.role,
        "text": item.text,
        "thinking": item.thinking,
        "tool_calls": list(item.tool_calls),
        "tool_call_id": item.tool_call_id,
        "created_at": time_out(item.created_at),
    }


def usage_out(spent: Run | Usage) -> dict[str, Any]:
    """``estimated_calls``: of so many model calls nobody counted the tokens, so they and the cost are a guess."""
    return {
        "turns": spent.turns,
        "model_calls": spent.model_calls,
        "tool_calls": spent.tool_calls,
        "input_tokens": spent.input_tokens,
        "cached_tokens": spent.cached_tokens,
        "output_tokens": spent.output_tokens,
        "thinking_tokens": spent.thinking_tokens,
        "cost": format(spent.cost, ".8f"),
        "seconds": round(spent.seconds, 3),
        "estimated_calls": spent.estimated_calls,
    }


def run_out(row: Run) -> dict[str, Any]:
    return {
        "id": str(row.public_id),
        "conversation": str(row.conversation.public_id),
        "status": row.status,
        "outcome": row.outcome or None,
        "reason": row.reason or None,
        "attended": row.attended,
        "usage": usage_out(row),
        "error": row.error,
        "created_at": time_out(row.created_at),
        "finished_at": time_out(row.finished_at),
    }


def event_out(row: Event) -> dict[str, Any]:
    return {"number": row.number, "kind": row.kind, "at": time_out(row.at), "data": json.loads(row.payload)}


def call_out(row: Call) -> dict[str, Any]:
    approval = row.asked[0] if row.asked else None
    return {
        "id": str(row.public_id),
        "name": row.name,
        "asked_name": row.asked_name or row.name,
        "failures": row.failures,
        "attempts": row.tries,
        "kept_s": row.kept_s,
        "arguments": row.arguments,
        "status": row.status,
        "result": row.result,
        "is_error": row.is_error,
        "waits_for": _waits_for(row),
        "started_at": time_out(row.started_at),
        "finished_at": time_out(row.finished_at),
        "undone_at": time_out(row.undone_at),
        "approval": str(approval.public_id) if approval else None,
        "grant": str(row.used.grant.public_id) if row.used else None,
    }


def _waits_for(row: Call) -> dict[str, Any] | None:
    """What a suspended call wants: ``prompt`` in words, and ``schema``, which a result must fit where there is one."""
    if row.status != Call.Status.SUSPENDED:
        return None
    return {"prompt": row.detail, "schema": row.answer_schema}


def approval_out(row: Approval) -> dict[str, Any]:
    return {
        "id": str(row.public_id),
        "run": str(row.run.public_id),
        "call": str(row.call.public_id) if row.call else None,
        "tool": row.call.name if row.call else None,
        "question": row.question or None,
        "facts": row.facts,
        "for_admins": row.for_admins,
        "arguments": row.arguments,
        "risk": row.risk,
        "digest": shown_digest(row),
        "status": row.status,
        **_terms_out(row),
        "expires_at": time_out(row.expires_at),
        "may_decide": row.may_decide and row.status == Approval.Status.PENDING and not is_overdue(row),
        "may_reject": row.may_reject and row.status == Approval.Status.PENDING and not is_overdue(row),
        "requires_comment": row.requires_comment,
        "fact": row.fact,
        "effect": row.effect,
        "preview": row.preview,
        "previewed_at": time_out(row.previewed_at),
        "rule": row.rule,
        "final_arguments": row.final_arguments,
        "comment": row.comment,
        "decided_by": row.decided_by.username if row.decided_by else None,
        "decided_at": time_out(row.decided_at),
    }


def grant_out(row: Grant) -> dict[str, Any]:
    return {
        "id": str(row.public_id),
        "scope": row.scope,
        "tool": row.tool,
        "arguments": row.arguments,
        "free": row.free,
        "agent": str(row.agent.public_id),
        "run": str(row.run.public_id),
        "approval": str(row.approval.public_id),
        "given_by": row.given_by.username,
        "created_at": time_out(row.created_at),
        "expires_at": time_out(row.expires_at),
        "ended_at": time_out(row.ended_at),
        "ended_by": row.ended_by.username if row.ended_by else None,
        "ended_why": row.ended_why or None,
        "uses": row.times,
        "may_revoke": row.may_revoke and row.ended_at is None,
    }


def _terms_out(row: Approval) -> dict[str, Any]:
    """``deciders``: who decides must be meant by each of these lists, by an entry whose moment has come; none: whoever
    may write in the conversation. ``proposal``: the arguments that people vote on instead of ``arguments``."""
    terms = row.on_terms
    if terms is None:
        return {
            "needed": 1,
            "requester_may_approve": True,
            "deciders": [],
            "votes": [],
            "delegations": [],
            "proposal": None,
        }
    circles: dict[int, list[dict[str, Any]]] = {}
    for entry in row.deciders.all():
        said = {"role": entry.role or None, "name": entry.name or None, "from": time_out(entry.from_at)}
        circles.setdefault(entry.circle, []).append(said)
    return {
        "needed": terms.needed,
        "requester_may_approve": not terms.apart,
        "deciders": list(circles.values()),
        "votes": [_vote_out(vote) for vote in row.votes.all()],
        "delegations": [_delegation_out(each) for each in row.delegations.all()],
        "proposal": terms.proposal,
    }


def _delegation_out(row: Delegation) -> dict[str, Any]:
    return {"by": row.by.username, "to": row.to.username, "comment": row.comment, "at": time_out(row.created_at)}


def _vote_out(row: Vote) -> dict[str, Any]:
    """``counts``: it is about what people vote on now."""
    return {
        "user": row.user.username,
        "decision": row.kind,
        "comment": row.comment,
        "at": time_out(row.created_at),
        "counts": not row.void,
    }


def taint_out(row: Taint) -> dict[str, Any]:
    return {"call": str(row.call_id), "tool": row.tool, "text": row.text, "arrived_at": time_out(row.arrived_at)}


def queued_out(row: QueuedMessage) -> dict[str, Any]:
    return {
        "id": str(row.public_id),
        "author": row.author.username,
        "delivery": row.delivery,
        "status": row.status,
        "text": row.text,
        "turn": row.turn,
        "created_at": time_out(row.created_at),
    }


def time_out(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at else None
