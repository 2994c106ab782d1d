"""Tools from outside as rows: taken in as drafts, released by an admin, on hold when their source changes them."""

import json
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.engine.ports import Ask
from agentweb.registry import catalog, faults, outside_tools, snapshots
from agentweb.registry.models import Tool
from agentweb.registry.policies import LivePolicy
from agentweb.registry.ports import AgentTools
from agentweb.registry.taking_in import Outdated, accept, look_after, release, take_in
from agentweb.toolbox.definitions import Definition, Offer
from tests.registry.judging import at_once, judged
from tests.registry.outside import offer, released, source
from tests.registry.pages import page

CHANGED = {"inputSchema": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}}


def tools_of(agent) -> AgentTools:
    snapshot = json.loads(snapshots.build(agent).text)
    return AgentTools(snapshot, workspace=Path("/nowhere"), cancelled=lambda: False)


def verdict_for(tools: AgentTools, name: str):
    return judged(LivePolicy(at_once), name, {}, spec=tools.find(name).spec)


def test_what_a_source_offers_becomes_drafts_that_nobody_can_use(cast):
    place = source()
    report = take_in(source=place, offers=[offer("mail.send"), offer("weather"), Offer("bad", why_not="Too long.")])
    rows = list(
        place.tools.order_by("true_name").values_list("true_name", "name", "state", "risk", "untrusted", "outbound")
    )
    assert rows == [
        ("mail.send", "mail_send", "draft", "medium", True, True),
        ("weather", "weather_2", "draft", "medium", True, True),  # the name in code is taken
    ]
    assert report.new == ["mail.send", "weather"] and report.refused == [("bad", "Too long.")]
    cast.agent.tools.set(place.tools.all())
    assert snapshots.offered(cast.agent) == ()
    row = place.tools.first()
    assert judged(LivePolicy(at_once), row.name, {}, spec=outside_tools.tool_of(row).spec).rule == "tool is a draft"


def test_two_sources_with_tools_of_one_name_keep_them_apart(cast):
    for name in ("One", "Two"):
        take_in(source=source(name), offers=[offer("search")])
    assert list(Tool.objects.filter(true_name="search").order_by("name").values_list("source__name", "name")) == [
        ("One", "search"),
        ("Two", "search_2"),
    ]


def test_a_released_tool_is_offered_found_and_judged_like_any_other(cast):
    (row,) = released(cast.agent)
    tools = tools_of(cast.agent)
    spec = next(spec for spec in tools.specs if spec.name == "mail_send")
    assert spec.description == "Sends a mail." and spec.digest == row.digest and spec.timeout_s == 60
    found = tools.find("mail_send")
    assert found.problems({"to": 1}) and not found.problems({"to": "a"})
    assert isinstance(verdict_for(tools, "mail_send"), Ask)
    assert verdict_for(tools, "mail_send").untrusted


def test_a_run_looks_for_tools_from_outside_once_and_for_those_in_code_never(cast):
    code = json.loads(snapshots.build(cast.agent).text)
    released(cast.agent, offer("a"), offer("b"), offer("c"))
    more = json.loads(snapshots.build(cast.agent).text)
    for snapshot, queries in ((code, 0), (more, 1)):
        with CaptureQueriesContext(connection) as asked:
            tools = AgentTools(snapshot, workspace=Path("/nowhere"), cancelled=lambda: False)
        assert len(asked) == queries
    with CaptureQueriesContext(connection) as later:
        for name in ("a", "b", "c", "weather", "no_such_tool"):
            tools.find(name)
    assert len(later) == 0


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"state": "held"}, "tool on hold"),
        ({"state": "draft"}, "tool is a draft"),
        ({"enabled": False}, "tool switched off"),
        ({"digest": "other"}, "tool changed"),
        (None, "tool not set up"),
    ],
)
def test_what_an_admin_does_to_a_tool_counts_from_the_next_call_on(cast, change, rule):
    (row,) = released(cast.agent)
    tools = tools_of(cast.agent)
    if change is None:
        row.delete()
    else:
        Tool.objects.filter(pk=row.pk).update(**change)
    assert verdict_for(tools, "mail_send").rule == rule


def test_a_tool_that_is_another_now_is_put_on_hold_and_an_admin_accepts_what_was_shown(cast):
    (row,) = released(cast.agent)
    report = look_after(source=row.source, offers=[offer(**CHANGED)])
    row.refresh_from_db()
    assert report.held == ["mail.send"] and (row.state, row.held_why) == ("held", "changed")
    assert "required" not in row.definition and "required" in row.proposed
    assert "mail_send" not in {spec.name for spec in snapshots.offered(cast.agent)}
    with pytest.raises(Outdated):
        accept(tool=row, digest=row.digest)
    before = row.digest
    accept(tool=row, digest=Definition.from_text(row.proposed).digest)
    row.refresh_from_db()
    assert (row.state, row.held_why, row.proposed) == ("active", "", "") and row.digest != before
    assert catalog.find_one("mail_send").spec.parameters["required"] == ["to"]


def test_a_tool_that_is_again_what_was_taken_in_needs_nobody(cast):
    (row,) = released(cast.agent)
    look_after(source=row.source, offers=[])
    assert Tool.objects.get(pk=row.pk).held_why == "gone"
    assert look_after(source=row.source, offers=[offer()]).back == ["mail.send"]
    assert Tool.objects.get(pk=row.pk).state == "active"


def test_looking_after_a_source_makes_no_new_tool_and_drafts_follow_it(cast):
    place = source()
    take_in(source=place, offers=[offer("a"), offer("b")])
    look_after(source=place, offers=[offer("a", **CHANGED), offer("c")])
    row = place.tools.get()
    assert row.true_name == "a" and row.state == "draft" and "required" in row.definition


def test_a_draft_is_released_as_it_was_shown(cast):
    place = source()
    take_in(source=place, offers=[offer()])
    row = place.tools.get()
    with pytest.raises(Outdated):
        release(tool=row, digest="of another")
    release(tool=row, digest=row.digest)
    assert place.tools.get().state == "active"


def test_new_code_with_the_name_of_a_tool_from_outside_gets_it(cast):
    (row,) = released(cast.agent)
    Tool.objects.filter(name="weather").delete()
    Tool.objects.filter(pk=row.pk).update(name="weather")
    catalog.sync()
    row.refresh_from_db()
    assert row.name == "weather_2" and Definition.from_text(row.definition).name == "weather_2"
    assert Tool.objects.get(name="weather").source is None


def test_the_start_page_says_what_agents_cannot_use(cast):
    rows = released(cast.agent, offer("a"), offer("b"), offer("c"))
    Tool.objects.filter(pk=rows[0].pk).update(state="held", held_why="gone")
    Tool.objects.filter(pk=rows[1].pk).update(state="draft")
    said = {fault.row.name: fault.why for fault in faults.tools()}
    assert said == {
        "a": "It is on hold: Its source does not offer it any more.",
        "b": "It is a draft, which an admin must release first.",
    }


def test_the_admin_shows_what_changed_and_takes_a_yes_to_just_that(site, cast):
    (row,) = released(cast.agent)
    look_after(source=row.source, offers=[offer(description="Sends \u202eevil.")])
    shown = site.get(page("tool_definition", row.pk))
    assert "<del>" in shown.content.decode() and "U+202E" in shown.content.decode()
    old = shown.context["agree"]
    look_after(source=row.source, offers=[offer(description="Sends two mails.")])
    site.post(page("tool_agree", row.pk), {"digest": old})
    assert Tool.objects.get(pk=row.pk).state == "held"
    site.post(page("tool_agree", row.pk), {"digest": site.get(page("tool_definition", row.pk)).context["agree"]})
    row.refresh_from_db()
    assert (row.state, row.description) == ("active", "Sends two mails.")


def test_chosen_drafts_are_released_from_the_list(site, cast):
    place = source()
    take_in(source=place, offers=[offer("a"), offer("b"), offer("c")])
    chosen = [row.pk for row in place.tools.order_by("name")[:2]]
    site.post(page("tool_changelist"), {"action": "release_drafts", "_selected_action": chosen})
    assert sorted(place.tools.filter(state="active").values_list("name", flat=True)) == ["a", "b"]


def test_only_tools_from_outside_can_be_deleted(site, cast):
    (row,) = released(cast.agent)
    assert site.get(page("tool_delete", Tool.objects.get(name="weather").pk)).status_code == 403
    assert site.post(page("tool_delete", row.pk), {"post": "yes"}).status_code == 302
    assert not Tool.objects.filter(pk=row.pk).exists()
