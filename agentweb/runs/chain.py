"""The hash chain of a run's events.

Each hash covers the hash before it and the canonical text of the event with the *digest* of its payload, so a payload
may be erased later without breaking the chain. The run carries the last hash signed, so that a cut tail shows.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

SALT = "agentweb.runs.chain"


def payload_digest(payload: str) -> str:
    return hashlib.sha256(payload.encode()).hexdigest()


def next_hash(*, before: str, run: str, number: int, kind: str, at: datetime, digest: str) -> str:
    """SHA-256, in hex, of one event's place in the chain. ``at`` knows its time zone."""
    moment = at.astimezone(UTC).isoformat()
    place = {"at": moment, "before": before, "digest": digest, "kind": kind, "number": number, "run": run}
    text = json.dumps(place, separators=(",", ":"))  # the canonical text: names in order, and ASCII alone
    return hashlib.sha256(text.encode()).hexdigest()


def sign(*, run: str, number: int, head: str, key: str | None = None) -> str:
    """HMAC of the run's last hash under the site's secret key, or under ``key``."""
    return salted_hmac(SALT, f"{run}:{number}:{head}", secret=key, algorithm="sha256").hexdigest()


def is_ours(*, run: str, number: int, head: str, signature: str) -> bool:
    """Whether the site signed this head, with its key or with one that it used before."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(constant_time_compare(sign(run=run, number=number, head=head, key=key), signature) for key in keys)


# --- checking -------------------------------------------------------------------------------------------------------


class Fault(StrEnum):
    """What can be wrong with a record."""

    REMOVED = "removed"
    ADDED = "added"
    PAYLOAD = "payload"
    CHAIN = "chain"
    HEAD = "head"
    SIGNATURE = "signature"


@dataclass(frozen=True, slots=True)
class Link:
    """One event as it is stored now."""

    number: int
    kind: str
    at: datetime
    payload: str
    payload_digest: str
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """What the run itself says about its record: how many events, the last hash, and that hash signed."""

    run: str
    last_event: int
    hash: str
    signature: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The first thing that is wrong, and the number of the event that it is about."""

    fault: Fault
    number: int
    kind: str = ""


def check(head: Head, links: Iterable[Link], *, signed: Callable[..., bool] = is_ours) -> Broken | None:
    """None for a record that is whole, else the first event that was changed, removed or added.

    ``links`` come in the order of their numbers. Whoever can write the database can compute a new chain, but not sign
    its head: then the signature is what shows."""
    last = ""
    expected = 1
    for link in links:
        if broken := _broken(head, link, expected, last):
            return broken
        last, expected = link.hash, expected + 1
    if expected <= head.last_event:
        return Broken(Fault.REMOVED, expected)
    if last != head.hash:
        return Broken(Fault.HEAD, head.last_event)
    if not signed(run=head.run, number=head.last_event, head=head.hash, signature=head.signature):
        return Broken(Fault.SIGNATURE, head.last_event)
    return None


def _broken(head: Head, link: Link, expected: int, before: str) -> Broken | None:
    if link.number > expected:
        return Broken(Fault.REMOVED, expected)
    if link.number < expected or link.number > head.last_event:
        return Broken(Fault.ADDED, link.number, link.kind)
    if payload_digest(link.payload) != link.payload_digest:
        return Broken(Fault.PAYLOAD, link.number, link.kind)
    proper = next_hash(
        before=before, run=head.run, number=link.number, kind=link.kind, at=link.at, digest=link.payload_digest
    )
    return None if link.hash == proper else Broken(Fault.CHAIN, link.number, link.kind)
