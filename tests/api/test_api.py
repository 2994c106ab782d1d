"""The HTTP API as programs use it."""

import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from agentweb.engine.terms import Circle, Terms
from agentweb.runs import services
from agentweb.runs.models import Run
from tests.api.calling import Api, answered
from tests.runs.lost_call import suspended_calls, unknown_call
from tests.runs.waiting_call import waiting_approvals

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(cast) -> Api:
    return Api(cast.owner)


def test_a_conversation_from_start_to_transcript(cast, api):
    agents = api.get("/agents")["items"]
    assert [(agent["name"], set(agent)) for agent in agents] == [
        ("Assistant", {"id", "name", "description", "model"}),
        ("Builder", {"id", "name", "description", "model"}),
    ]
    made = api.post("/conversations", {"agent": agents[1]["id"], "title": "Files"}, 201)
    assert made | {"id": "", "created_at": "", "active_at": ""} == {
        "id": "",
        "title": "Files",
        "agent": agents[1]["id"],
        "team": str(cast.team.public_id),
        "visibility": "private",
        "created_at": "",
        "active_at": "",
    }
    assert [row["id"] for row in api.get("/conversations")["items"]] == [made["id"]]
    sent = api.post(f"/conversations/{made['id']}/messages", {"text": "你好 <b>&"}, 202)
    assert set(sent) == {"message", "run", "delivered"}
    (item,) = api.get(f"/conversations/{made['id']}/messages")["items"]
    assert (item["id"], item["role"], item["text"], item["tool_calls"]) == (sent["message"], "user", "你好 <b>&", [])
    run = api.get(f"/runs/{sent['run']}")
    assert (run["status"], run["outcome"], run["error"], run["usage"]["cost"]) == ("queued", None, None, "0.00000000")
    events = api.get(f"/runs/{sent['run']}/events")
    assert [(e["number"], e["kind"]) for e in events["items"]] == [(1, "RunStarted")]
    assert events["next"] == 1
    assert api.get(f"/runs/{sent['run']}/events?after=1") == {"items": [], "next": 1}
    assert api.get(f"/runs/{sent['run']}/events?after=1-7") == {"items": [], "next": 1}


def test_agents_and_teams_may_be_named_in_words(cast, api):
    made = api.post("/conversations", {"agent": "Builder", "team": cast.team.name, "visibility": "team"}, 201)
    assert (made["agent"], made["visibility"]) == (str(cast.builder.public_id), "team")


def test_sending_twice_with_one_key_changes_nothing(cast, api):
    path = f"/conversations/{cast.conversation().public_id}/messages"
    first = api.post(path, {"text": "Hello"}, 202, **{"Idempotency-Key": "a"})
    assert api.post(path, {"text": "Hello"}, 202, **{"Idempotency-Key": "a"}) == first
    api.post(path, {"text": "Else"}, 422, **{"Idempotency-Key": "a"})
    assert api.post(path, {"text": "Hello"}, 202)["delivered"] == "steering"


def test_what_waits_in_the_queue_can_be_read_changed_and_removed(cast, api):
    path = f"/conversations/{cast.conversation().public_id}/messages"
    run = api.post(path, {"text": "Hello"}, 202)["run"]
    queued = api.post(path, {"text": "more", "delivery": "follow_up"}, 202)["message"]
    assert [(row["id"], row["text"]) for row in api.get(f"/runs/{run}/queue")["items"]] == [(queued, "more")]
    changed = answered(api.call("PATCH", f"/runs/{run}/queue/{queued}", {"text": "less"}), 200)
    assert (changed["text"], changed["delivery"], changed["status"]) == ("less", "follow_up", "queued")
    assert answered(api.call("DELETE", f"/runs/{run}/queue/{queued}"), 200)["status"] == "removed"
    problem = answered(api.call("PATCH", f"/runs/{run}/queue/{queued}", {"text": "x"}), 409)
    assert problem["state"] == {"status": "removed"}
    assert api.get(f"/runs/{run}/queue") == {"items": []}


def test_cancel_is_accepted_once_and_then_tells_the_state(cast, api):
    run = str(cast.run().public_id)
    assert api.post(f"/runs/{run}/cancel", status=202)["id"] == run
    assert api.post(f"/runs/{run}/cancel", status=200)["id"] == run


def test_stop_names_its_seam(cast, api):
    run = str(cast.run().public_id)
    assert api.post(f"/runs/{run}/stop", {"after": "acting"}, 202)["status"] == "queued"
    assert Run.objects.get().stop_after == "acting"
    api.post(f"/runs/{run}/stop", {"after": "lunch"}, 422)
    api.post(f"/runs/{run}/stop", {}, 422)


def test_an_approval_is_listed_decided_once_and_shows_its_true_state(cast, api):
    approval = waiting_approvals(cast, cast.builder_run())[0]
    (listed,) = api.get("/approvals?status=pending")["items"]
    assert listed["id"] == str(approval.public_id)
    assert (listed["tool"], listed["risk"], listed["may_decide"]) == ("write_file", "medium", True)
    assert listed["arguments"] == {"path": "a.txt", "content": "hello"}
    (call,) = api.get(f"/runs/{listed['run']}/calls")["items"]
    assert (call["id"], call["status"], call["approval"]) == (listed["call"], "waiting", listed["id"])
    path = f"/approvals/{listed['id']}/decision"
    wrong = {"decision": "modify", "arguments": {"path": 3}, "digest": listed["digest"]}
    problem = api.post(path, wrong, 422)
    assert {error["path"] for error in problem["errors"]} == {"path", "content"}
    stale = api.post(path, {"decision": "approve", "digest": "0" * 64}, 409)
    assert stale["state"]["digest"] == listed["digest"]
    decided = api.post(path, {"decision": "approve", "digest": listed["digest"]}, 200)
    assert (decided["status"], decided["decided_by"], decided["may_decide"]) == ("approved", "owner", False)
    late = api.post(path, {"decision": "reject", "digest": listed["digest"]}, 409)
    assert (late["state"]["status"], late["state"]["decided_by"]) == ("approved", "owner")
    assert api.get(f"/approvals?status=pending&run={listed['run']}")["items"] == []


def test_a_call_whose_outcome_is_unknown_is_settled_once(cast, api):
    call = unknown_call(cast, cast.builder_run())
    path = f"/runs/{call.run.public_id}/calls/{call.public_id}/resolution"
    assert api.post(path, {"outcome": "done", "content": "5 rows"})["id"] == str(call.public_id)
    late = api.post(path, {"outcome": "not_done"}, 409)
    assert late["state"] == {"status": "unknown", "outcome": "done", "given_by": "owner"}
    for body in ({}, {"outcome": "perhaps"}, {"outcome": "not_done", "content": "x"}, {"outcome": "done", "by": "me"}):
        api.post(path, body, 422)
    api.post(f"/runs/{cast.run().public_id}/calls/{call.public_id}/resolution", {"outcome": "done"}, 404)


def test_a_run_goes_on_after_a_limit_only(cast, api):
    run = cast.run()
    path = f"/runs/{run.public_id}/continue"
    assert api.post(path, {}, 409)["state"] == {"status": "queued", "outcome": None}
    Run.objects.update(status="finished", outcome="limit_reached")
    for body in ({"turns": 0}, {"turns": 201}, {"turns": "5"}, {"turns": True}, {"more": 5}):
        api.post(path, body, 422)
    new = api.post(path, {"turns": 5}, 202)["run"]
    assert api.get(f"/runs/{new}")["conversation"] == str(run.conversation.public_id)


def test_results_come_from_outside(cast, api):
    first, second = suspended_calls(cast, cast.builder_run(), 2)
    path = f"/runs/{first.run.public_id}/results"
    one, other = ({"call": str(call.public_id), "content": "Rome"} for call in (first, second))
    for body in ({}, {"results": []}, {"results": [one, one]}, {"results": [one], "text": "quick"}, {"results": [5]}):
        api.post(path, body, 422)
    assert api.post(path, {"results": [one]}, 202)["status"] == "queued"
    assert api.post(path, {"results": [one]}, 409)["state"]["given_by"] == "owner"
    assert api.post(path, {"results": [{**other, "is_error": True}], "text": "quick"}, 202)
    assert [row["text"] for row in api.get(f"/runs/{first.run.public_id}/queue")["items"]] == ["quick"]


def test_what_an_answer_must_fit_is_told_and_held(cast, api):
    wanted = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    (call,) = suspended_calls(cast, cast.builder_run(), schema=wanted)
    path = f"/runs/{call.run.public_id}"
    (told,) = api.get(f"{path}/calls")["items"]
    assert told["waits_for"] == {"prompt": "Which city?", "schema": wanted}
    wrong = api.post(f"{path}/results", {"results": [{"call": told["id"], "content": {"city": 5}}]}, 422)
    assert wrong["errors"][0]["path"] == "results[0].content.city"
    api.post(f"{path}/results", {"results": [{"call": told["id"], "content": {"city": "Rome"}}]}, 202)


def test_a_run_that_nobody_holds_back_cannot_be_let_go_on(cast, api):
    assert api.post(f"/runs/{cast.run().public_id}/resume", status=409)["state"] == {"status": "queued"}


def test_files_go_up_come_down_as_attachments_and_go_away(cast, api):
    path = f"/conversations/{cast.conversation().public_id}/files"
    assert api.get(path) == {"items": []}
    entry = answered(api.call("PUT", f"{path}/notes/a.html", b"<script>1</script>"), 200)
    assert (entry["path"], entry["size"]) == ("notes/a.html", 18)
    assert api.get(path)["items"] == [entry]
    response = api.call("GET", f"{path}/notes/a.html")
    assert b"".join(response.streaming_content) == b"<script>1</script>"
    assert response["Content-Disposition"].startswith("attachment;")
    assert response["Content-Security-Policy"].startswith("sandbox")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert api.call("DELETE", f"{path}/notes/a.html").status_code == 204
    answered(api.call("GET", f"{path}/notes/a.html"), 404)


@pytest.mark.parametrize(
    ("name", "status"),
    [("%2e%2e/%2e%2e/etc/passwd", 422), ("a%00b", 422), ("a//b", 422), ("x" * 300, 422), ("C:%5Cx", 422)],
)
def test_file_names_that_lead_outside_are_refused(cast, api, name, status):
    path = f"/conversations/{cast.conversation().public_id}/files/{name}"
    answered(api.call("PUT", path, b"x"), status)


def test_a_file_over_the_limit_is_refused(cast, api):
    path = f"/conversations/{cast.conversation().public_id}/files/big"
    answered(api.call("PUT", path, b"x" * 5_000_001), 413)
    answered(api.call("PUT", path, b"x" * 7_000_000), 413)


def test_the_pages_of_a_list_join_without_loss_or_doubling(cast, api):
    made = [services.create_conversation(user=cast.owner, agent=cast.agent) for _ in range(7)]
    seen, cursor = [], ""
    while cursor is not None:
        page = api.get(f"/conversations?limit=3&cursor={cursor}")
        seen += [row["id"] for row in page["items"]]
        cursor = page["next"]
    assert seen == [str(row.public_id) for row in reversed(made)]


def test_a_session_cookie_needs_the_csrf_token(cast):
    api = Api()
    api.client.handler.enforce_csrf_checks = True
    api.client.force_login(cast.owner)
    assert len(api.get("/agents")["items"]) == 2
    answered(api.call("POST", "/conversations", {}), 403)
    token = api.client.get("/accounts/login/")  # sets the cookie even when signed in
    del token
    api.client.cookies["csrftoken"] = "x" * 32
    answered(api.call("POST", "/conversations", {}, **{"X-CSRFToken": "x" * 32}), 201)


def test_the_description_names_every_route(cast, api):
    paths = api.get("/openapi.json")["paths"]
    assert "/api/v1/runs/{run_id}/events" in paths
    assert "/api/v1/approvals/{approval_id}/decision" in paths


def test_its_documentation_is_a_page_of_this_site():
    page = Client().get("/api/v1/docs").content.decode()
    addresses = re.findall(r'(?:src|href)="(/static/[^"]+|https?://[^"]+)"', page)
    found = {address: finders.find(address.removeprefix("/static/")) for address in addresses}
    assert "swagger-ui-bundle.js" in page
    assert found and all(found.values()), found


def test_an_approval_by_several_says_who_may_and_who_has_said_what(cast, api):
    terms = Terms(circles=(Circle(role="member"),), needed=2)
    approval = waiting_approvals(cast, cast.builder_run("team"), terms=terms)[0]
    path = f"/approvals/{approval.public_id}/decision"
    shown = api.post(path, {"decision": "approve", "digest": "digest", "comment": "fine"}, 200)
    assert (shown["status"], shown["may_decide"], shown["may_reject"]) == ("pending", False, True)
    assert (shown["needed"], shown["requester_may_approve"]) == (2, True)
    assert shown["deciders"] == [[{"role": "member", "name": None, "from": None}]]
    (vote,) = shown["votes"]
    assert (vote["user"], vote["decision"], vote["comment"], vote["counts"]) == ("owner", "approve", "fine", True)


def test_an_approval_is_handed_over(cast, api):
    approval = waiting_approvals(cast, cast.builder_run("team"))[0]
    path = f"/approvals/{approval.public_id}/delegation"
    assert [error["path"] for error in api.post(path, {"to": "stranger"}, 422)["errors"]] == ["to"]
    shown = api.post(path, {"to": "reviewer", "comment": "please"}, 200)
    (handed,) = shown["delegations"]
    assert (handed["by"], handed["to"], handed["comment"]) == ("owner", "reviewer", "please")
    assert (shown["may_decide"], Api(cast.reviewer).get(f"/approvals/{approval.public_id}")["may_decide"]) == (
        False,
        True,
    )
