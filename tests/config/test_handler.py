"""How a request gets to its view: in one thread that lives on, or on the loop where the view waits."""

import json
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.signals import request_finished
from django.db import connection
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path

from agentweb.config.handler import KEPT_S, Handler, ThreadHandler, waits


def note_thread(get_response):
    """A middleware that says in which thread it ran."""

    def middleware(request: HttpRequest) -> HttpResponse:
        request.middleware_thread = threading.get_ident()
        return get_response(request)

    return middleware


def at_once(request: HttpRequest) -> JsonResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse(
        {
            "thread": threading.get_ident(),
            "middleware": request.middleware_thread,
            "connection": id(connection.connection),
            "kept": connection.settings_dict["CONN_MAX_AGE"],
            "body": request.body.decode(),
        }
    )


def broken(request: HttpRequest) -> HttpResponse:
    raise ValueError("a fault of the view")


def download(request: HttpRequest) -> FileResponse:
    return FileResponse(open(__file__, "rb"))


async def _words() -> AsyncIterator[str]:
    yield "one "
    yield "two"


async def waiting(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(_words())


urlpatterns = [path("at-once", at_once), path("broken", broken), path("download", download), path("waiting", waiting)]
pytestmark = pytest.mark.urls(__name__)


@pytest.fixture
def handler(settings) -> Handler:
    settings.MIDDLEWARE = [f"{__name__}.note_thread"]
    return Handler()


@pytest.fixture
def finished() -> Iterator[list[type]]:
    """The handlers of the requests that were finished."""
    seen: list[type] = []

    def note(sender: type, **_: object) -> None:
        seen.append(sender)

    request_finished.connect(note)
    yield seen
    request_finished.disconnect(note)


async def answer(handler: Handler, where: str, body: bytes = b"") -> tuple[int, bytes]:
    scope = {"type": "http", "method": "POST", "path": where, "headers": [], "query_string": b""}
    caller = ApplicationCommunicator(handler, scope)
    await caller.send_input({"type": "http.request", "body": body})
    start, received = await caller.receive_output(5), b""
    while True:
        part = await caller.receive_output(5)
        received += part.get("body", b"")
        if not part.get("more_body"):
            await caller.wait(5)
            return start["status"], received


@pytest.mark.parametrize(("where", "expected"), [("/at-once", False), ("/waiting", True), ("/nowhere", False)])
def test_only_asynchronous_views_wait(where, expected):
    assert waits(where) is expected


@pytest.mark.django_db(transaction=True)
async def test_a_request_stays_in_one_thread_whose_connection_is_kept(handler, finished):
    answers = [json.loads((await answer(handler, "/at-once", b"words"))[1]) for _ in range(40)]

    assert all(each["thread"] == each["middleware"] != threading.get_ident() for each in answers)
    assert {each["kept"] for each in answers} == {KEPT_S}
    assert all(each["body"] == "words" for each in answers)
    assert len({each["connection"] for each in answers}) == len({each["thread"] for each in answers}) < 40
    assert finished == [ThreadHandler] * 40


async def test_a_fault_of_a_view_is_an_answer_too(handler, finished):
    assert (await answer(handler, "/broken"))[0] == 500
    assert finished == [ThreadHandler]


async def test_a_download_is_whole_and_closed_behind_its_last_byte(handler, finished):
    with open(__file__, "rb") as file:
        assert await answer(handler, "/download") == (200, file.read())
    assert finished == [ThreadHandler]


async def test_a_view_that_waits_streams_from_the_loop(handler, finished):
    assert await answer(handler, "/waiting") == (200, b"one two")
    assert ThreadHandler not in finished


async def test_whoever_leaves_before_the_request_is_complete_gets_nothing(handler):
    caller = ApplicationCommunicator(handler, {"type": "http", "method": "POST", "path": "/at-once", "headers": []})
    await caller.send_input({"type": "http.request", "body": b"half", "more_body": True})
    await caller.send_input({"type": "http.disconnect"})
    await caller.wait(5)

    assert await caller.receive_nothing()
