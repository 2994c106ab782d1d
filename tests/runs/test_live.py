"""Following a run: every event and every word once, whatever breaks on the way."""

import asyncio
import random
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from agentweb.engine.events import TurnFinished
from agentweb.runs import journal, live
from agentweb.runs.live import START, Cursor, scripts
from agentweb.runs.live.hub import Mailbox, Notice
from agentweb.runs.live.publish import publisher
from tests.author import Author, claimed_run, in_thread

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Reader:
    """What a program keeps of the frames: events by number, texts by message."""

    run: str
    conversation: str
    cursor: Cursor = START
    events: list[int] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    finished: bool = False
    broken: list[str] = field(default_factory=list)

    async def read(self, frames_at_most: int = 10**9) -> None:
        async with aclosing(live.follow(self.run, self.conversation, self.cursor)) as frames:
            async for frame in frames:
                self.take(frame)
                frames_at_most -= 1
                if frames_at_most <= 0 or self.finished:
                    return

    def take(self, frame) -> None:
        if "c" not in frame:
            return
        place = Cursor.parse(frame["c"])
        if place <= self.cursor:
            self.broken.append(f"{place} after {self.cursor}")
        if frame["p"] != str(self.cursor):
            self.broken.append(f"{place} says it follows {frame['p']}, not {self.cursor}")
        self.cursor = place
        self.events += [event["number"] for event in frame.get("events", ())]
        self.finished = any(event["kind"] == "RunFinished" for event in frame.get("events", ()))
        if "snapshot" in frame:
            self.texts[frame["snapshot"]["message"]] = frame["snapshot"]["text"]
        for kind, offset, piece in frame.get("deltas", ()):
            known = self.texts.get(frame["message"], "")
            if kind != "text":
                continue
            if offset != len(known):
                self.broken.append(f"text at {offset}, known up to {len(known)}")
            self.texts[frame["message"]] = known[:offset] + piece


def reader_of(author: Author) -> Reader:
    return Reader(author.claimed.run, author.claimed.conversation)


async def until_seen(state: Callable[[], bool], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not state():
            await asyncio.sleep(0.01)


def assert_whole(reader: Reader, author: Author) -> None:
    assert reader.broken == []
    assert reader.events == list(range(1, author.events + 1))


async def test_a_reader_gets_every_event_and_every_word_in_order(valkey):
    async with claimed_run() as author:
        reader = reader_of(author)
        reading = asyncio.create_task(reader.read())
        await author.answer(turns=2, words=30, pause_s=0.002, dice=random.Random(1))
        await asyncio.wait_for(reading, 30)
    assert_whole(reader, author)
    assert reader.texts == author.texts


@pytest.mark.parametrize("seed", range(6))
async def test_readers_that_break_off_at_any_moment_still_end_with_the_same_text(valkey, seed):
    dice = random.Random(seed)
    async with claimed_run() as author:
        readers = [reader_of(author) for _ in range(4)]

        async def stubborn(reader: Reader) -> None:
            while not reader.finished:
                await reader.read(frames_at_most=dice.randint(1, 6))
                await asyncio.sleep(dice.random() * 0.05)

        reading = asyncio.gather(*map(stubborn, readers))
        await author.answer(turns=3, words=40, pause_s=0.003, dice=dice)
        await asyncio.wait_for(reading, 30)
    for reader in readers:
        assert_whole(reader, author)
        assert {key: author.texts[key] for key in reader.texts} == reader.texts


async def test_a_late_reader_gets_the_open_text_at_once_and_the_rest_behind_it(valkey):
    async with claimed_run() as author:
        await author.request(1)
        for number in range(300):
            author.say(f"{number} ")
            if number % 2:
                await author.flusher.settle(author.lane)
        valkey.client.xtrim(f"aw:{{{author.claimed.run}}}:s", maxlen=5, approximate=False)
        reader = reader_of(author)
        reading = asyncio.create_task(reader.read())
        while author.text not in reader.texts.values():
            await asyncio.sleep(0.01)
        author.say("end")
        await author.finish(1)
        await author.end()
        await asyncio.wait_for(reading, 30)
    assert_whole(reader, author)
    assert reader.texts == author.texts


async def test_words_that_come_while_a_reader_catches_up_are_not_skipped_for_the_end_of_their_message(valkey):
    async with claimed_run() as author:
        reader = reader_of(author)
        await author.request(1)
        await asyncio.wait_for(reader.read(frames_at_most=3), 30)
        assert reader.events == [1, 2, 3, 4]
        author.say("one ")
        await author.flusher.settle(author.lane)
        async with aclosing(live.follow(reader.run, reader.conversation, reader.cursor)) as frames:
            reader.take(await anext(frames))
            author.say("two")
            await author.finish(1)
            await author.end()
            async for frame in frames:
                reader.take(frame)
    assert_whole(reader, author)
    assert reader.texts == author.texts


async def test_a_finished_run_is_told_from_the_rows_when_redis_has_forgotten_it(valkey):
    async with claimed_run() as author:
        await author.answer(turns=2, words=3, pause_s=0, dice=random.Random(2))
        valkey.client.flushall()
        reader = reader_of(author)
        await asyncio.wait_for(reader.read(), 30)
    assert_whole(reader, author)


async def test_events_whose_frames_were_lost_are_found_in_the_rows(valkey, settings):
    async with claimed_run() as author:
        reader = reader_of(author)
        reading = asyncio.create_task(reader.read())
        await author.request(1)
        await until_seen(lambda: len(reader.events) == 4)
        url, settings.REDIS_URL = settings.REDIS_URL, ""
        await in_thread(journal.append, author.claimed, (TurnFinished(1),))
        author.events = 5
        author.lane.moved(5, closed=True)
        settings.REDIS_URL = url
        await author.request(2)
        author.say("words")
        await until_seen(lambda: reader.texts.get(author.message) == "words")
        await author.finish(2)
        await author.end()
        await asyncio.wait_for(reading, 30)
    assert_whole(reader, author)


async def test_a_server_that_restarts_in_the_middle_costs_neither_event_nor_word(own_valkey):
    async with claimed_run() as author:
        reader = reader_of(author)
        reading = asyncio.create_task(reader.read())
        await author.request(1)
        author.say("before ")
        await author.flusher.settle(author.lane)
        own_valkey.stop()
        author.say("meanwhile ")
        await author.record(TurnFinished(1))
        await author.request(2)
        author.say("unseen ")
        own_valkey.start()
        publisher(own_valkey.url)._silent_until = 0.0
        author.say("after")
        while reader.texts.get(author.message) != "unseen after":
            await asyncio.sleep(0.02)
        await author.finish(2)
        await author.end()
        await asyncio.wait_for(reading, 30)
    assert reader.broken == []
    assert reader.events == list(range(1, author.events + 1))
    assert reader.texts[author.message] == "unseen after"


async def test_a_reader_that_sleeps_through_five_hundred_events_gets_them_all(valkey):
    async with claimed_run() as author:
        reader, awake = reader_of(author), asyncio.Event()

        async def sleepy() -> None:
            async with aclosing(live.follow(reader.run, reader.conversation, reader.cursor)) as frames:
                async for frame in frames:
                    reader.take(frame)
                    await awake.wait()

        reading = asyncio.create_task(sleepy())
        for _ in range(125):
            await author.record(*(TurnFinished(1) for _ in range(4)))
        await author.end()
        awake.set()
        await asyncio.wait_for(reading, 30)
    assert_whole(reader, author)


async def test_without_redis_the_rows_alone_keep_a_reader_going(own_valkey):
    own_valkey.stop()
    async with claimed_run() as author:
        reader = reader_of(author)
        reading = asyncio.create_task(reader.read())
        await author.answer(turns=2, words=2, pause_s=0.01, dice=random.Random(3))
        await asyncio.wait_for(reading, 30)
    assert_whole(reader, author)


async def test_a_conversation_goes_on_with_its_next_run(valkey):
    async with claimed_run() as author:
        seen: asyncio.Queue[str] = asyncio.Queue()

        async def watch() -> None:
            conversation, run = author.claimed.conversation, author.claimed.run
            async with aclosing(live.follow_conversation(conversation, run, Cursor(2))) as frames:
                async for frame in frames:
                    if "events" in frame:
                        seen.put_nowait(f"{frame['run']} {frame['events'][-1]['kind']}")

        watching = asyncio.create_task(watch())
        await author.end()
        ended = await asyncio.wait_for(seen.get(), 30)
        following = str(uuid4())
        live.publish_events(
            run=following,
            conversation=author.claimed.conversation,
            last=1,
            kinds=["RunStarted"],
            cards=[("run", following)],
            status="queued",
            epoch=0,
        )
        begun = await asyncio.wait_for(seen.get(), 30)
        watching.cancel()
    assert [ended, begun] == [f"{author.claimed.run} RunFinished", f"{following} RunStarted"]


async def test_a_mailbox_that_overflows_forgets_its_frames_and_says_so_once():
    mailbox = Mailbox(limit=3)
    for number in range(5):
        mailbox.put({"number": number})
    assert await mailbox.get(0.01) is Notice.LOOK_AGAIN
    assert await mailbox.get(0.01) == {"number": 4}
    assert await mailbox.get(0.01) is Notice.SILENCE


@pytest.mark.parametrize("text, cursor", [("5", (5, 0)), ("5-3", (5, 3)), ("0-0", (0, 0))])
def test_cursors_are_read(text, cursor):
    assert Cursor.parse(text) == cursor


@pytest.mark.parametrize("text", ["", "-1", "5-", "5-3-1", "x", "٣", "5-99999999999999999999"])
def test_what_is_no_cursor_is_refused(text):
    with pytest.raises(ValueError):
        Cursor.parse(text)


def test_an_event_that_comes_late_is_not_published_behind_a_later_one(valkey):
    run, conversation = str(uuid4()), str(uuid4())
    for last in (3, 2):
        live.publish_events(
            run=run, conversation=conversation, last=last, kinds=["TurnFinished"], cards=[], status="running", epoch=1
        )
    entries = valkey.client.xrange(f"aw:{{{run}}}:s")
    assert [key for key, _fields in entries] == ["3-0"]
    assert scripts.Written.REFUSED == -1
