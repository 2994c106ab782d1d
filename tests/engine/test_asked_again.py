"""A yes binds to what was shown: what is different right before the call is asked about again."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import pytest

from agentweb.engine.digest import call_digest, preview_digest
from agentweb.engine.enums import Risk
from agentweb.engine.events import (
    PreviewRenewed,
)
from agentweb.engine.messages import Json
from agentweb.engine.ports import Allow, Ask, Decision, Deny, Output, Preview
from tests.engine.fakes import tool
from tests.engine.scripted_model import call
from tests.engine.test_approvals import APPROVE, MODIFY, paused, runs


@pytest.mark.parametrize("what", ["definition", "rule", "digest", "comment"])
async def test_a_decision_about_something_else_is_asked_again(what: str) -> None:
    shell = await paused(call("a", x=1))
    shell.decide("a", APPROVE)
    used = shell.tools.tools["write"]
    if what == "definition":
        used.spec = replace(used.spec, digest="write-2")
    elif what == "rule":
        shell.policy.rules["write"] = Ask("high asks", Risk.HIGH)
    elif what == "digest":
        shell.decisions["a"] = replace(shell.decisions["a"], digest="of another card")
    else:
        shell.policy.rules["write"] = Ask("medium asks", Risk.MEDIUM, requires_comment=True)

    await shell.resume()

    assert shell.kinds[-1] == "ApprovalDecided ApprovalRequested RunPaused"
    assert shell.approval("a").replaces == "n2"
    assert runs(shell) == []

    shell.decide("a", APPROVE, comment="yes")
    await shell.resume()
    assert runs(shell) == [{"x": 1}]


ONE, TWO = Preview("Changes a.txt", "text", {"text": "one"}), Preview("Changes a.txt", "text", {"text": "two"})


@pytest.mark.parametrize(
    ("before", "now", "runs_then"),
    [
        (ONE, ONE, True),
        (ONE, Preview("Changes a.txt", "text", {"text": "one"}), True),
        (ONE, TWO, False),
        (ONE, None, False),
        (None, ONE, False),
        (ONE, ValueError("bug"), False),
        (ValueError("bug"), ONE, False),
        (ValueError("bug"), ValueError("bug"), True),
        (None, None, True),
    ],
    ids=["same", "equal", "other", "none by now", "one by now", "fails by now", "failed then", "always fails", "never"],
)
async def test_a_call_that_would_do_something_else_than_was_seen_is_asked_about_again(
    before: Preview | Exception | None, now: Preview | Exception | None, runs_then: bool
) -> None:
    used = tool("write")
    used.shows = before
    shell = await paused(call("a", x=1), used=used)
    shell.decide("a", APPROVE)
    used.shows = now

    await shell.resume()

    assert bool(runs(shell)) is runs_then
    if not runs_then:
        assert shell.kinds[-1] == "ApprovalDecided ApprovalRequested RunPaused"
        assert shell.approval("a").replaces == "n2"
        shell.decide("a", APPROVE)
        await shell.resume()
        assert runs(shell) == [{"x": 1}]


async def test_a_change_made_by_the_call_before_asks_again_about_the_next() -> None:
    async def changes(_arguments: Mapping[str, Json]) -> AsyncIterator[Output]:
        used.shows = TWO
        yield Output("done")

    used = tool("write", changes)
    used.shows = ONE
    shell = await paused(call("a", x=1), call("b", x=2), used=used)
    for each in ("a", "b"):
        shell.decide(each, APPROVE)

    await shell.resume()

    assert runs(shell) == [{"x": 1}]
    assert shell.entry("b").waits
    assert shell.approval("b").preview == {"kind": "text", "data": {"text": "two"}}


async def test_changed_arguments_bind_to_what_they_were_shown_to_do() -> None:
    used = tool("write")
    used.shows = ONE
    shell = await paused(call("a", x=1), used=used)
    shell.decide("a", MODIFY, arguments={"x": 2}, seen=preview_digest(TWO))

    await shell.resume()
    assert shell.entry("a").waits
    assert shell.approval("a").arguments == {"x": 2}

    used.shows = TWO
    shell.decide("a", MODIFY, arguments={"x": 3}, seen=preview_digest(TWO))
    await shell.resume()
    assert runs(shell) == [{"x": 3}]


async def test_whoever_looked_again_agrees_to_what_is_shown_now() -> None:
    used = tool("write")
    used.shows = ONE
    shell = await paused(call("a", x=1), used=used)
    asked = shell.approval("a")
    digest = call_digest({"x": 1}, "write-1", asked.rule, preview_digest(TWO))
    shell.record((PreviewRenewed(asked.approval, "a", "write", digest, TWO.effect, None, preview_digest(TWO)),))
    used.shows = TWO
    shell.decisions["a"] = Decision(asked.approval, APPROVE, "Ann", digest, seen=preview_digest(TWO))

    await shell.resume()

    assert runs(shell) == [{"x": 1}]


async def test_a_denial_wins_over_an_approval() -> None:
    shell = await paused(call("a"))
    shell.decide("a", APPROVE)
    shell.policy.rules["write"] = Deny("frozen", "Writes are frozen.")

    await shell.resume()

    assert shell.kinds[3].startswith("ApprovalDecided ToolFinished")
    assert shell.results() == {"a": "Not allowed by policy: Writes are frozen."}


async def test_an_approval_of_what_is_free_by_now_runs() -> None:
    shell = await paused(call("a"))
    shell.decide("a", APPROVE)
    shell.policy.rules["write"] = Allow("granted for this conversation")

    await shell.resume()

    assert runs(shell) == [{}]
