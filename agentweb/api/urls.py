"""The HTTP API: its routes, its errors, its documentation, and an answer for every other address under it."""

import logging

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.docs import ABS_TPL_PATH, Swagger
from ninja.parser import Parser

from agentweb.api import health
from agentweb.api.auth import authenticate, caller
from agentweb.api.problems import problem
from agentweb.api.routes import answers, approvals, conversations, files, halts, runs
from agentweb.runs import errors
from agentweb.schema.json_text import JsonError, parse_json
from agentweb.toolbox import paths

logger = logging.getLogger(__name__)


class StrictParser(Parser):
    """Bounded JSON: no depth that exhausts the stack, no bytes that are no text."""

    def parse_body(self, request: HttpRequest):
        try:
            return parse_json(request.body.decode())
        except (JsonError, UnicodeDecodeError) as error:
            raise HttpError(400, f"The body is not valid JSON: {error}") from error


class Documentation(Swagger):
    """The page with our own copies of its script and styles, though ninja is no app of the site."""

    template_cdn = str(ABS_TPL_PATH / "swagger.html")


api = NinjaAPI(
    title="agentweb",
    version="1",
    description="Start, watch, steer and decide about runs of your team's agents.",
    auth=authenticate,
    parser=StrictParser(),
    docs=Documentation(),
    docs_url="/docs",
)
for router in (conversations.router, runs.router, approvals.router, files.router, halts.router, answers.router):
    api.add_router("", router)

STATUS = {
    errors.NotFound: 404,
    errors.Forbidden: 403,
    errors.TooEarly: 503,  # what programs that call an address back try again
    errors.Conflict: 409,
    errors.Invalid: 422,
    paths.NotFound: 404,
    paths.TooLarge: 413,
    paths.WorkspaceError: 422,
}


@api.exception_handler(errors.RequestError)
def request_error(request: HttpRequest, error: errors.RequestError) -> HttpResponse:
    status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
    headers = {"Retry-After": "2"} if isinstance(error, errors.TooEarly) else None
    more = {"errors": getattr(error, "errors", ()), "state": getattr(error, "state", None)}
    return problem(status, error.text, headers=headers, **more)


@api.exception_handler(paths.WorkspaceError)
def workspace_error(request: HttpRequest, error: paths.WorkspaceError) -> HttpResponse:
    status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
    return problem(status, str(error), errors=[("path", str(error))] if status == 422 else ())


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    found = [(_path(item["loc"]), item["msg"]) for item in error.errors]
    return problem(422, "The request is not valid.", errors=found)


@api.exception_handler(AuthenticationError)
def unauthenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return problem(401)


@api.exception_handler(HttpError)
def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(error.status_code, str(error))


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(404)


@api.exception_handler(RequestDataTooBig)
def too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return problem(413)


@api.exception_handler(Exception)
def unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("%s %s failed", request.method, request.path, exc_info=error)
    return problem(500)


@csrf_exempt
def nothing_here(request: HttpRequest) -> HttpResponse:
    """Any other address: a stranger learns nothing, a caller learns that it does not exist."""
    return problem(401 if caller(request) is None else 404)


def _path(location: tuple) -> str:
    """``("body", "payload", "tags", 1)`` as people write it: ``tags[1]``."""
    words = [part for part in location if part not in ("body", "query", "header", "path")]
    text = ""
    for part in words[1:] if location and location[0] == "body" and len(words) > 1 else words:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "body"


urlpatterns = [
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("", nothing_here),
    path("", api.urls),
    re_path(r"^.*$", nothing_here),
]
