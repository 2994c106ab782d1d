"""The socket of a page: who may have it, what it tells, and when it ends."""

import asyncio
import json
from itertools import pairwise
from uuid import uuid4

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.sessions.models import Session
from django.test import AsyncClient

from agentweb.chat.admission import Refusal
from agentweb.config.asgi import application
from agentweb.engine.enums import Outcome, Reason
from agentweb.engine.events import ModelRequested, RunFinished, TurnFinished, TurnStarted
from agentweb.engine.usage import Usage
from agentweb.runs import journal, services
from agentweb.runs.selectors import conversation_for
from agentweb.teams.models import Membership
from tests.author import claimed_run, in_thread
from tests.cast import Cast, make_cast, make_worker
from tests.chat.sockets import close_code, connected, frames_until, impatient, session_of, socket_of
from tests.render.browser import text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(valkey) -> Cast:
    return make_cast()


async def claimed(people: Cast, text: str = "What is the date today?") -> journal.Claimed:
    run = await in_thread(people.run, text)
    worker = await in_thread(make_worker)
    return await in_thread(journal.claim, str(run.public_id), worker)


def say(run: journal.Claimed, *events) -> journal.Appended:
    return journal.append(run, events)


def end() -> RunFinished:
    return RunFinished(Outcome.STOPPED, Reason.AFTER_ACTING, "Stopped.", Usage())


# --- who may have it --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, code",
    [("anonymous", Refusal.SIGNED_OUT), ("stranger", Refusal.GONE), ("member", Refusal.GONE)],
)
async def test_those_who_may_not_see_a_private_conversation_are_told_by_a_code(people, name, code):
    conversation = await in_thread(people.conversation)
    socket = socket_of(await in_thread(session_of, people.person(name)), conversation.public_id)
    assert (await socket.connect(timeout=15))[0]
    assert await close_code(socket) == code


@pytest.mark.parametrize("name", ["owner", "admin", "reviewer"])
async def test_those_who_may_see_it_get_its_frames(people, name):
    run = await claimed(people)
    async with connected(people.person(name), run.conversation, f"?run={run.run}&after=2-0") as socket:
        await in_thread(say, run, end())
        frames = await frames_until(socket, "RunFinished")
    assert frames[-1]["status"] == "finished" and frames[-1]["c"] == "3-0"


async def test_a_conversation_that_is_not_there_is_gone(people):
    socket = socket_of(await in_thread(session_of, people.owner), uuid4())
    await socket.connect(timeout=15)
    assert await close_code(socket) == Refusal.GONE


async def test_a_run_of_another_conversation_cannot_be_asked_for(people):
    foreign = await claimed(people)
    own = await in_thread(people.conversation)
    socket = socket_of(await in_thread(session_of, people.owner), own.public_id, f"?run={foreign.run}&after=0-0")
    await socket.connect(timeout=15)
    assert await close_code(socket) == Refusal.GONE


@pytest.mark.parametrize(
    "origin", ["", "null", "https://evil.test", "http://testserver.evil.test", "http://testserver:81", "//testserver"]
)
async def test_other_sites_and_programs_without_an_origin_are_refused_before_the_handshake(people, origin, caplog):
    conversation = await in_thread(people.conversation)
    socket = socket_of(await in_thread(session_of, people.owner), conversation.public_id, origin=origin)
    accepted, _code = await socket.connect(timeout=15)
    assert not accepted
    assert "refused" in caplog.text


@pytest.mark.parametrize("trusted", ["https://chat.example.org:8443", "https://*.example.org:8443"])
async def test_a_trusted_origin_is_let_in_and_the_log_names_the_setting_otherwise(people, trusted, settings, caplog):
    conversation = await in_thread(people.conversation)
    session, origin = await in_thread(session_of, people.owner), "https://chat.example.org:8443"
    refused = socket_of(session, conversation.public_id, origin=origin)
    assert not (await refused.connect(timeout=15))[0]
    assert "CSRF_TRUSTED_ORIGINS" in caplog.text
    settings.CSRF_TRUSTED_ORIGINS = [trusted]
    welcome = socket_of(session, conversation.public_id, origin=origin)
    assert (await welcome.connect(timeout=15))[0]
    await welcome.disconnect()


async def test_a_host_that_is_not_ours_is_refused_though_its_origin_is_the_same(people, caplog):
    conversation = await in_thread(people.conversation)
    session = await in_thread(session_of, people.owner)
    headers = [(b"host", b"evil.test"), (b"origin", b"http://evil.test"), (b"cookie", f"sessionid={session}".encode())]
    socket = WebsocketCommunicator(application, f"/ws/conversations/{conversation.public_id}/", headers)
    assert not (await socket.connect(timeout=15))[0]
    assert "ALLOWED_HOSTS" in caplog.text


# --- what it tells ----------------------------------------------------------------------------------------------------


async def test_a_page_gets_what_it_missed_and_then_what_happens(people):
    run = await claimed(people)
    await in_thread(say, run, TurnStarted(1))
    async with connected(people.owner, run.conversation, f"?run={run.run}&after=1-0") as socket:
        missed = await socket.receive_json_from(timeout=15)
        await in_thread(say, run, TurnFinished(1), end())
        later = await frames_until(socket, "RunFinished")
    numbers = [event["number"] for frame in [missed, *later] for event in frame["events"]]
    assert numbers == [2, 3, 4, 5]


async def test_five_hundred_events_at_once_all_arrive_in_order(people):
    run = await claimed(people)
    async with connected(people.owner, run.conversation, f"?run={run.run}&after=2-0") as socket:
        for _ in range(100):
            await in_thread(say, run, *(TurnFinished(1) for _ in range(5)))
        await in_thread(say, run, end())
        frames = await frames_until(socket, "RunFinished")
    assert [event["number"] for frame in frames for event in frame["events"]] == list(range(3, 504))
    assert all(after["p"] == before["c"] for before, after in pairwise(frames))


async def test_two_conversations_never_mix(people):
    first, second = await claimed(people), await claimed(people)
    async with (
        connected(people.owner, first.conversation, f"?run={first.run}&after=2-0") as one,
        connected(people.owner, second.conversation, f"?run={second.run}&after=2-0") as other,
    ):
        for run in (first, second):
            await in_thread(say, run, TurnStarted(1))
            await in_thread(say, run, end())
        seen = await frames_until(one, "RunFinished"), await frames_until(other, "RunFinished")
    assert {frame["run"] for frame in seen[0]} == {first.run}
    assert {frame["run"] for frame in seen[1]} == {second.run}


async def test_a_late_page_gets_the_open_message_as_blocks_and_its_thinking_as_text(people, valkey):
    run, message = await claimed(people), str(uuid4())
    await in_thread(say, run, TurnStarted(1), ModelRequested(message, 1, 1, "model", "digest"))
    name = f"aw:{{{run.run}}}:o"
    valkey.client.mset({f"{name}:text": "# Title\n\nSome **bold**", f"{name}:thinking": "hm"})
    valkey.client.hset(name, "cursor", "4-7")
    valkey.client.xadd(f"aw:{{{run.run}}}:s", {"f": json.dumps({"c": "4-7", "p": "4-6", "run": run.run})}, id="4-7")
    async with connected(people.owner, run.conversation, f"?run={run.run}&after=4-3") as socket:
        frame = await socket.receive_json_from(timeout=15)
    shown = frame["snapshot"]
    assert (frame["c"], frame["p"]) == ("4-7", "4-3")
    assert (shown["message"], shown["thinking"]) == (message, "hm")
    assert shown["ops"][0] == ["done", 0, '<h3 dir="auto">Title</h3>'] or shown["ops"][0][:2] == ["done", 0]
    assert "text" not in shown


async def test_a_page_gets_blocks_for_every_word_and_no_raw_text(people):
    frames = []
    async with claimed_run(people) as author:
        run = author.claimed
        async with connected(people.owner, run.conversation, f"?run={run.run}&after=2-0") as socket:
            await author.request(1)
            for word in ("Hello ", "**world**", ".\n\n", "The end"):
                author.say(word)
                await author.flusher.settle(author.lane)
            while block_texts(frames) != {0: "Hello world.", 1: "The end"}:
                frames.append(await socket.receive_json_from(timeout=15))
            await author.finish(1)
            await author.end()
            frames += await frames_until(socket, "RunFinished")
    assert block_texts(frames) == {0: "Hello world.", 1: "The end"}
    assert all(delta[0] != "text" for frame in frames for delta in frame.get("deltas", ()))


def block_texts(frames) -> dict[int, str]:
    """What stands in each block after the frames. Whether words come as an addition or as the block anew is a matter
    of time; the text is not."""
    shown: dict[int, str] = {}
    for frame in frames:
        for kind, block, *rest in frame.get("ops") or frame.get("snapshot", {}).get("ops", ()):
            shown[block] = shown.get(block, "") + rest[1] if kind == "text" else rest[0]
    return {block: text_of(html) for block, html in shown.items() if html}


async def test_a_page_that_comes_in_the_middle_of_an_answer_ends_with_the_same_blocks(people):
    async with claimed_run(people) as author:
        run = author.claimed
        await author.request(1)
        for words in ("First.\n\n", "Second "):
            author.say(words)
            await author.flusher.settle(author.lane)  # nobody listens, so what comes later has no blocks
        async with connected(people.owner, run.conversation, f"?run={run.run}&after=4-0") as socket:
            first = await socket.receive_json_from(timeout=15)
            whole = await socket.receive_json_from(timeout=15)
            author.say("part.")
            await author.finish(1)
            await author.end()
            frames = await frames_until(socket, "RunFinished")
    assert "ops" in first and whole["c"] == "4-2"
    assert block_texts([first, whole, *frames]) == {0: "First.", 1: "Second part."}


async def test_the_next_run_of_the_conversation_is_told_on_the_same_socket(people):
    run = await claimed(people)
    async with connected(people.owner, run.conversation, f"?run={run.run}&after=2-0") as socket:
        await in_thread(say, run, end())
        await frames_until(socket, "RunFinished")
        following = await in_thread(next_run, people, run)
        frames = await frames_until(socket, "RunStarted")
    assert frames[-1]["run"] == str(following.public_id)
    assert ["run", str(following.public_id)] in frames[-1]["cards"]


def next_run(people: Cast, run: journal.Claimed):
    conversation = conversation_for(people.owner, run.conversation)
    return services.send_message(user=people.owner, conversation=conversation, text="And tomorrow?").run


# --- when it ends -----------------------------------------------------------------------------------------------------


async def test_signing_out_closes_the_sockets_of_that_session_only(people):
    conversation = await in_thread(people.conversation)
    here, elsewhere = await in_thread(session_of, people.owner), await in_thread(session_of, people.owner)
    socket, other = socket_of(here, conversation.public_id), socket_of(elsewhere, conversation.public_id)
    await socket.connect(timeout=15)
    await other.connect(timeout=15)
    await asyncio.wait_for(sign_out(here), 60)  # the first request loads every address
    assert await close_code(socket) == Refusal.SIGNED_OUT
    assert "ping" in await other.receive_json_from(timeout=15)  # it looked at its own session, and stays
    await other.disconnect()


async def sign_out(session: str) -> None:
    client = AsyncClient()
    client.cookies["sessionid"] = session
    assert (await client.post("/accounts/logout/")).status_code == 302


async def test_a_page_that_may_no_longer_see_the_conversation_is_closed_at_the_next_look(people):
    conversation = await in_thread(people.conversation)
    socket = impatient(await in_thread(session_of, people.owner), conversation.public_id, ping_s=0.1, check_s=0.2)
    await socket.connect(timeout=15)
    assert "ping" in await socket.receive_json_from(timeout=15)  # it was let in
    await in_thread(Membership.objects.filter(user=people.owner).delete)
    assert await close_code(socket) == Refusal.FORBIDDEN


async def test_a_page_whose_session_has_ended_is_closed_at_the_next_look(people):
    conversation = await in_thread(people.conversation)
    socket = impatient(await in_thread(session_of, people.owner), conversation.public_id, ping_s=0.1, check_s=0.2)
    await socket.connect(timeout=15)
    assert "ping" in await socket.receive_json_from(timeout=15)
    await in_thread(Session.objects.all().delete)
    assert await close_code(socket) == Refusal.SIGNED_OUT


async def test_a_silent_socket_is_kept_alive_by_pings(people):
    conversation = await in_thread(people.conversation)
    socket = impatient(await in_thread(session_of, people.owner), conversation.public_id, ping_s=0.1)
    await socket.connect(timeout=15)
    assert await socket.receive_json_from(timeout=15) == {"ping": 1}
    assert await socket.receive_json_from(timeout=15) == {"ping": 1}
    await socket.disconnect()


async def test_what_a_page_says_over_the_socket_changes_nothing(people):
    run = await claimed(people)
    async with connected(people.owner, run.conversation, f"?run={run.run}&after=2-0") as socket:
        await socket.send_json_to({"type": "approve", "approval": str(uuid4())})
        await socket.send_to(text_data="not JSON")
        await in_thread(say, run, end())
        assert (await frames_until(socket, "RunFinished"))[-1]["status"] == "finished"
