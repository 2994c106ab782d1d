"""What a program may rely on while it waits for the events of a run."""

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.test import AsyncClient, RequestFactory

from agentweb.api.stream import server_sent
from agentweb.runs import selectors
from agentweb.runs.live import Cursor
from agentweb.teams import tokens
from agentweb.teams.models import ApiToken, User
from tests.cast import Cast, make_cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people() -> Cast:
    return make_cast()


def signed_in(user: User) -> SessionStore:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "agentweb.teams.sign_in.Backend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return session


async def until(found) -> None:
    async with asyncio.timeout(20):
        while not await sync_to_async(found)():
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("query", "accept"), [("after=1&wait=30", "application/json"), ("after=1", "text/event-stream")]
)
async def test_a_request_that_waits_holds_no_connection(people, query, accept):
    run = await sync_to_async(people.run)()
    token = await sync_to_async(tokens.create_token)(user=people.owner, name="test")
    assert await sync_to_async(lambda: connection.connection is not None)()
    headers = {"Authorization": f"Bearer {token}", "Accept": accept}

    waiting = asyncio.create_task(AsyncClient().get(f"/api/v1/runs/{run.public_id}/events?{query}", headers=headers))

    try:
        await until(lambda: connection.connection is None)
        assert accept == "text/event-stream" or not waiting.done()
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


def revoke_token(people: Cast) -> None:
    tokens.revoke(ApiToken.objects.all())


def switch_off(people: Cast) -> None:
    User.objects.filter(pk=people.owner.pk).update(is_active=False)


def sign_out(people: Cast) -> None:
    SessionStore.get_model_class().objects.all().delete()


def leave_team(people: Cast) -> None:
    people.owner.memberships.all().delete()


@pytest.mark.parametrize(
    ("end", "by_token"),
    [(revoke_token, True), (switch_off, True), (leave_team, True), (sign_out, False), (switch_off, False)],
)
def test_a_stream_ends_when_its_caller_may_not_read_on(people, end, by_token):
    run = selectors.run_for(people.owner, people.run().public_id)
    token = tokens.create_token(user=people.owner, name="test")
    request = RequestFactory().get("/", headers={"Authorization": f"Bearer {token}"} if by_token else {})
    request.session = signed_in(people.owner)

    async def read() -> list[str]:
        texts = []
        async with asyncio.timeout(20):
            async for text in server_sent(request, run, Cursor(0), keep_alive_s=0.05, recheck_s=0.2):
                texts.append(text)
                if "event: RunStarted" in text:
                    await sync_to_async(end)(people)
        return texts

    texts = asyncio.run(read())
    events = [text for text in texts if text != ": still here\n\n"]
    assert len(events) == 1 and "event: RunStarted" in events[0]
