"""The workspace of a conversation: the same confinement and limits as the tools."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentweb.runs import selectors, workspaces
from agentweb.runs.errors import Forbidden
from agentweb.toolbox.workspace import Entry

router = Router(tags=["files"])


@router.get("/conversations/{conversation_id}/files")
def files(request: HttpRequest, conversation_id: str):
    found = selectors.conversation_for(request.user, conversation_id)
    return {"items": [_out(entry) for entry in workspaces.of(found).list()]}


@router.get("/conversations/{conversation_id}/files/{path:path}")
def download(request: HttpRequest, conversation_id: str, path: str):
    """The bytes of a file, always as an attachment."""
    return workspaces.download(selectors.conversation_for(request.user, conversation_id), path)


@router.put("/conversations/{conversation_id}/files/{path:path}")
def upload(request: HttpRequest, conversation_id: str, path: str):
    """Store the request body as the file."""
    found = selectors.conversation_for(request.user, conversation_id)
    if not found.may.write:
        raise Forbidden("You can read this conversation but not change it.")
    return _out(workspaces.of(found).write_bytes(path, request.body))


@router.delete("/conversations/{conversation_id}/files/{path:path}")
def delete(request: HttpRequest, conversation_id: str, path: str):
    found = selectors.conversation_for(request.user, conversation_id)
    if not found.may.write:
        raise Forbidden("You can read this conversation but not change it.")
    workspaces.of(found).delete(path)
    return HttpResponse(status=204)


def _out(entry: Entry) -> dict[str, Any]:
    modified = entry.modified_at.isoformat().replace("+00:00", "Z")
    return {"path": entry.path, "size": entry.size, "modified_at": modified}
