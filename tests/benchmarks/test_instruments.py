"""What the proofs count with notices what it is there to notice."""

import json
from pathlib import Path

import pytest

from benchmarks.crashing import CrashSite
from benchmarks.pages import Hole, Page
from benchmarks.recorded import Exchange, common, exchanges
from benchmarks.rows import Rows
from tests.crash.traces import Traces


def token(number: int) -> str:
    return f"{number}@{1_700_000_000_000_000 + number} "


def page_with(*ops: list[object]) -> Page:
    """A page that was sent these operations, one a frame."""
    page = Page({}, "conversation")
    for number, op in enumerate(ops, 1):
        before, at = f"0-{number - 1}", f"0-{number}"
        page.take({"run": "r", "message": "m", "p": before, "c": at, "ops": [op]})
    return page


def html(*numbers: int) -> list[object]:
    return ["html", 0, f"<p>{''.join(map(token, numbers))}</p>"]


@pytest.mark.parametrize(
    ("ops", "lost", "doubled", "disordered"),
    [
        ([html(0, 1), ["text", 0, len(token(0) * 2), token(2)]], 0, 0, 0),
        ([html(0, 2)], 1, 0, 0),
        ([html(0, 1, 1, 2)], 0, 1, 0),
        ([html(0, 2, 1)], 0, 0, 1),
        ([html(0, 2), html(0, 1, 2)], 1, 0, 0),
    ],
    ids=["all", "lost", "doubled", "in disorder", "lost for a moment"],
)
def test_a_page_counts_what_is_wrong_at_any_moment(ops: list[list[object]], lost: int, doubled: int, disordered: int):
    page = page_with(*ops)
    page.final = [0, 1, 2]
    told = page.told(tokens=3)
    assert (told["lost"], told["doubled"], told["disordered"]) == (lost, doubled, disordered)


def test_a_page_counts_what_its_card_lacks():
    page = page_with(html(0, 1, 2))
    page.final = [0, 1]
    assert page.told(tokens=3)["lost"] == 1


def test_a_page_asks_again_for_a_frame_that_does_not_join_on_and_drops_one_that_it_has_had():
    page = page_with(html(0))
    page.take({"run": "r", "message": "m", "p": "0-0", "c": "0-1", "ops": [html(0, 0)]})
    with pytest.raises(Hole):
        page.take({"run": "r", "message": "m", "p": "0-5", "c": "0-6", "ops": [html(0, 1)]})
    assert (page.doubled, page.holes) == (0, 1)


def test_effects_that_happened_twice_are_those_of_tools_that_may_not(tmp_path: Path):
    traces = Traces(tmp_path)
    for key in ("pay-1", "pay-1", "ask-2", "look-1", "look-1", "set-1", "set-1"):
        traces.note("tool", key)
    assert CrashSite(None, traces, Rows("")).twice() == {"pay-1": 2}  # type: ignore[arg-type]


def test_prompts_are_compared_in_the_order_in_which_they_are_read(tmp_path: Path):
    asked = {"model": "m", "messages": [{"role": "user", "content": "one"}], "tools": [{"name": "t"}]}
    more = {**asked, "messages": [*asked["messages"], {"role": "assistant", "content": "two"}]}
    told = [{"key": key, "arrived": at, "ended": at, "body": json.dumps(body)} for key, at, body in
            (("a", 2, more), ("b", 3, asked), ("a", 1, asked))]  # fmt: skip
    (tmp_path / "record").write_text("".join(json.dumps(each) + "\n" for each in told))

    first, second = exchanges(tmp_path / "record", "a")

    assert first.prompt == b'{"name":"t"}\n{"role":"user","content":"one"}'
    assert common(first.prompt, second.prompt) == len(first.prompt)
    other = Exchange("a", 4, 4, json.dumps({**asked, "tools": [{"name": "u"}]}))
    assert common(first.prompt, other.prompt) == len(b'{"name":"')
