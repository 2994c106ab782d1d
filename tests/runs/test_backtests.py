"""Trying a policy on recorded calls: what would have become of each, and what did."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agentweb.registry.drafts import Draft
from agentweb.registry.models import Policy, Tool
from agentweb.runs import backtests
from agentweb.runs.models import Backtest, Call, Message, Run, Taint
from tests.chat.views.person import browser
from tests.registry.pages import page as registry_page
from tests.runs.waiting_call import waiting_approvals

NOTHING = Draft("default", "default", ())
FREE = Draft("default", "default", ({"says": "allow", "tool": "write_*"},))
NEVER = Draft("default", "default", ({"says": "deny", "tool": "*", "reason": "closed"},))


@pytest.fixture
def calls(cast, db):
    """Three calls of write_file that people were asked about, and one that ran by itself."""
    run = cast.builder_run(visibility="team")
    asked = waiting_approvals(cast, run, count=3)
    first = asked[0].call
    ran = Call.objects.create(
        run=run,
        message=first.message,
        position=9,
        name="read_file",
        asked_arguments={"path": "a"},
        status="finished",
        started_at=timezone.now(),
        result="x",
        result_kind="ok",
    )
    Call.objects.create(run=run, message=first.message, position=10, name="x", invalid="malformed", status="finished")
    return [*(each.call for each in asked), ran]


def done(draft, user, **more) -> Backtest:
    row = backtests.start(user=user, draft=draft, **more)
    backtests.run(row.pk)
    row.refresh_from_db()
    return row


@pytest.mark.parametrize(
    ("draft", "numbers"),
    [(NOTHING, (0, 4, 0, 1)), (FREE, (3, 1, 0, 4)), (NEVER, (0, 0, 4, 4))],
    ids=["no rules: all ask", "writing is free", "nothing runs"],
)
def test_each_call_is_judged_and_compared_with_what_happened(cast, calls, draft, numbers):
    row = done(draft, cast.admin)
    assert (row.status, row.total, row.done) == ("finished", 4, 4)
    assert (row.allowed, row.asked, row.denied, row.changed) == numbers
    assert sum(line.changed for line in row.lines.all()) == row.changed


def test_a_call_is_judged_attended_or_not_as_its_run_was(cast, calls):
    Run.objects.update(attended=False)
    row = done(NOTHING, cast.admin)
    assert (row.asked, row.denied) == (0, 4)


UNTRUSTED = Draft(
    "default", "default", ({"says": "allow", "tool": "*"}, {"says": "deny", "tool": "*", "tainted": True})
)


@pytest.mark.parametrize(
    ("arrived", "cleared", "denied"),
    [(-2, None, 4), (-2, -1, 0), (-2, 1, 4), (1, None, 0), (None, None, 0)],
    ids=["read before", "cleared before", "cleared later", "read later", "nothing has come yet"],
)
def test_a_call_is_judged_by_the_untrusted_text_that_had_been_read_by_then(cast, calls, arrived, cleared, denied):
    asked_at = calls[0].message.created_at
    at = {
        name: None if minutes is None else asked_at + timedelta(minutes=minutes)
        for name, minutes in {"arrived_at": arrived, "cleared_at": cleared}.items()
    }
    call, run = calls[3], calls[3].run
    Taint.objects.create(conversation=run.conversation, run=run, call=call, tool="web", started_at=asked_at, **at)
    assert done(UNTRUSTED, cast.admin).denied == denied


def test_after_untrusted_text_only_what_changes_something_counts_as_riskier(cast, calls):
    low_runs = Draft("default", "default", ({"says": "allow", "tool": "*", "risk": "low"},))
    Tool.objects.update(risk="low")
    assert done(low_runs, cast.admin).allowed == 4
    call, run = calls[3], calls[3].run
    before = calls[0].message.created_at - timedelta(minutes=1)
    Taint.objects.create(
        conversation=run.conversation, run=run, call=call, tool="web", started_at=before, arrived_at=before
    )
    row = done(low_runs, cast.admin)
    assert {line.call.name for line in row.lines.filter(verdict="allow")} == {"read_file"}
    assert row.asked == 3


def test_the_newest_come_first_and_a_limit_and_a_time_hold(cast, calls):
    row = done(NOTHING, cast.admin, most=2)
    assert [line.call_id for line in row.lines.order_by("pk")] == [calls[3].pk, calls[2].pk]
    Message.objects.update(created_at=timezone.now() - timedelta(days=3))
    assert done(NOTHING, cast.admin, since=timezone.now() - timedelta(days=1)).done == 0
    assert done(NOTHING, cast.admin, until=timezone.now() - timedelta(days=1)).done == 4


def test_steps_cost_the_same_queries_however_many_calls_they_judge(cast, calls):
    done(NOTHING, cast.admin)
    numbers = []
    for more in (0, 50):
        Call.objects.bulk_create(recorded_call(calls[0], 20 + number) for number in range(more))
        row = backtests.start(user=cast.admin, draft=NOTHING)
        with CaptureQueriesContext(connection) as queries:
            backtests.run(row.pk)
        row.refresh_from_db()
        numbers.append((row.done, len(queries)))
    (few, cost), (many, same_cost) = numbers
    assert (few, many) == (4, 54)
    assert cost == same_cost


def recorded_call(like, position):
    more = {"asked_arguments": {}, "started_at": timezone.now(), "status": "finished"}
    return Call(run=like.run, message=like.message, position=position, name="read_file", **more)


def test_a_cancelled_one_stays_as_it_is_and_a_lost_one_goes_on_where_it_was(cast, calls):
    row = backtests.start(user=cast.admin, draft=NOTHING)
    assert backtests.cancel(backtest=row)
    backtests.run(row.pk)
    row.refresh_from_db()
    assert (row.status, row.done) == ("cancelled", 0)

    lost = done(NOTHING, cast.admin, most=2)
    old = timezone.now() - timedelta(minutes=5)
    Backtest.objects.filter(pk=lost.pk).update(status="running", most=4, total=4, beat_at=old, finished_at=None)
    assert backtests.ask_again() == 1
    assert backtests.ask_again() == 0
    backtests.run(lost.pk)
    lost.refresh_from_db()
    assert (lost.status, lost.done, lost.lines.count()) == ("finished", 4, 4)


# --- in the admin ---------------------------------------------------------------------------------------------------


@pytest.fixture
def site(cast):
    cast.admin.is_staff = cast.admin.is_superuser = True
    cast.admin.save()
    return browser(cast.admin)


def posted_policy(policy: Policy) -> dict:
    rules = {}
    rows = list(policy.rules.order_by("position", "pk"))
    for number, row in enumerate(rows):
        said = {
            "id": row.pk,
            "policy": policy.pk,
            "position": row.position,
            "tool": row.tool,
            "risk": row.risk,
            "verdict": row.verdict,
            "requires_comment": "on" if row.requires_comment else "",
        }
        rules |= {f"rules-{number}-{name}": value for name, value in said.items() if value not in ("", None)}
    return {
        "name": policy.name,
        "enabled": "on",
        "rules-TOTAL_FORMS": len(rows) + 1,
        "rules-INITIAL_FORMS": len(rows),
    } | rules


def test_an_unsaved_policy_is_tried_on_recorded_calls_and_on_one(cast, calls, site):
    policy = Policy.objects.get(name="default")
    number = policy.rules.count()
    new = {
        f"rules-{number}-{name}": value
        for name, value in {"position": "50", "tool": "write_*", "verdict": "deny"}.items()
    }
    draft = f"{registry_page('policy_draft')}?policy={policy.pk}"
    answer = site.post(draft, posted_policy(policy) | new | {"_backtest": "1"})
    assert answer.url == "/admin/runs/backtest/add/?draft=on"
    assert policy.rules.count() == number

    started = site.post("/admin/runs/backtest/add/", {"policy": "draft", "most": "100"})
    row = Backtest.objects.get()
    assert started.url == f"/admin/runs/backtest/{row.pk}/change/"
    assert b"hx-trigger" in site.get(started.url).content
    backtests.run(row.pk)
    row.refresh_from_db()
    assert (row.denied, row.allowed) == (3, 1)
    shown = site.get(f"{started.url}?show=deny").content.decode()
    assert shown.count("default (not saved) v0") == 3
    assert "hx-trigger" not in shown

    simulated = {
        "agent": cast.builder.pk,
        "tool": "write_file",
        "user": "owner",
        "arguments": '{"path": "a", "content": ""}',
    }
    with_draft = site.post(registry_page("policy_simulate"), simulated | {"draft": "on"})
    assert with_draft.context["found"].verdict == "It would be refused."
    assert site.post(registry_page("policy_simulate"), simulated).context["found"].verdict == "People would be asked."


def test_a_policy_that_could_not_be_saved_cannot_be_tried_out(site):
    policy = Policy.objects.get(name="default")
    said = posted_policy(policy) | {"rules-0-verdict": "nonsense", "_simulate": "1"}
    answer = site.post(f"{registry_page('policy_draft')}?policy={policy.pk}", said)
    assert answer.status_code == 200
    assert answer.context["inline_admin_formsets"][0].formset.errors[0]["verdict"]
    assert f'action="{registry_page("policy_change", policy.pk)}"' in answer.content.decode()


def test_the_page_of_a_backtest_costs_the_same_queries_however_many_calls_it_lists(
    cast, calls, site, django_assert_num_queries
):
    few = done(NOTHING, cast.admin, most=1)
    many = done(NOTHING, cast.admin)
    site.get(f"/admin/runs/backtest/{few.pk}/change/")
    for row in (few, many):
        with django_assert_num_queries(4):
            site.get(f"/admin/runs/backtest/{row.pk}/change/")
