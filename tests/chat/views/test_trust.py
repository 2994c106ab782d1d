"""What people see and press: remembering an approval, the list of grants, untrusted text, the emergency stop."""

import pytest

from agentweb.registry.models import Tool
from agentweb.runs import decisions, grants
from agentweb.runs.models import Approval, Grant, Halt, Run
from tests.chat.views.person import HTMX, browser, hidden_value, html_of, text_of
from tests.runs.test_taint import WORDS, read_outside
from tests.runs.waiting_call import waiting_approvals


@pytest.fixture
def approval(cast) -> Approval:
    return waiting_approvals(cast, cast.builder_run("team"))[0]


def remember(approval, **fields):
    return {"decision": "approve", "digest": approval.digest, **fields}


def test_before_it_is_stored_the_card_says_what_is_covered(cast, approval):
    Tool.objects.filter(name="write_file").update(free_arguments="content")
    for who, all_runs in ((cast.owner, True), (cast.member, False)):
        words = text_of(browser(who).get(f"/approvals/{approval.public_id}/remember", headers=HTMX))
        assert "later calls of Write file by the agent Builder with exactly the arguments below" in words
        assert "Path a.txt Content hello" in words
        assert "all others staying the same: Content" in words
        assert "Approve for this run Approve for this conversation" in words
        assert ("in all my runs of Builder in Team" in words) is all_runs


@pytest.mark.parametrize(
    ("fields", "scope", "free"),
    [
        ({"remember": "run"}, "run", []),
        ({"remember": "conversation", "vary": "yes", "free": ["content"]}, "conversation", ["content"]),
        ({"remember": "until", "hours": "8"}, "until", []),
    ],
)
def test_a_button_stores_what_it_says(cast, approval, fields, scope, free):
    Tool.objects.filter(name="write_file").update(free_arguments="content")
    path = f"/approvals/{approval.public_id}/decide"
    shown = browser(cast.owner).post(path, remember(approval, **fields), headers=HTMX)
    grant = Grant.objects.get()
    assert (grant.scope, grant.free, grant.expires_at is not None) == (scope, free, scope == "until")
    assert f"#grant-{grant.public_id}" in html_of(shown)


@pytest.mark.parametrize("hours", ["", "0", "-1", "721", "8.5", "٨"])
def test_a_time_that_makes_no_sense_decides_nothing(cast, approval, hours):
    fields = remember(approval, remember="until", hours=hours)
    refused = browser(cast.owner).post(f"/approvals/{approval.public_id}/decide", fields, headers=HTMX)
    assert refused.status_code == 422
    assert "Say until when" in text_of(refused)
    assert Approval.objects.get(pk=approval.pk).status == "pending"


def test_grants_are_listed_and_revoked_where_they_were_given_and_by_their_giver(cast, approval):
    wish = grants.Wish("conversation")
    decisions.decide(user=cast.owner, approval=approval, decision="approve", digest="digest", remember=wish)
    grant, page = Grant.objects.get(), f"/c/{approval.run.conversation.public_id}/grants"
    assert "Revoke" not in text_of(browser(cast.reviewer).get(page))
    for path in (page, "/grants/"):
        words = text_of(browser(cast.owner).get(path))
        assert "Counts Calls with exactly these arguments." in words
        assert "used 0 times" in words and "Revoke" in words
    browser(cast.owner).post(f"/grants/{grant.public_id}/revoke")
    words = text_of(browser(cast.owner).get("/grants/"))
    assert "Revoked" in words and "ended" in words


def test_untrusted_text_is_shown_below_the_run_until_somebody_clears_it(cast):
    run = cast.builder_run("team")
    read_outside(cast, run)
    foot = f"/cards/run/{run.public_id}"
    assert WORDS in text_of(browser(cast.reviewer).get(foot))
    assert "I have read it: clear" not in text_of(browser(cast.reviewer).get(foot))
    assert "I have read it: clear" in text_of(browser(cast.member).get(foot))
    shown = {"shown": hidden_value(browser(cast.member).get(foot), "shown")}
    unseen = browser(cast.member).post(f"/runs/{run.public_id}/clear", headers=HTMX)
    assert unseen.status_code == 409
    assert WORDS in text_of(unseen)
    cleared = browser(cast.member).post(f"/runs/{run.public_id}/clear", shown, headers=HTMX)
    assert WORDS not in text_of(cleared)


def test_an_emergency_stop_lists_the_runs_first_and_begins_when_it_is_confirmed(cast):
    run, admin = cast.builder_run(), browser(cast.admin)
    asked = {"what": "tool:write_file", "where": str(cast.team.public_id), "reason": "It writes too much"}
    words = text_of(admin.post("/halts/", asked))
    assert "This concerns 1 run" in words and "Tool write_file · Team: It writes too much" in words
    assert not Halt.objects.exists()
    admin.post("/halts/", asked | {"step": "confirm"})
    halt = Halt.objects.get()
    assert "The tool write_file is stopped" in text_of(browser(cast.owner).get(f"/c/{run.conversation.public_id}/"))
    Run.objects.filter(pk=run.pk).update(status="waiting", halt=halt, held_at=halt.created_at)
    foot = text_of(browser(cast.owner).get(f"/cards/run/{run.public_id}"))
    assert "Held by an emergency stop" in foot and "It writes too much" in foot and "Go on" not in foot
    admin.post(f"/halts/{halt.public_id}/lift")
    assert Run.objects.get(pk=run.pk).status == "queued"
    assert "is stopped" not in text_of(browser(cast.owner).get(f"/c/{run.conversation.public_id}/"))


@pytest.mark.parametrize(
    "changed", [{"what": "agent:nobody"}, {"what": "tool:nothing"}, {"what": ""}, {"where": "x"}, {"reason": " "}]
)
def test_a_stop_of_nothing_or_nowhere_or_for_no_reason_is_refused(cast, changed):
    asked = {"what": "all", "where": str(cast.team.public_id), "reason": "fire", "step": "confirm"} | changed
    assert browser(cast.admin).post("/halts/", asked).status_code == 422
    assert not Halt.objects.exists()
