"""What leaves a worker, and when: on a real Valkey."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from uuid import uuid4

import pytest

from agentweb.engine.enums import DeltaKind
from agentweb.engine.events import Delta, ToolProgressed
from agentweb.runs import live
from agentweb.runs.live import START, Cursor, keys
from agentweb.worker.flusher import FRAMES_A_SECOND, TICK_S, Flusher
from tests.author import PATIENCE_S

WINDOW_S = 0.05


class Writer:
    """A run that speaks: counts offsets as the engine does."""

    def __init__(self, flusher: Flusher, *, run: str = "", event: int = 1, epoch: int = 1) -> None:
        self.flusher, self.message = flusher, str(uuid4())
        self.lane = flusher.open(run or str(uuid4()), str(uuid4()), event, epoch)
        self.lengths = {kind: 0 for kind in DeltaKind}

    def say(self, text: str, kind: DeltaKind = DeltaKind.TEXT) -> None:
        self.flusher.add(self.lane, Delta(self.message, kind, self.lengths[kind], text))
        self.lengths[kind] += len(text)

    def opens(self) -> None:
        """What the journal does once the model call is recorded."""
        live.publish_events(
            run=self.lane.run,
            conversation=self.lane.conversation,
            last=self.lane.event,
            kinds=["ModelRequested"],
            cards=[],
            status="running",
            epoch=self.lane.epoch,
            opened=self.message,
        )

    async def frames(self) -> tuple:
        return await live.range_after(self.lane.run, START)


@asynccontextmanager
async def flushing(window_s: float = WINDOW_S):
    flusher = Flusher(window_s, asyncio.get_running_loop().time, PATIENCE_S)
    task = asyncio.create_task(flusher.run())
    try:
        yield flusher
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def told(frames, kind: str = "text") -> str:
    """The text of a message by its deltas; each must begin where those before it end."""
    text = ""
    for frame in frames:
        for found, offset, piece in frame.get("deltas", ()):
            if found == kind:
                assert offset == len(text)
                text += piece
    return text


async def test_text_and_thinking_arrive_whole_in_the_stream_and_in_the_open_message(valkey):
    async with flushing() as flusher:
        writer = Writer(flusher)
        writer.opens()
        for number in range(200):
            writer.say(f"думать {number} ", DeltaKind.THINKING)
            writer.say(f"词{number} 🙂 ")
            if number % 20 == 0:
                await flusher.settle(writer.lane)
        await flusher.settle(writer.lane, final=True)
        opened = await live.snapshot(writer.lane.run)
        frames = await writer.frames()
    text = "".join(f"词{number} 🙂 " for number in range(200))
    assert told(frames) == opened.text == text
    assert told(frames, "thinking") == opened.thinking
    assert opened.message == writer.message
    assert opened.cursor == Cursor.parse(frames[-1]["c"])


async def test_nothing_of_a_run_stays_in_redis_for_good(valkey):
    async with flushing() as flusher:
        writer = Writer(flusher)
        writer.opens()
        for number in range(20):
            writer.say(f"{number} ", DeltaKind.TEXT if number > 4 else DeltaKind.THINKING)
            await flusher.settle(writer.lane)
            kept = [name for name in keys.run_keys(writer.lane.run) if valkey.client.exists(name)]
            assert [name for name in kept if valkey.client.ttl(name) <= 0] == []
    assert len(kept) == 4


async def test_each_frame_names_the_one_before_it(valkey):
    async with flushing() as flusher:
        writer = Writer(flusher)
        writer.opens()
        for word in ["one", "two", "three", "four"]:
            writer.say(word)
            await flusher.settle(writer.lane)
        frames = await writer.frames()
    assert [frame["c"] for frame in frames] == ["1-0", "1-1", "1-2", "1-3", "1-4"]
    assert all(after["p"] == before["c"] for before, after in pairwise(frames))


async def test_the_first_word_after_a_silence_leaves_at_once_and_many_words_share_a_frame(valkey):
    async with flushing(window_s=3_600.0) as flusher:
        writer = Writer(flusher)
        writer.opens()
        writer.say("first")
        async with asyncio.timeout(60):  # and not after an hour
            while not told(await writer.frames()):
                await asyncio.sleep(0)
        for number in range(500):
            writer.say(f" {number}")
        await flusher.settle(writer.lane)
        frames = await writer.frames()
    assert len(frames) == 3  # opened, first, everything else


async def test_an_overtaken_writer_reaches_neither_stream_nor_listeners_nor_text(valkey):
    async with flushing() as flusher:
        run = str(uuid4())
        old = Writer(flusher, run=run, event=3)
        old.opens()
        old.say("kept")
        await flusher.settle(old.lane)
        new = Writer(flusher, run=run, event=5, epoch=2)
        new.lane.conversation = old.lane.conversation
        new.opens()
        listener = valkey.client.pubsub()
        listener.subscribe(f"aw:c:{old.lane.conversation}")
        assert listener.get_message(timeout=20)["type"] == "subscribe"
        old.say(" and this must not be seen")
        await flusher.settle(old.lane)
        new.say("fresh")
        await flusher.settle(new.lane)
        heard = json.loads(listener.get_message(timeout=20)["data"])
        opened = await live.snapshot(run)
        frames = await new.frames()
    assert heard["deltas"] == [["text", 0, "fresh"]] and heard["epoch"] == 2
    assert (opened.message, opened.text) == (new.message, "fresh")
    assert [frame["c"] for frame in frames] == ["3-0", "3-1", "5-0", "5-1"]


async def test_blocks_are_rendered_only_while_somebody_listens_and_then_from_the_beginning(valkey):
    async with flushing() as flusher:
        writer = Writer(flusher)
        writer.opens()
        writer.say("# Title\n\n")
        await flusher.settle(writer.lane)
        writer.say("Some **words**.\n\n")
        await flusher.settle(writer.lane)
        alone = (await writer.frames())[-1]
        async with live.hub().subscribed(writer.lane.conversation):
            writer.say("More.")
            await flusher.settle(writer.lane)  # its answer tells that somebody came
            writer.say(" And more.\n\nEnd")
            await flusher.settle(writer.lane, final=True)
            heard = (await writer.frames())[-1]
    assert "ops" not in alone
    assert [op[:2] for op in heard["ops"] if op[0] == "done"] == [["done", 1], ["done", 2], ["done", 3]]


async def test_progress_of_a_tool_goes_out_with_only_the_last_note_of_each_call(valkey):
    async with flushing() as flusher:
        writer = Writer(flusher)
        for percent in range(100):
            flusher.add(writer.lane, ToolProgressed("call", f"{percent} %", percent / 100))
        await flusher.settle(writer.lane)
        frames = await writer.frames()
    assert [frame["progress"] for frame in frames] == [[["call", "99 %", 0.99]]]


async def test_text_that_redis_missed_is_sent_when_it_is_back(own_valkey):
    async with flushing() as flusher:
        writer = Writer(flusher)
        writer.opens()
        writer.say("before ")
        await flusher.settle(writer.lane)
        own_valkey.stop()
        writer.say("meanwhile ")
        await flusher.settle(writer.lane)
        own_valkey.start()
        writer.say("after")
        while (opened := await live.snapshot(writer.lane.run)) is None or not opened.text.endswith("after"):
            await asyncio.sleep(0.02)
    assert opened.text == "before meanwhile after"


async def test_a_server_that_forgot_everything_gets_the_whole_text_again(valkey):
    async with flushing() as flusher:
        writer = Writer(flusher)
        writer.opens()
        writer.say("one ")
        await flusher.settle(writer.lane)
        valkey.client.flushall()
        writer.say("two")
        await flusher.settle(writer.lane)
        opened = await live.snapshot(writer.lane.run)
    assert (opened.text, opened.message) == ("one two", writer.message)


async def test_a_frame_that_arrives_late_says_nothing_about_the_next_message():
    flusher = Flusher(WINDOW_S, asyncio.get_running_loop().time)
    writer = Writer(flusher)
    writer.say("the end of one message")
    late = writer.lane.ship(0.0)
    writer.lane.moved(2, closed=True)
    other = Writer(flusher)
    other.lane = writer.lane
    other.say("the next")
    writer.lane.arrived(late, 1)
    shipped = writer.lane.ship(1.0)
    assert (shipped.text, writer.lane.waits) == ("the next", True)


async def test_without_redis_a_run_is_neither_blocked_nor_failed(own_valkey):
    own_valkey.stop()
    async with flushing() as flusher:
        writer = Writer(flusher)
        begun = asyncio.get_running_loop().time()
        for number in range(50):
            writer.say(str(number))
            await flusher.settle(writer.lane)
        assert asyncio.get_running_loop().time() - begun < 5


@pytest.mark.parametrize("lanes", [1, 20])
async def test_a_second_of_tokens_makes_no_more_frames_than_windows(valkey, lanes):
    async with flushing(window_s=0.1) as flusher:
        writers = [Writer(flusher) for _ in range(lanes)]
        for writer in writers:
            writer.opens()
        loop = asyncio.get_running_loop()
        end = loop.time() + 1.0
        while loop.time() < end:
            for writer in writers:
                writer.say("token ")
            await asyncio.sleep(0.005)
        for writer in writers:
            await flusher.settle(writer.lane)
        for writer in writers:
            frames = await writer.frames()
            assert 3 <= len(frames) <= 20  # at least half a window apart, and about as many as windows
            assert len(told(frames)) == writer.lengths[DeltaKind.TEXT]


@pytest.mark.parametrize(("listeners", "windows"), [(1, 1), (0, 4)])
async def test_what_nobody_watches_may_gather_for_longer(listeners, windows):
    flusher = Flusher(WINDOW_S, asyncio.get_running_loop().time)
    lanes = [Writer(flusher).lane for _ in range(50)]
    for lane in lanes:
        lane.listeners = listeners
    rests = [flusher.rest_s(lane) / WINDOW_S for lane in lanes]
    assert windows * (0.5 - TICK_S / WINDOW_S) <= min(rests) < 0.75 * windows
    assert 1.25 * windows < max(rests) <= 1.5 * windows


@pytest.mark.parametrize("rested", [True, False])
async def test_words_that_gathered_for_as_long_as_they_should_leave_at_once(rested):
    now = 100.0
    flusher = Flusher(WINDOW_S, lambda: now)
    writer = Writer(flusher)
    now += flusher.rest_s(writer.lane) if rested else WINDOW_S
    writer.lane.sent_at = now - 0.001  # what came before left late
    writer.say("words")
    assert (writer.lane.due == now) is rested


async def test_the_more_runs_are_watched_the_longer_the_words_of_each_gather(valkey):
    watcher = valkey.client.pubsub()
    watcher.psubscribe("aw:c:*")
    async with flushing() as flusher:
        writers = [Writer(flusher) for _ in range(90)]
        for writer in writers:
            writer.opens()
            writer.say("word")
        await asyncio.gather(*(flusher.settle(writer.lane) for writer in writers))
        writers[0].say("word")
        await flusher.settle(writers[0].lane)
        rests = [flusher.rest_s(writer.lane) for writer in writers]
    assert max(rests) > 90 / FRAMES_A_SECOND
    assert min(rests) >= 90 / FRAMES_A_SECOND / 2 - TICK_S
