"""What real servers sent, one file for each kind of trouble, and what must have come of it."""

import json
from pathlib import Path
from typing import Any

from tests.llm.asking import CANARY, Outcome
from tests.llm.fake_provider import frame_bytes

CASES = {path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "streams").glob("*.json"))}


def is_plain(case: dict[str, Any]) -> bool:
    """Its frames are bytes of one body, and nothing else."""
    return all(isinstance(frame, str) or "bytes_b64" in frame for frame in case["frames"])


PLAIN = [name for name, case in CASES.items() if is_plain(case)]


def body_of(case: dict[str, Any], line_end: str = "\n") -> bytes:
    body = b"".join(frame_bytes(frame) for frame in case["frames"]).replace(b"\r\n", b"\n")
    return body.replace(b"\n", line_end.encode())


def check(case: dict[str, Any], outcome: Outcome) -> None:
    expect = case["expect"]
    assert (outcome.text, outcome.thinking) == (expect["content"], expect["reasoning"])
    if expect["error"]:
        _check_error(expect["error"], outcome)
        return
    assert outcome.error is None and outcome.reply
    reply = outcome.reply
    assert (reply.text, reply.thinking, reply.finish.value) == (outcome.text, outcome.thinking, expect["finish"])
    assert [_seen(call, wanted) for call, wanted in zip(reply.calls, expect["tool_calls"], strict=True)] == [
        {"invalid": False, "recovered": False, **wanted} for wanted in expect["tool_calls"]
    ]
    for call in reply.calls:
        assert call.invalid is None or call.invalid.value == expect["invalid_reason"]
    ids = [call.id for call in reply.calls]
    assert all(ids) and len(set(ids)) == len(ids)
    if "usage" in expect:
        usage = expect["usage"]
        spent = (reply.usage.input_tokens, reply.usage.output_tokens)
        assert spent == (usage["prompt_tokens"], usage["completion_tokens"])
    assert ("usage_estimated" in reply.extra) == ("usage" not in expect)


def _seen(call: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    seen = {"name": call.name, "arguments": call.arguments, "invalid": bool(call.invalid), "recovered": call.recovered}
    return {**seen, "id": call.provider_id} if "id" in wanted else seen


def _check_error(wanted: dict[str, Any], outcome: Outcome) -> None:
    error = outcome.error
    assert error
    assert (error.kind.value, error.retryable) == (wanted["kind"], wanted["retryable"])
    assert wanted.get("message_contains", "") in error.message
    assert error.code == wanted.get("code", error.code)
    assert CANARY not in f"{error.message}{error!r}"
