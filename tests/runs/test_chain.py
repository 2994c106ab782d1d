"""A record that was tampered with says where."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agentweb.runs import chain
from agentweb.runs.chain import Broken, Fault, Head, Link, check, next_hash, payload_digest

RUN = "0f0e0d0c-0b0a-4908-8706-050403020100"
KINDS = ("RunStarted", "RunClaimed", "TurnStarted", "ModelRequested", "RunFinished")
START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)

Record = tuple[Head, list[Link]]


def chained(links: list[Link], first: int = 0) -> list[Link]:
    """The links with hashes that fit, as someone could compute who can write the database."""
    done = links[:first]
    for link in links[first:]:
        digest = payload_digest(link.payload)
        before = done[-1].hash if done else ""
        proper = next_hash(before=before, run=RUN, number=link.number, kind=link.kind, at=link.at, digest=digest)
        done.append(replace(link, payload_digest=digest, hash=proper))
    return done


def whole() -> Record:
    links = chained(
        [
            Link(number, kind, START + timedelta(seconds=number), f'{{"n":{number}}}', "", "")
            for number, kind in enumerate(KINDS, 1)
        ]
    )
    return signed(links), links


def signed(links: list[Link]) -> Head:
    number, last = len(links), links[-1].hash
    return Head(RUN, number, last, chain.sign(run=RUN, number=number, head=last))


def changed(place: int, **values: object) -> Callable[[], Record]:
    def tamper() -> Record:
        head, links = whole()
        links[place] = replace(links[place], **values)
        return head, links

    return tamper


def without(*places: int) -> Callable[[], Record]:
    def tamper() -> Record:
        head, links = whole()
        return head, [link for place, link in enumerate(links) if place not in places]

    return tamper


def renumbered() -> Record:
    """One event taken out and those behind it moved up, so that the numbers have no gap."""
    head, links = whole()
    return head, links[:2] + [replace(link, number=link.number - 1) for link in links[3:]]


def appended() -> Record:
    head, links = whole()
    more = Link(6, "ToolFinished", START, "{}", "", "")
    return head, chained([*links, more], first=5)


def put_in_between() -> Record:
    """One event more, those behind it moved down, and no new hashes."""
    head, links = whole()
    forged = replace(links[2], payload='{"n":"forged"}', payload_digest=payload_digest('{"n":"forged"}'))
    return head, links[:2] + [forged] + [replace(link, number=link.number + 1) for link in links[2:]]


def rewritten() -> Record:
    """Another payload and a new chain from there on, the head as it was."""
    head, links = whole()
    links[2] = replace(links[2], payload='{"n":"forged"}')
    return head, chained(links, first=2)


def rewritten_with_its_head() -> Record:
    head, links = rewritten()
    return replace(head, hash=links[-1].hash), links


def cut_with_its_head() -> Record:
    """The tail is gone, and the run says that there never was one."""
    head, links = whole()
    return replace(head, last_event=3, hash=links[2].hash), links[:3]


def signature_of_another_run() -> Record:
    head, links = whole()
    other = "ffffffff-0b0a-4908-8706-050403020100"
    return replace(head, signature=chain.sign(run=other, number=5, head=head.hash)), links


def without_signature() -> Record:
    head, links = whole()
    return replace(head, signature=""), links


CASES = [
    (changed(1, payload='{"n":"other"}'), Broken(Fault.PAYLOAD, 2, "RunClaimed")),
    (changed(1, payload_digest="0" * 64), Broken(Fault.PAYLOAD, 2, "RunClaimed")),
    (changed(2, kind="RunResumed"), Broken(Fault.CHAIN, 3, "RunResumed")),
    (changed(2, at=START), Broken(Fault.CHAIN, 3, "TurnStarted")),
    (changed(2, hash="0" * 64), Broken(Fault.CHAIN, 3, "TurnStarted")),
    (changed(2, number=4), Broken(Fault.REMOVED, 3)),
    (changed(2, number=1), Broken(Fault.ADDED, 1, "TurnStarted")),
    (changed(0, payload='{"n":"other"}'), Broken(Fault.PAYLOAD, 1, "RunStarted")),
    (without(0), Broken(Fault.REMOVED, 1)),
    (without(2), Broken(Fault.REMOVED, 3)),
    (without(4), Broken(Fault.REMOVED, 5)),
    (without(3, 4), Broken(Fault.REMOVED, 4)),
    (without(0, 1, 2, 3, 4), Broken(Fault.REMOVED, 1)),
    (renumbered, Broken(Fault.CHAIN, 3, "ModelRequested")),
    (appended, Broken(Fault.ADDED, 6, "ToolFinished")),
    (put_in_between, Broken(Fault.CHAIN, 3, "TurnStarted")),
    (rewritten, Broken(Fault.HEAD, 5)),
    (rewritten_with_its_head, Broken(Fault.SIGNATURE, 5)),
    (cut_with_its_head, Broken(Fault.SIGNATURE, 3)),
    (signature_of_another_run, Broken(Fault.SIGNATURE, 5)),
    (without_signature, Broken(Fault.SIGNATURE, 5)),
]


def test_a_record_that_nobody_touched_is_whole():
    assert check(*whole()) is None


@pytest.mark.parametrize(("tampered", "found"), CASES)
def test_the_first_event_that_does_not_fit_is_named(tampered, found):
    assert check(*tampered()) == found


def test_the_same_moment_in_another_zone_is_no_change():
    head, links = whole()
    there = [replace(link, at=link.at.astimezone(tz=None)) for link in links]
    assert check(head, there) is None


def test_a_signature_by_a_key_that_was_replaced_still_counts(settings):
    head, links = whole()
    settings.SECRET_KEY, old = "a new key for tests, just as long as the old one was", settings.SECRET_KEY
    assert check(head, links) == Broken(Fault.SIGNATURE, 5)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert check(head, links) is None
