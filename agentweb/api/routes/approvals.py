"""Approvals and the decisions about them."""

from typing import Annotated, Literal

from django.http import HttpRequest
from ninja import Query, Router

from agentweb.api import paging
from agentweb.api.shapes import DecisionIn, DelegationIn, approval_out, grant_out, taint_out
from agentweb.runs import decisions, delegating, granted, grants, selectors, taint

router = Router(tags=["approvals"])
Status = Literal["pending", "approved", "modified", "rejected", "answered", "expired", "cancelled"]


@router.get("/approvals")
def approvals(
    request: HttpRequest,
    status: Status | None = None,
    run: str | None = None,
    cursor: str = "",
    limit: Annotated[int, Query(ge=1, le=paging.MOST)] = 50,
):
    """Approvals in the conversations that you see, newest first."""
    of_run = selectors.run_for(request.user, run) if run is not None else None
    rows = selectors.approvals_for(request.user, status=status, run=of_run)
    page = paging.page(rows, cursor, limit, lambda row: row)
    page["items"] = [approval_out(row) for row in selectors.mark_decidable(request.user, page["items"])]
    return page


@router.get("/approvals/{approval_id}")
def approval(request: HttpRequest, approval_id: str):
    return approval_out(selectors.approval_for(request.user, approval_id))


@router.post("/approvals/{approval_id}/decision")
def decide(request: HttpRequest, approval_id: str, body: DecisionIn):
    """Decide about a call that waits. ``digest`` is the one you saw; 409 tells the true state when it is too late.

    ``grant`` remembers an approval for later calls: for the run, the conversation, or all your runs until a moment."""
    found = selectors.approval_for(request.user, approval_id)
    decided = decisions.decide(
        user=request.user,
        approval=found,
        decision=body.decision,
        digest=body.digest,
        arguments=body.arguments,
        comment=body.comment,
        response=body.response,
        remember=grants.Wish(**body.grant.dict()) if body.grant else None,
    )
    return approval_out(decided)


@router.post("/approvals/{approval_id}/delegation")
def delegate(request: HttpRequest, approval_id: str, body: DelegationIn):
    """Let somebody else of the team decide in your place: ``to`` is a user name. You may not approve any more."""
    found = selectors.approval_for(request.user, approval_id)
    return approval_out(delegating.hand_over(user=request.user, approval=found, to=body.to, comment=body.comment))


@router.get("/conversations/{conversation_id}/grants")
def conversation_grants(request: HttpRequest, conversation_id: str):
    """The remembered approvals that were given in a conversation, newest first, those that have ended included."""
    conversation = selectors.conversation_for(request.user, conversation_id)
    return {"items": [grant_out(row) for row in granted.grants_in(request.user, conversation)]}


@router.delete("/grants/{grant_id}")
def revoke(request: HttpRequest, grant_id: str):
    """Revoke a grant; it counts for no call that has not started yet. 409 when it has ended already."""
    grants.revoke(user=request.user, grant=granted.grant_for(request.user, grant_id))
    return grant_out(granted.grant_for(request.user, grant_id))


@router.get("/conversations/{conversation_id}/untrusted")
def untrusted(request: HttpRequest, conversation_id: str):
    """Texts that others wrote and that were read in a conversation, newest first, until somebody clears them."""
    conversation = selectors.conversation_for(request.user, conversation_id)
    rows = taint.standing(conversation.pk)
    return {"items": [taint_out(row) for row in rows], "digest": taint.digest(rows)}


@router.delete("/conversations/{conversation_id}/untrusted")
def clear(request: HttpRequest, conversation_id: str, digest: str = ""):
    """Vouch for the texts that were listed with this digest; calls are judged at their own risk level again."""
    conversation = selectors.conversation_for(request.user, conversation_id)
    return {"cleared": taint.clear(user=request.user, conversation=conversation, shown=digest)}
