"""Answers that are kept: given again only where they belong, to the same question, for as long as they hold."""

import asyncio
from dataclasses import replace

import pytest
from django.core.cache import cache

from agentweb.engine.ports import Output, ToolSpec
from agentweb.runs.kept_answers import LARGEST, KeptAnswers

SHARED = ToolSpec("weather", "Weather", "", {}, reads=True, deterministic=True, shared=True, digest="d1", keep_s=60)
OWN = replace(SHARED, shared=False)
MINE = KeptAnswers(team=1, conversation=1)
ARGUMENTS = {"city": "Rome", "days": 1}


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


def kept(tool: ToolSpec, place: KeptAnswers, arguments=ARGUMENTS, *, given: ToolSpec | None = None) -> bool:
    """Whether the place finds what was kept in the first team's first conversation."""

    async def both():
        await MINE.keep(given or tool, ARGUMENTS, Output("sun", "all of the sun"))
        return await place.look(tool, arguments)

    found = asyncio.run(both())
    assert found is None or (found.output == Output("sun", "all of the sun") and 0 <= found.age_s < 60)
    return found is not None


@pytest.mark.parametrize(
    ("tool", "place", "finds"),
    [
        (SHARED, KeptAnswers(1, 1), True),
        (SHARED, KeptAnswers(1, 2), True),
        (SHARED, KeptAnswers(2, 1), False),
        (OWN, KeptAnswers(1, 1), True),
        (OWN, KeptAnswers(1, 2), False),
        (OWN, KeptAnswers(2, 1), False),
    ],
    ids=["here", "same team", "other team", "own workspace", "other workspace", "other team's"],
)
def test_nobody_gets_an_answer_from_a_place_that_is_not_theirs(tool, place, finds):
    assert kept(tool, place) is finds


@pytest.mark.parametrize(
    ("tool", "arguments", "finds"),
    [
        (SHARED, {"days": 1, "city": "Rome"}, True),
        (SHARED, {"days": 1.0, "city": "Rome"}, True),
        (SHARED, {"days": 2, "city": "Rome"}, False),
        (replace(SHARED, digest="d2"), ARGUMENTS, False),
        (replace(SHARED, name="other"), ARGUMENTS, False),
    ],
    ids=["other order", "same number", "other number", "other definition", "other tool"],
)
def test_only_the_same_question_to_the_same_tool_has_the_answer(tool, arguments, finds):
    assert kept(tool, MINE, arguments, given=SHARED) is finds


def test_an_answer_is_not_given_for_longer_than_the_tool_says_now():
    assert not kept(replace(SHARED, keep_s=0), MINE, given=SHARED)


def test_a_large_answer_is_not_kept():
    asyncio.run(MINE.keep(SHARED, ARGUMENTS, Output("x" * (LARGEST + 1))))
    assert asyncio.run(MINE.look(SHARED, ARGUMENTS)) is None
