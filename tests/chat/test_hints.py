"""What reaches open pages besides the conversation: that something waits; and what a page that does not read gets."""

import asyncio
import logging
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from channels.testing import WebsocketCommunicator

from agentweb.chat import admission
from agentweb.chat.consumers import TOO_SLOW
from agentweb.runs import outbox, services, upkeep
from agentweb.runs.decisions import decide
from agentweb.runs.models import Approval
from tests.author import in_thread
from tests.cast import Cast, make_cast
from tests.chat.sockets import close_code, impatient, session_of
from tests.runs.waiting_call import waiting_approvals

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(valkey) -> Cast:
    return make_cast()


async def wait_for_hint(socket: WebsocketCommunicator) -> None:
    while (await socket.receive_json_from(timeout=15)).get("hint") != {"inbox": 1}:
        pass


async def hears_nothing(socket: WebsocketCommunicator) -> bool:
    """Whether the page gets nothing but a few pings."""
    return all([await socket.receive_json_from(timeout=15) == {"ping": 1} for _ in range(5)])


@asynccontextmanager
async def own_page(people: Cast, name: str):
    """A page of the person's own, where nothing happens, once it hears what is told to its person."""
    person = people.person(name)
    made = await in_thread(lambda: services.create_conversation(user=person, agent=people.agent))
    socket = impatient(await in_thread(session_of, person), made.public_id, ping_s=0.1)
    assert (await socket.connect(timeout=15))[0]
    assert await socket.receive_json_from(timeout=15) == {"ping": 1}
    yield socket
    await socket.disconnect()


@pytest.mark.parametrize(
    ("visibility", "told", "others"),
    [("team", ("owner", "member", "admin"), ()), ("private", ("owner", "admin"), ("member",))],
)
async def test_those_who_may_decide_are_told_when_something_waits_and_when_it_is_decided(
    people, visibility, told, others
):
    run = await in_thread(people.builder_run, visibility)
    async with AsyncExitStack() as open_pages:
        sockets = {name: await open_pages.enter_async_context(own_page(people, name)) for name in (*told, *others)}
        [approval] = await in_thread(waiting_approvals, people, run)
        for name in told:
            await wait_for_hint(sockets[name])
        decision = {"decision": "approve", "digest": approval.digest}
        await in_thread(lambda: decide(user=people.owner, approval=approval, **decision))
        for name in told:
            await wait_for_hint(sockets[name])
        for name in others:
            assert await hears_nothing(sockets[name])


@pytest.mark.parametrize("visibility", ["team", "private"])
async def test_reviewers_hear_of_it_as_well_since_a_rule_may_name_them(people, visibility):
    conversation = await in_thread(people.conversation, visibility)
    heard = {
        name: await admission.groups_of(people.person(name)) for name in ("owner", "admin", "reviewer", "stranger")
    }
    told = outbox.groups_of(conversation)
    assert [name for name, groups in heard.items() if set(groups) & set(told)] == ["owner", "admin", "reviewer"]


async def test_an_approval_whose_time_is_over_is_told_too(people):
    run = await in_thread(people.builder_run)
    await in_thread(waiting_approvals, people, run)
    async with own_page(people, "owner") as socket:
        await in_thread(lambda: Approval.objects.update(expires_at="2020-01-01T00:00:00Z"))
        await in_thread(upkeep.expire_approvals)
        await wait_for_hint(socket)


async def test_a_page_that_takes_nothing_is_closed_with_the_code_on_which_it_comes_back(people, caplog):
    conversation, session = await in_thread(people.conversation), await in_thread(session_of, people.owner)
    patience = {"ping_s": 0.05, "check_s": 60, "slow_s": 0.2}
    socket = impatient(session, conversation.public_id, reader=asyncio.Event(), **patience)
    assert (await socket.connect(timeout=15))[0]
    assert await close_code(socket) == TOO_SLOW
    await socket.disconnect()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
