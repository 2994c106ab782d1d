"""The folder of a conversation's files, for pages and programs."""

from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.http import FileResponse

from agentweb.runs.models import Conversation
from agentweb.toolbox.workspace import UPLOAD_LIMITS, Workspace

SANDBOX = "sandbox; default-src 'none'"


def folder(conversation: str) -> Path:
    """Where the files of the conversation with that public id are; made with the first file."""
    return Path(settings.WORKSPACES_DIR) / conversation


def of(conversation: Conversation) -> Workspace:
    return Workspace(folder(str(conversation.public_id)), UPLOAD_LIMITS)


def download(conversation: Conversation, path: str) -> FileResponse:
    """The file's bytes as an attachment that no browser runs. Raises WorkspaceError."""
    response = FileResponse(of(conversation).open(path), content_type="application/octet-stream")
    name = quote(path.rsplit("/", 1)[-1], safe="")
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
    response["Content-Security-Policy"] = SANDBOX
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    return response
