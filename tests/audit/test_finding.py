"""What a reviewer can ask for, and which runs answer."""

from datetime import UTC, date, datetime

import pytest

from agentweb.audit import selectors
from agentweb.audit.filters import Filters
from agentweb.audit.listing import choices, listing
from agentweb.registry.models import Tool
from agentweb.runs import decisions, services
from agentweb.runs.models import Run
from agentweb.runs.selectors import conversation_for, run_for
from agentweb.teams.models import Membership, Role
from tests.cast import Cast, make_cast
from tests.runs.waiting_call import waiting_approvals

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def runs(db) -> tuple[Cast, dict[str, Run]]:
    """Four runs: the owner's queued and waiting ones, the admin's rejected one, an old one that failed."""
    cast = make_cast()
    cast.admin.first_name, cast.admin.last_name = "Ada", "Lovelace"
    cast.admin.save()
    made = {
        "queued": cast.run(),
        "waiting": cast.builder_run(),
        "rejected": cast.builder_run("team"),
        "old": cast.run(),
    }
    waiting_approvals(cast, made["waiting"])
    (approval,) = waiting_approvals(cast, made["rejected"], name="delete_file", arguments={"path": "a.txt"})
    decisions.decide(user=cast.owner, approval=approval, decision="reject", digest="digest", comment="no")
    change(made["rejected"], requested_by=cast.admin)
    change(made["old"], status="finished", outcome="failed", created_at=datetime(2026, 2, 3, 23, 59, tzinfo=UTC))
    return cast, made


def change(run: Run, **values: object) -> None:
    Run.objects.filter(pk=run.pk).update(**values)


def found(cast: Cast, runs: dict[str, Run], **asked: str) -> set[str]:
    ids = {run.pk: name for name, run in runs.items()}
    rows = listing(selectors.teams_for(cast.reviewer), Filters.read(asked)).rows
    return {ids[row.run.pk] for row in rows}


EVERY = {"queued", "waiting", "rejected", "old"}
ASKED = [
    ({}, EVERY),
    ({"person": "owner"}, {"queued", "waiting", "old"}),
    ({"person": "lovelace"}, {"rejected"}),
    ({"person": "ADA love"}, {"rejected"}),
    ({"person": "ada owner"}, set()),
    ({"tool": "write_file"}, {"waiting"}),
    ({"tool": "delete_file"}, {"rejected"}),
    ({"tool": "calculator"}, set()),
    ({"state": "queued"}, {"queued", "rejected"}),  # the decision let it go on
    ({"state": "waiting"}, {"waiting"}),
    ({"state": "failed"}, {"old"}),
    ({"state": "answered"}, set()),
    ({"decision": "pending"}, {"waiting"}),
    ({"decision": "rejected"}, {"rejected"}),
    ({"decision": "rejected", "tool": "write_file"}, set()),
    ({"until": "2026-02-03"}, {"old"}),
    ({"until": "2026-02-02"}, set()),
    ({"since": "2026-02-03"}, EVERY),
    ({"since": "2026-02-04"}, EVERY - {"old"}),
    ({"agent": NOBODY}, set()),
    ({"team": NOBODY}, set()),
    ({"before": NOBODY}, set()),
]
NONSENSE = [
    {"state": "finished"},
    {"state": "' OR 1=1 --", "decision": "x"},
    {"since": "2026-13-45", "until": "yesterday"},
    {"since": "0001-01-01", "until": "9999-12-31"},
    {"agent": "1", "team": "me", "before": "../.."},
    {"person": "   ", "tool": ""},
]


@pytest.mark.parametrize(("asked", "answer"), ASKED)
def test_runs_are_found_by_what_is_asked_for(runs, asked, answer):
    assert found(*runs, **asked) == answer


@pytest.mark.parametrize("asked", NONSENSE)
def test_what_cannot_be_understood_is_not_asked_for(runs, asked):
    assert found(*runs, **asked) == EVERY
    assert not Filters.read(asked).narrowed


def test_runs_are_found_by_agent(runs):
    cast, made = runs
    assert found(cast, made, agent=str(cast.builder.public_id)) == {"waiting", "rejected"}


def test_the_address_of_a_question_asks_it_again():
    asked = {"person": "Ann & Ben", "state": "failed", "since": "2026-02-03", "tool": "read_file"}
    filters = Filters.read(asked)
    assert filters.since == date(2026, 2, 3)
    assert filters.address(before=NOBODY) == (
        f"person=Ann+%26+Ben&tool=read_file&state=failed&since=2026-02-03&before={NOBODY}"
    )


def test_who_audits_two_teams_sees_both_and_can_choose_one(runs):
    cast, made = runs
    elsewhere = cast.stranger.memberships.get().team
    Membership.objects.create(team=elsewhere, user=cast.reviewer, role=Role.REVIEWER)
    new = services.create_conversation(user=cast.stranger, agent=cast.agent, team=elsewhere)
    seen = conversation_for(cast.stranger, new.public_id)
    made["elsewhere"] = services.send_message(user=cast.stranger, conversation=seen, text="Hello").run
    assert found(cast, made) == {*EVERY, "elsewhere"}
    assert found(cast, made, team=str(elsewhere.public_id)) == {"elsewhere"}
    assert [word for _value, word in choices(selectors.teams_for(cast.reviewer)).teams] == [
        cast.team.name,
        elsewhere.name,
    ]


def test_a_tool_that_was_switched_off_can_still_be_asked_for(runs):
    cast, _made = runs
    Tool.objects.filter(name="write_file").update(enabled=False)
    assert "write_file" in dict(choices(selectors.teams_for(cast.reviewer)).tools)


def test_a_run_that_waits_is_shown_so(runs):
    cast, made = runs
    run_for(cast.owner, made["waiting"].public_id)
    rows = listing(selectors.teams_for(cast.reviewer), Filters.read({"state": "waiting"})).rows
    assert [row.state.icon for row in rows] == ["circle-pause"]
