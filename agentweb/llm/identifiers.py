"""Ids of calls as servers want them: what one server makes up itself, another may refuse."""

import re
from collections.abc import Sequence
from hashlib import sha256
from urllib.parse import urlsplit

from agentweb.engine.messages import AssistantMessage, Message

# By the end of the host's name; the first that fits.
_BY_HOST = (
    ("mistral.ai", re.compile(r"[A-Za-z0-9]{9}\Z")),
    ("anthropic.com", re.compile(r"[A-Za-z0-9_-]{1,64}\Z")),
    ("openai.com", re.compile(r"[\x21-\x7e]{1,40}\Z")),
    ("azure.com", re.compile(r"[\x21-\x7e]{1,40}\Z")),
)
ANY_SERVER = re.compile(r"[\x21-\x7e]{1,64}\Z")
_DIGEST = 9  # characters that every server takes


def accepted_ids(base_url: str) -> re.Pattern[str]:
    """What an id must look like for the server at this address."""
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:
        return ANY_SERVER
    return next((form for end, form in _BY_HOST if host == end or host.endswith(f".{end}")), ANY_SERVER)


def wire_ids(messages: Sequence[Message], accepted: re.Pattern[str] = ANY_SERVER) -> dict[tuple[int, int], str]:
    """By (message, call) position: the server's own id where it may go back and no call before has it, else ours."""
    ids: dict[tuple[int, int], str] = {}
    used: set[str] = set()
    for position, message in enumerate(messages):
        for at, call in enumerate(message.calls if isinstance(message, AssistantMessage) else ()):
            fitting = (one for one in (call.provider_id, call.id) if accepted.match(one) and one not in used)
            choice = next(fitting, None) or _made(f"{call.id} {position} {at}", used)
            used.add(choice)
            ids[position, at] = choice
    return ids


def _made(seed: str, used: set[str]) -> str:
    """An id of letters and digits alone, always the same for the same call."""
    while True:
        seed = sha256(seed.encode("utf-8", "replace")).hexdigest()
        if seed[:_DIGEST] not in used:
            return seed[:_DIGEST]
