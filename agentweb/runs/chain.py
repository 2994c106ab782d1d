"""The hash chain of a run's events.

Each hash covers the hash before it and the canonical text of the event with the *digest* of its payload, so a payload
may be erased later without breaking the chain. The run carries the last hash signed, so that a cut tail shows.
"""

import hashlib
from datetime import datetime

from django.utils.crypto import salted_hmac

from agentweb.schema.json_text import canonical

SALT = "agentweb.runs.chain"


def payload_digest(payload: str) -> str:
    return hashlib.sha256(payload.encode()).hexdigest()


def next_hash(*, before: str, run: str, number: int, kind: str, at: datetime, digest: str) -> str:
    """SHA-256, in hex, of one event's place in the chain. ``at`` is in UTC."""
    text = canonical(
        {"before": before, "run": run, "number": number, "kind": kind, "at": at.isoformat(), "digest": digest}
    )
    return hashlib.sha256(text.encode()).hexdigest()


def sign(*, run: str, number: int, head: str) -> str:
    """HMAC of the run's last hash under the site's secret key."""
    return salted_hmac(SALT, f"{run}:{number}:{head}", algorithm="sha256").hexdigest()
