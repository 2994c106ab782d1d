"""Policies in the admin: what may not be saved, what is kept, and what would become of a call."""

import json

import pytest
from django.contrib.auth.models import Group, Permission
from django.db.models import ProtectedError

from agentweb.engine.messages import ToolCall
from agentweb.engine.ports import Allow, Ask, Deny
from agentweb.engine.terms import Circle, Later, Named, Terms
from agentweb.policy.rules import Says
from agentweb.registry import catalog, services
from agentweb.registry.models import Policy, PolicyRule, PolicyVersion, Tool
from agentweb.registry.policies import LivePolicy, Who
from agentweb.registry.simulating import Question, simulate
from tests.registry.judging import at_once, judge
from tests.registry.pages import page

REPORTS = {"properties": {"path": {"pattern": "^reports/"}}, "required": ["path"]}
EMPTY = {"rules-TOTAL_FORMS": "1", "rules-INITIAL_FORMS": "0", "name": "house", "enabled": "on"}


def posted(site, **rule):
    """A new policy with one rule, sent as the page sends it."""
    said = {"position": "0", "tool": "*", "verdict": "deny"} | rule
    return site.post(page("policy_add"), EMPTY | {f"rules-0-{name}": value for name, value in said.items()})


def refused(response) -> dict[str, list[str]]:
    return response.context["inline_admin_formsets"][0].formset.errors[0]


def house(**rule) -> Policy:
    policy = Policy.objects.create(name="house")
    PolicyRule.objects.create(policy=policy, **{"tool": "*", "verdict": "deny"} | rule)
    services.enact(policy=policy)
    return policy


def verdict(who: Who, tool: str = "write_file", **arguments):
    call = (ToolCall("c", tool, arguments), catalog.tools()[tool].spec)
    try:
        LivePolicy(at_once, who).judge((call,)).send(None)
    except StopIteration as done:
        return done.value[0]
    raise AssertionError("judging waited for something")


# --- what may be saved ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "field", "words"),
    [
        ({"requires_comment": "on"}, "requires_comment", "A comment can only be required where people are asked."),
        ({"verdict": "allow", "risk": "high"}, "verdict", "high risk are always asked about"),
        ({"verdict": "ask", "reason": "x"}, "reason", "Only a rule that refuses"),
        ({"verdict": "raise"}, "raise_to", "Say which level"),
        ({"condition": "{"}, "condition", "Not valid JSON"),
        ({"condition": "[1]"}, "condition", "Enter a JSON object"),
        ({"condition": '{"properties": {"path": {"type": "banana"}}}'}, "condition", "properties.path.type"),
        ({"condition": '{"pattern": "(a+)+b"}'}, "condition", "endless time"),
        ({"verdict": "allow", "condition": '{"properties": {"to": {"const": 1}}}'}, "condition", "“required”: to"),
        ({"argument": "path", "test": "begins"}, "value", "belong together"),
        ({"argument": "n", "test": "at_most", "value": "ten"}, "value", "Enter a number"),
        (
            {"argument": "n", "test": "is", "value": "1", "condition": json.dumps(REPORTS)},
            "condition",
            "Clear this",
        ),
    ],
)
def test_a_rule_that_cannot_mean_what_it_says_is_refused_with_the_field_named(site, rule, field, words):
    found = refused(posted(site, **rule))
    assert list(found) == [field]
    assert words in str(found[field])
    assert not Policy.objects.filter(name="house").exists()


def test_people_that_are_chosen_are_looked_at_before_they_are_saved(site, cast):
    found = refused(posted(site, verdict="ask", needed="3", people=[cast.member.pk, cast.owner.pk]))
    assert found == {"needed": ["So many people are not named here."]}
    assert list(refused(posted(site, verdict="deny", people=[cast.member.pk]))) == ["people"]


def test_who_may_decide_is_kept_with_the_version_and_comes_with_the_verdict(site, cast):
    group = Group.objects.create(name="Auditors")
    people = [cast.owner.pk, cast.member.pk]
    terms = {"needed": "2", "apart": "on", "by_role": "admin", "by_group": group.pk, "people": people}
    assert posted(site, tool="write_*", verdict="ask", wait_minutes="30", **terms).status_code == 302
    ann, ben = Named(cast.member.pk, "member"), Named(cast.owner.pk, "owner")
    circle = Circle(role="admin", group=Named(group.pk, "Auditors"), people=(ann, ben))
    (verdict,) = judge("write_file")
    assert verdict.terms == Terms(30, (circle,), 2, True)
    version = page("policyversion_change", PolicyVersion.objects.get(name="house").pk)
    assert "2 approvals by admins of the team, the group Auditors, member, owner" in site.get(version).content.decode()
    with pytest.raises(ProtectedError):
        group.delete()


def test_who_may_decide_later_comes_with_the_verdict_and_must_be_somebody(site, cast):
    assert list(refused(posted(site, verdict="ask", later_minutes="5"))) == ["later_people"]
    assert list(refused(posted(site, verdict="ask", later_people=[cast.member.pk]))) == ["later_minutes"]
    assert list(refused(posted(site, verdict="deny", later_minutes="5", later_role="admin"))) == ["later_minutes"]
    sent = {"later_minutes": "30", "later_role": "reviewer", "later_people": [cast.member.pk]}
    assert posted(site, tool="write_*", verdict="ask", **sent).status_code == 302
    (verdict,) = judge("write_file")
    later = Later(30, "reviewer", None, (Named(cast.member.pk, "member"),))
    assert verdict.terms == Terms(circles=(Circle(later=later),))


def test_a_rule_for_an_agent_of_another_team_is_refused(site, cast):
    cast.agent.team = cast.team
    cast.agent.save()
    other = type(cast.team).objects.create(name="Far away")
    assert list(refused(posted(site, agent=cast.agent.pk, team=other.pk))) == ["agent"]


def test_the_short_way_writes_the_schema(site):
    assert posted(site, argument="path", test="begins", value="reports/").status_code == 302
    rule = PolicyRule.objects.get(policy__name="house")
    assert rule.condition == {
        "properties": {"path": {"type": "string", "pattern": "^reports\\/"}},
        "required": ["path"],
    }


# --- what counts, and what is kept ----------------------------------------------------------------------------------


def test_a_saved_policy_counts_at_once_and_each_of_its_versions_is_kept_with_who_made_it(site, cast):
    posted(site, tool="write_*", reason="frozen")
    policy = Policy.objects.get(name="house")
    assert judge("write_file")[0] == Deny("house v1: write_* → deny", "frozen")
    sent = EMPTY | {"rules-INITIAL_FORMS": "1", "rules-0-id": policy.rules.get().pk, "rules-0-policy": policy.pk}
    site.post(
        page("policy_change", policy.pk),
        sent | {"rules-0-position": "0", "rules-0-tool": "delete_*", "rules-0-verdict": "deny"},
    )
    assert isinstance(judge("write_file")[0], Ask)
    kept = PolicyVersion.objects.filter(policy=policy).order_by("version")
    assert [(row.version, row.by) for row in kept] == [(1, cast.admin), (2, cast.admin)]
    assert [json.loads(row.rules)[0]["tool"] for row in kept] == ["write_*", "delete_*"]


def test_a_version_can_be_read_and_not_be_changed(site):
    version = PolicyVersion.objects.get(name="default")
    address = page("policyversion_change", version.pk)
    assert "default v1: * at low risk → allow" in site.get(address).content.decode()
    assert site.post(address, {"name": "other"}).status_code == 403
    assert site.get(page("policyversion_delete", version.pk)).status_code == 403
    assert site.get(page("policyversion_add")).status_code == 403
    assert site.get(f"{page('policyversion_changelist')}?policy__id__exact={version.policy_id}").status_code == 200


def test_a_policy_is_switched_off_and_not_deleted(site):
    assert site.get(page("policy_delete", Policy.objects.get().pk)).status_code == 403


@pytest.mark.parametrize(
    "break_it",
    [
        pytest.param(lambda policy: PolicyVersion.objects.filter(policy=policy).delete(), id="its version is gone"),
        pytest.param(lambda policy: Policy.objects.filter(pk=policy.pk).update(digest=""), id="it was never in force"),
    ],
)
def test_a_policy_whose_rules_cannot_be_read_lets_nothing_run(cast, break_it):
    policy = house(tool="nothing", verdict="allow", reason="")
    break_it(policy)
    assert isinstance(judge("weather")[0], Ask)


# --- who asks -------------------------------------------------------------------------------------------------------


def test_the_person_their_role_the_agent_and_the_arguments_are_those_of_the_run(cast):
    house(
        user=cast.member,
        role="member",
        agent=cast.builder,
        team=cast.team,
        condition=REPORTS,
        reason="not there",
    )
    who = Who(cast.builder.pk, cast.team.pk, cast.member.pk)
    assert isinstance(verdict(who, path="reports/a"), Deny)
    assert isinstance(verdict(who, path="a"), Ask)
    assert isinstance(verdict(Who(cast.builder.pk, cast.team.pk, cast.owner.pk), path="reports/a"), Ask)
    assert isinstance(verdict(Who(cast.agent.pk, cast.team.pk, cast.member.pk), path="reports/a"), Ask)


def test_who_left_the_team_has_no_role_that_could_help(cast):
    house(role="member", verdict="allow")
    who = Who(cast.agent.pk, cast.team.pk, cast.member.pk)
    assert isinstance(verdict(who, "weather"), Allow)
    cast.member.memberships.all().delete()
    assert "not to be told: the role of who asks" in verdict(who, "weather").rule


# --- simulating -----------------------------------------------------------------------------------------------------


def question(cast, **changes) -> Question:
    usual = {
        "agent": cast.builder,
        "tool": Tool.objects.get(name="write_file"),
        "user": cast.member,
        "arguments": {"path": "a.md", "content": "x"},
    }
    return Question(**usual | changes)


def test_a_simulated_call_is_judged_as_a_worker_would(cast):
    found = simulate(question(cast))
    assert (found.ruling.says, found.rule) == (Says.ASK, "default v1: * at medium risk → ask")
    assert found.obstacles == []
    assert [(line.fit, line.doubt, line.decided) for line in found.lines] == [
        ("no", "the risk level", False),
        ("yes", "", True),
        ("no", "the risk level", False),
    ]
    assert simulate(question(cast, attended=False)).ruling.says is Says.DENY


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        pytest.param(lambda cast: {"agent": cast.agent}, "does not have this tool", id="not a tool of the agent"),
        pytest.param(lambda cast: {"arguments": {"path": 5}}, "do not fit the tool", id="bad arguments"),
        pytest.param(lambda cast: {"user": cast.stranger, "team": cast.team}, "is not in the team", id="not of it"),
        pytest.param(
            lambda cast: Tool.objects.filter(name="write_file").update(enabled=False) and {}, "switched off", id="off"
        ),
    ],
)
def test_what_keeps_a_call_from_coming_about_is_said(cast, prepare, words):
    changes = prepare(cast)
    assert words in " ".join(simulate(question(cast, **changes)).obstacles)


def sent(cast, **changes) -> dict:
    usual = {"agent": cast.builder.pk, "tool": "write_file", "user": cast.member.username}
    return usual | {"arguments": '{"path": "a.md", "content": "x"}'} | changes


def test_the_page_says_it_in_words(site, cast):
    shown = site.post(page("policy_simulate"), sent(cast)).content.decode()
    assert "People would be asked." in shown
    assert "default v1: * at medium risk → ask" in shown
    assert "does not mean this call: the risk level" in shown
    shown = site.post(page("policy_simulate"), sent(cast), headers={"accept-language": "zh-hans"}).content.decode()
    assert "default v1: * 中风险 → 询问" in shown
    assert 'value="write_file" selected' in site.get(page("policy_simulate"), {"tool": "write_file"}).content.decode()
    assert "Not valid JSON" in site.post(page("policy_simulate"), sent(cast, arguments="{")).content.decode()


def test_simulating_is_for_staff_who_may_see_policies(client, cast):
    cast.member.is_staff = True
    cast.member.save()
    client.force_login(cast.member)
    assert client.post(page("policy_simulate"), sent(cast)).status_code == 403
    cast.member.user_permissions.add(Permission.objects.get(codename="view_policy"))
    assert client.post(page("policy_simulate"), sent(cast)).status_code == 200


def test_the_pages_of_tools_and_policies_lead_there(site):
    tool = page("tool_change", Tool.objects.get(name="weather").pk)
    assert f"{page('policy_simulate')}?tool=weather" in site.get(tool).content.decode()
    policy = Policy.objects.get().pk
    shown = site.get(page("policy_change", policy)).content.decode()
    assert page("policy_simulate") in shown
    assert f"{page('policyversion_changelist')}?policy__id__exact={policy}" in shown
