"""The registry in the admin: what admins set takes effect, and what cannot work is refused with the field named."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Allow, Ask
from agentweb.registry import services
from agentweb.registry.models import Agent, ChatModel, Policy, PolicyRule, Tool
from tests.inline import inline_code
from tests.registry.judging import judge
from tests.registry.pages import errors, page

# --- tools ----------------------------------------------------------------------------------------------------------


def tool_list(site, **changes) -> dict[str, str]:
    """What a browser sends for the list of tools: every row as it is on the page, with some fields changed."""
    response = site.get(page("tool_changelist"))
    formset = response.context["cl"].formset
    sent = {"_save": "Save"}
    for key, value in formset.management_form.initial.items():
        sent[f"form-{key}"] = value
    for form in formset.forms:
        for bound in form:
            value = bound.value()
            if value is not False:
                sent[bound.html_name] = sent[bound.html_initial_name] = value
        name = form.instance.name
        for field, value in changes.get(name, {}).items():
            sent[form.add_prefix(field)] = value
    return sent


def test_a_risk_level_set_in_the_list_counts_at_the_next_judgement(site):
    assert isinstance(judge("weather")[0], Allow)
    response = site.post(page("tool_changelist"), tool_list(site, weather={"risk": "medium"}))
    assert response.status_code == 302
    assert judge("weather")[0] == Ask("default v1: * at medium risk → ask", Risk.MEDIUM)


def test_a_risk_level_set_in_the_form_counts_at_the_next_judgement(site):
    tool = Tool.objects.get(name="weather")
    sent = {"risk": "high", "enabled": "on", "timeout_s": "9"}
    assert site.post(page("tool_change", tool.pk), sent).status_code == 302
    assert judge("weather")[0] == Ask("default v1: * at high risk → ask", Risk.HIGH, requires_comment=True)
    tool.refresh_from_db()
    assert tool.timeout_s == 9


def test_a_list_that_was_open_for_long_takes_nothing_back(site):
    sent = tool_list(site, weather={"timeout_s": "5"})
    Tool.objects.filter(name="write_file").update(risk="high")
    assert site.post(page("tool_changelist"), sent).status_code == 302
    assert Tool.objects.get(name="write_file").risk == "high"
    assert Tool.objects.get(name="weather").timeout_s == 5


@pytest.mark.parametrize(
    ("field", "value"), [("risk", "none"), ("timeout_s", "0"), ("timeout_s", "soon"), ("risk", "")]
)
def test_a_bad_value_in_the_list_is_refused_with_the_field_named(site, field, value):
    response = site.post(page("tool_changelist"), tool_list(site, weather={field: value}))
    assert response.status_code == 200
    assert [list(errors) for errors in response.context["cl"].formset.errors if errors] == [[field]]


def test_names_and_descriptions_come_from_the_code(site):
    tool = Tool.objects.get(name="weather")
    sent = {"name": "rain", "label": "Rain", "description": "x", "risk": "low", "enabled": "on", "timeout_s": "9"}
    site.post(page("tool_change", tool.pk), sent)
    assert Tool.objects.get(pk=tool.pk).name == "weather"
    assert Tool.objects.get(pk=tool.pk).description == tool.description


def tool_form(site, tool, **changes) -> dict[str, str]:
    form = site.get(page("tool_change", tool.pk)).context["adminform"].form
    sent = {name: form.initial.get(name) for name in form.fields}
    sent |= {f"initial-{name}": value for name, value in sent.items()}
    return {name: "" if value is None else value for name, value in (sent | changes).items() if value is not False}


@pytest.mark.parametrize(
    ("name", "field", "value", "words"),
    [
        ("write_file", "retries", "1", "may not run twice"),
        ("weather", "retries", "6", "less than or equal to 5"),
        ("read_file", "keep_s", "60", "answer otherwise the next time"),
        ("weather", "keep_s", "86401", "less than or equal to 86400"),
    ],
)
def test_what_a_tool_cannot_bear_is_refused(site, name, field, value, words):
    tool = Tool.objects.get(name=name)
    response = site.post(page("tool_change", tool.pk), tool_form(site, tool, **{field: value}))
    assert words in " ".join(errors(response)[field])


@pytest.mark.parametrize(
    ("fact", "words"),
    [("Reads {{ town }}", "{{ town }}"), ("Reads {{ city", "is not closed"), ("Reads {{ }}", "{{ city }}")],
)
def test_words_with_a_place_that_no_argument_fills_are_refused(site, fact, words):
    tool = Tool.objects.get(name="weather")
    response = site.post(page("tool_change", tool.pk), tool_form(site, tool, fact=fact))
    assert words in errors(response)["fact"][0]
    assert site.post(page("tool_change", tool.pk), tool_form(site, tool, fact="Reads {{ city }}")).status_code == 302


def test_tools_that_would_stand_in_for_each_other_for_ever_are_refused(site):
    first, second, third = (Tool.objects.get(name=name) for name in ("weather", "read_file", "list_files"))
    assert site.post(page("tool_change", first.pk), tool_form(site, first, fallback=second.pk)).status_code == 302
    assert site.post(page("tool_change", second.pk), tool_form(site, second, fallback=third.pk)).status_code == 302
    response = site.post(page("tool_change", third.pk), tool_form(site, third, fallback=first.pk))
    assert "→" in errors(response)["fallback"][0]
    response = site.post(page("tool_change", third.pk), tool_form(site, third, fallback=third.pk))
    assert "fallback" in errors(response)


def test_tools_are_neither_added_nor_deleted_here(site):
    tool = Tool.objects.get(name="weather")
    assert site.get(page("tool_add")).status_code == 403
    assert site.post(page("tool_delete", tool.pk), {"post": "yes"}).status_code == 403
    assert Tool.objects.filter(name="weather").exists()


# --- agents ---------------------------------------------------------------------------------------------------------


def agent_form(**changes) -> dict:
    form = {
        "name": "Clerk",
        "description": "",
        "instructions": "",
        "max_turns": "5",
        "folding": "window",
        "whole_turns": "10",
        "enabled": "on",
    }
    return form | {"goals-TOTAL_FORMS": "0", "goals-INITIAL_FORMS": "0"} | changes


def test_an_agent_gets_the_tools_that_were_chosen(site):
    tools = Tool.objects.filter(name__in=("weather", "calculator"))
    assert site.post(page("agent_add"), agent_form(tools=[tool.pk for tool in tools])).status_code == 302
    assert set(Agent.objects.get(name="Clerk").tools.all()) == set(tools)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "Builder"),
        ("max_turns", "0"),
        ("max_turns", "201"),
        ("tools", "9999"),
        ("instructions", "\x00"),
    ],
)
def test_a_bad_agent_is_refused_with_the_field_named(site, field, value):
    response = site.post(page("agent_add"), agent_form(**{field: value}))
    assert list(errors(response)) == [field]


# --- policies -------------------------------------------------------------------------------------------------------


def policy_form(policy: Policy, **changes) -> dict:
    """The form as the page shows it."""
    rules = list(policy.rules.all())
    sent = {
        "name": policy.name,
        "enabled": "on",
        "rules-TOTAL_FORMS": len(rules),
        "rules-INITIAL_FORMS": len(rules),
    }
    for place, rule in enumerate(rules):
        names = ("id", "policy_id", "position", "tool", "risk", "verdict", "reason")
        sent |= {f"rules-{place}-{name.removesuffix('_id')}": getattr(rule, name) for name in names}
        if rule.requires_comment:
            sent[f"rules-{place}-requires_comment"] = "on"
    return sent | changes


NEW_RULE = {
    "rules-TOTAL_FORMS": 4,
    "rules-3-position": "9",
    "rules-3-tool": "write_*",
    "rules-3-verdict": "deny",
    "rules-3-reason": "frozen",
}


@pytest.mark.parametrize(
    ("changes", "version"),
    [
        pytest.param({}, 1, id="nothing was changed"),
        pytest.param({"name": "house rules"}, 2, id="its name"),
        pytest.param({"enabled": ""}, 2, id="switched off"),
        pytest.param({"rules-0-verdict": "ask"}, 2, id="a rule was changed"),
        pytest.param({"rules-1-requires_comment": "on"}, 2, id="a comment is wanted"),
        pytest.param({"rules-1-DELETE": "on"}, 2, id="a rule was taken away"),
        pytest.param(NEW_RULE, 2, id="a rule was added"),
    ],
)
def test_the_version_grows_with_each_change_and_only_then(site, changes, version):
    policy = Policy.objects.get()
    assert site.post(page("policy_change", policy.pk), policy_form(policy, **changes)).status_code == 302
    assert Policy.objects.get().version == version


def test_a_version_that_grew_meanwhile_is_not_taken_back(site):
    policy = Policy.objects.get()
    sent = policy_form(policy, name="house rules")
    services.policy_changed(policy=policy)
    site.post(page("policy_change", policy.pk), sent)
    assert Policy.objects.get().version == 3


def test_a_new_rule_counts_at_the_next_judgement(site):
    policy = Policy.objects.get()
    site.post(page("policy_change", policy.pk), policy_form(policy, **NEW_RULE))
    assert judge("write_file")[0].rule == "default v2: write_* → deny"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tool", "two words"),
        ("tool", "write_[ab]"),
        ("tool", ""),
        ("verdict", "perhaps"),
        ("risk", "huge"),
        ("position", "-1"),
    ],
)
def test_a_bad_rule_is_refused_with_the_field_named(site, field, value):
    policy = Policy.objects.get()
    sent = policy_form(policy, **NEW_RULE | {f"rules-3-{field}": value})
    response = site.post(page("policy_change", policy.pk), sent)
    found = response.context["inline_admin_formsets"][0].formset.errors
    assert [list(errors) for errors in found if errors] == [[field]]
    assert Policy.objects.get().version == 1


def test_a_rule_that_means_no_tool_is_stored_with_a_warning(site):
    policy = Policy.objects.get()
    sent = policy_form(policy, **NEW_RULE | {"rules-3-tool": "wirte_file"})
    response = site.post(page("policy_change", policy.pk), sent, follow=True)
    assert "The rule for wirte_file speaks of no tool that exists." in response.content.decode()
    assert PolicyRule.objects.filter(tool="wirte_file").exists()


# --- every page -----------------------------------------------------------------------------------------------------


def every_page() -> list[str]:
    rows = {"chatmodel": ChatModel, "tool": Tool, "agent": Agent, "policy": Policy}
    lists = [page(f"{name}_changelist") for name in rows]
    adds = [page(f"{name}_add") for name in rows if name != "tool"]
    return [*lists, *adds, *(page(f"{name}_change", model.objects.first().pk) for name, model in rows.items())]


def test_no_page_has_code_in_it(site):
    for address in every_page():
        response = site.get(address)
        assert response.status_code == 200, address
        assert inline_code(response.content.decode()) == [], address
        assert "'unsafe-inline'" not in response["Content-Security-Policy"]


@pytest.mark.parametrize("name", ["agent", "policy", "tool", "chatmodel"])
def test_a_longer_list_takes_no_more_queries(site, name):
    model = ChatModel.objects.create(name="m0", kind="scripted")

    def more(count: int) -> None:
        for n in range(count):
            Agent.objects.create(name=f"Agent {n} of {count}", model=model)
            Policy.objects.create(name=f"Policy {n} of {count}")
            Tool.objects.create(name=f"tool-{n}-{count}", label="x", description="x")
            ChatModel.objects.create(name=f"m-{n}-{count}", kind="scripted")

    more(1)
    site.get(page(f"{name}_changelist"))
    with CaptureQueriesContext(connection) as few:
        site.get(page(f"{name}_changelist"))
    more(8)
    with CaptureQueriesContext(connection) as many:
        site.get(page(f"{name}_changelist"))
    assert len(many) == len(few)
