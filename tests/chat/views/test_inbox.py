"""The inbox: several decisions at once, what others do meanwhile, and a list that costs the same however long."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.engine.enums import Risk
from agentweb.runs.batches import Pick, decide_together
from agentweb.runs.errors import Invalid
from agentweb.runs.live import presence
from agentweb.runs.models import Approval
from tests.chat.views.person import browser, html_of, text_of
from tests.runs.waiting_call import waiting_approvals


@pytest.fixture
def light(cast):
    return waiting_approvals(cast, cast.builder_run(visibility="team"), count=3, risk=Risk.LOW)


def picks(*rows):
    return [Pick(str(row.public_id), row.digest) for row in rows]


def test_calls_of_one_tool_at_low_risk_are_decided_at_once(cast, light):
    client = browser(cast.member)
    assert "Write file: decide about 3 at low risk together…" in text_of(client.get("/approvals/"))
    listed = client.get("/approvals/together/write_file")
    assert html_of(listed).count('name="pick"') == 3
    ticked = [f"{row.public_id} {row.digest}" for row in light[:2]]
    answer = client.post("/approvals/together/write_file/decide", {"pick": ticked, "decision": "approve"}, follow=True)
    assert "Decided about 2 calls." in text_of(answer)
    assert sorted(Approval.objects.values_list("status", flat=True)) == ["approved", "approved", "pending"]


def test_somebody_who_was_faster_is_told_and_the_rest_is_decided(cast, light):
    first, *_rest = light
    decide_together(user=cast.member, picks=picks(first), decision="approve")
    decided = decide_together(user=cast.owner, picks=picks(*light), decision="reject", comment="no")
    assert (decided.done, decided.others) == (2, ["member has decided already: Approved."])


@pytest.mark.parametrize("what", ["risk", "tool", "comment", "none", "respond"])
def test_nothing_else_is_decided_at_once(cast, light, what):
    chosen, decision = list(light), "approve"
    if what == "risk":
        Approval.objects.filter(pk=light[0].pk).update(risk="medium")
    elif what == "comment":
        Approval.objects.filter(pk=light[0].pk).update(requires_comment=True)
    elif what == "tool":
        light[0].call.__class__.objects.filter(pk=light[0].call_id).update(name="edit_file")
    elif what == "none":
        chosen = []
    else:
        decision = "respond"
    with pytest.raises(Invalid):
        decide_together(user=cast.owner, picks=picks(*chosen), decision=decision)
    assert not Approval.objects.exclude(status="pending").exists()


def test_a_rejection_of_several_needs_a_reason(cast, light):
    ticked = [f"{row.public_id} {row.digest}" for row in light]
    answer = browser(cast.owner).post(
        "/approvals/together/write_file/decide", {"pick": ticked, "decision": "reject"}, follow=True
    )
    assert "Give a reason; the agent reads it." in text_of(answer)
    assert not Approval.objects.exclude(status="pending").exists()


def pulse(user, *rows, at=""):
    shown = [str(row.public_id) for row in rows]
    return browser(user).post("/approvals/pulse", {"shown": shown, "at": at}).json()


def test_a_page_learns_what_has_become_of_what_it_shows(cast, light):
    first, second, _third = light
    decide_together(user=cast.member, picks=picks(first), decision="approve")
    said = pulse(cast.owner, first, second)
    assert said["states"][str(first.public_id)][0] == "approved"
    assert said["states"][str(second.public_id)] == ["pending", second.digest, ""]
    assert said["count"] == 2
    assert pulse(cast.stranger, first)["states"] == {}


def test_who_else_is_there_is_told_to_all_but_oneself(cast, light, own_valkey, settings):
    settings.REDIS_URL = own_valkey.url
    first = light[0]
    name = str(first.public_id)
    assert pulse(cast.owner, first, at=name)["here"] == {}
    assert pulse(cast.member, first)["here"] == {name: "owner: deciding now."}
    assert pulse(cast.admin, first)["here"] == {name: "owner: deciding now. member: looking at it too."}
    pulse(cast.reviewer, first)
    assert set(presence.here([name])[name]) == {cast.owner.pk, cast.member.pk, cast.admin.pk}
    assert presence.somebody_had([name, "another"]) == {name}


def test_the_list_costs_the_same_queries_however_much_waits(cast):
    numbers = []
    for count in (1, 12):
        waiting_approvals(cast, cast.builder_run(visibility="team"), count=count)
        client = browser(cast.member)
        client.get("/approvals/")
        with CaptureQueriesContext(connection) as queries:
            page = client.get("/approvals/")
        numbers.append((html_of(page).count('class="approval pending'), len(queries)))
        assert not any("runs_snapshot" in query["sql"] for query in queries)
    (few, cost), (many, same_cost) = numbers
    assert (few, many) == (1, 13)
    assert cost == same_cost
