"""The files of a conversation: a list, and each as a download that no browser ever shows in place."""

import uuid

from django.http import FileResponse, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from agentweb.runs import selectors, workspaces
from agentweb.runs.errors import NotFound
from agentweb.toolbox.paths import WorkspaceError
from agentweb.ui.answers import full_page, page


@require_GET
@page
def conversation_files(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    shown = selectors.conversation_for(request.user, public_id)
    context = {"nav": "files", "conversation": shown, "files": workspaces.of(shown).list()}
    return full_page(request, "chat/files.html", context)


@require_GET
@page
def conversation_file(request: HttpRequest, public_id: uuid.UUID, path: str) -> FileResponse:
    shown = selectors.conversation_for(request.user, public_id)
    try:
        return workspaces.download(shown, path)
    except WorkspaceError as error:
        raise NotFound(_("There is no such file.")) from error
