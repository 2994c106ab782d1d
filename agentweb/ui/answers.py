"""What the pages of chat and audit share: who may come in, and what domain errors look like to a browser."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.cache import patch_cache_control, patch_vary_headers

from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound, RequestError
from agentweb.ui.listing import listing

View = Callable[..., HttpResponse]
STATUS: dict[type[RequestError], int] = {NotFound: 404, Forbidden: 403, Conflict: 409, Invalid: 422}


def page(view: View) -> View:
    """For people who are signed in; domain errors become pages, or a sentence for a fragment."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return sign_in(request)
        try:
            response = view(request, *args, **kwargs)
        except RequestError as error:
            response = refusal(request, error)
        patch_cache_control(response, private=True, no_store=True)
        patch_vary_headers(response, ["HX-Request"])
        return response

    return answered


def sign_in(request: HttpRequest) -> HttpResponse:
    """To the login page and back; a fragment sends its whole page there."""
    if not is_fragment(request):
        back = request.get_full_path() if request.method == "GET" else "/"
        return redirect_to_login(back)
    current = urlsplit(request.headers.get("HX-Current-URL", ""))
    response = HttpResponse(status=401)
    response["HX-Redirect"] = redirect_to_login(current.path or "/", resolve_url(settings.LOGIN_URL)).url
    return response


def refusal(request: HttpRequest, error: RequestError) -> HttpResponse:
    status = STATUS.get(type(error), 400)
    if is_fragment(request):
        return HttpResponse(error.text, status=status, content_type="text/plain; charset=utf-8")
    template = "404.html" if status == 404 else "403.html" if status == 403 else "problem.html"
    return render(request, template, {"sentence": error.text}, status=status)


def full_page(request: HttpRequest, template: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """A whole page, with the side column that every page has."""
    if "listing" not in context:
        shown = context.get("conversation")
        context["listing"] = listing(request.user, current=str(shown.public_id) if shown else "")
    return render(request, template, context, status=status)


def is_fragment(request: HttpRequest) -> bool:
    """Whether htmx asked for a part of the page that is open."""
    return bool(request.htmx) and not request.htmx.boosted and not request.htmx.history_restore_request


def changes_lists(response: HttpResponse) -> HttpResponse:
    """Let the page that gets this fetch its list of conversations and its counts again."""
    response["HX-Trigger"] = "listing"
    return response
