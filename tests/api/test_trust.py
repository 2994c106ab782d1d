"""Programs that agree to later calls, take that back, and start runs that nobody attends."""

import pytest

from tests.api.calling import Api, answered
from tests.runs.test_taint import read_outside
from tests.runs.waiting_call import waiting_approvals

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(cast) -> Api:
    return Api(cast.owner)


def test_an_approval_is_remembered_listed_and_revoked(cast, api):
    run = cast.builder_run()
    approval = waiting_approvals(cast, run)[0]
    body = {"decision": "approve", "digest": "digest", "grant": {"scope": "until", "until": "2000-01-01T00:00:00Z"}}
    refused = api.post(f"/approvals/{approval.public_id}/decision", body, 422)
    assert [error["path"] for error in refused["errors"]] == ["grant.until"]
    api.post(f"/approvals/{approval.public_id}/decision", body | {"grant": {"scope": "conversation"}})
    (grant,) = api.get(f"/conversations/{run.conversation.public_id}/grants")["items"]
    assert grant["approval"] == str(approval.public_id)
    assert (grant["scope"], grant["tool"], grant["free"], grant["may_revoke"]) == (
        "conversation",
        "write_file",
        [],
        True,
    )
    ended = answered(api.call("DELETE", f"/grants/{grant['id']}"), 200)
    assert (ended["ended_why"], ended["ended_by"], ended["may_revoke"]) == ("revoked", "owner", False)
    answered(api.call("DELETE", f"/grants/{grant['id']}"), 409)


def test_untrusted_text_is_cleared_by_the_digest_it_was_listed_with(cast, api):
    run = cast.builder_run()
    read_outside(cast, run)
    path = f"/conversations/{run.conversation.public_id}/untrusted"
    listed = api.get(path)
    answered(api.call("DELETE", path), 409)
    assert answered(api.call("DELETE", f"{path}?digest={listed['digest']}"), 200) == {"cleared": 1}


@pytest.mark.parametrize("attended", [True, False])
def test_a_run_may_begin_without_anybody_to_attend_it(cast, api, attended):
    path = f"/conversations/{cast.conversation().public_id}/messages"
    sent = api.post(path, {"text": "Hello", "attended": attended}, 202)
    assert api.get(f"/runs/{sent['run']}")["attended"] is attended
