"""A few of the ways in which `python -m tests.llm.mutations` damages answers; the same ones on every machine."""

import pytest

from tests.llm.mutations import attack


@pytest.mark.parametrize("seed", [1, 2])
async def test_damaged_answers_come_to_a_whole_message_or_a_named_error(seed):
    seen, problems = await attack(200, seed)
    assert problems == []
    assert {"stream_interrupted", "bad_response", "tool_calls", "stop"} <= set(seen), "all kinds of ends are tried"
