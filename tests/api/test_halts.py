"""Emergency stops through the API."""

import pytest

from agentweb.runs.models import Halt, Run
from tests.api.calling import Api


@pytest.fixture
def admin(cast):
    return Api(cast.admin)


def test_an_admin_stops_a_tool_in_the_team_and_lets_it_go_on(cast, admin):
    run = cast.builder_run(visibility="team")
    asked = {"kind": "tool", "tool": "write_file", "team": str(cast.team.public_id), "reason": "It misbehaves"}
    said = admin.post("/halts", asked, 201)
    assert said["tool"] == "write_file"
    assert (said["by"], said["may_lift"], said["ended_at"]) == ("admin", True, None)
    halt = Halt.objects.get()
    Run.objects.filter(pk=run.pk).update(status="waiting", halt=halt, held_at=halt.created_at)
    assert [(each["id"], each["holds"]) for each in admin.get("/halts")["items"]] == [(said["id"], 1)]
    lifted = admin.post(f"/halts/{said['id']}/lift")
    assert (lifted["released"], lifted["ended_by"]) == (1, "admin")
    assert admin.get("/halts")["items"] == []
    admin.post(f"/halts/{said['id']}/lift", status=409)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "tool", "tool": "no_such_tool"}, "kind"),
        ({"kind": "tool"}, "kind"),
        ({"kind": "tool", "tool": "write_file", "agent": "x"}, "kind"),
        ({"kind": "all", "tool": "write_file"}, "kind"),
        ({"kind": "agent", "agent": "nonsense"}, "kind"),
        ({"kind": "everything"}, "kind"),
        ({"kind": "all", "team": "nonsense"}, "team"),
        ({"kind": "all", "reason": " "}, "reason"),
        ({"kind": "all", "more": 1}, "more"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_field_named(cast, admin, body, field):
    refused = admin.post("/halts", {"team": str(cast.team.public_id), "reason": "test", **body}, 422)
    assert [each["path"] for each in refused["errors"]] == [field]
    assert not Halt.objects.exists()
