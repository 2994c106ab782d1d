"""A conversation as a file to keep."""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from agentweb.runs import selectors
from agentweb.runs.models import Conversation
from agentweb.ui import exporting
from agentweb.ui.answers import page


@require_GET
@page
def conversation_markdown(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    shown = selectors.conversation_for(request.user, public_id)
    text = exporting.as_markdown(shown).encode("utf-8", "replace")
    return _kept(HttpResponse(text, content_type="text/markdown; charset=utf-8"), shown, "md")


@require_GET
@page
def conversation_json(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    shown = selectors.conversation_for(request.user, public_id)
    return _kept(JsonResponse(exporting.as_json(shown), json_dumps_params={"indent": 1}), shown, "json")


def _kept(response: HttpResponse, shown: Conversation, ending: str) -> HttpResponse:
    """For the folder of downloads, and never to be shown in place."""
    response["Content-Disposition"] = content_disposition_header(True, exporting.file_name(shown, ending))
    response["X-Content-Type-Options"] = "nosniff"
    return response
