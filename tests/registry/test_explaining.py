"""Why a person can use a tool, and trying a tool out: what the admin's pages say."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group

from agentweb.registry import catalog, services
from agentweb.registry.explaining import explain
from agentweb.registry.models import Policy, PolicyRule, Tool
from agentweb.registry.trying import try_tool
from agentweb.toolbox.tool import tool
from tests.chat.views.person import browser, text_of
from tests.registry.pages import page

REPORTS = {"properties": {"path": {"pattern": "^reports/"}}, "required": ["path"]}


@pytest.fixture
def site(cast):
    cast.admin.is_staff = cast.admin.is_superuser = True
    cast.admin.save()
    return browser(cast.admin)


def house(**rule) -> None:
    policy = Policy.objects.create(name="house")
    PolicyRule.objects.create(policy=policy, **{"tool": "write_file", "verdict": "deny"} | rule)
    services.enact(policy=policy)


def why(cast, name="write_file", user=None):
    return explain(agent=cast.builder, tool=Tool.objects.get(name=name), user=user or cast.owner, team=cast.team)


def test_the_chain_is_told_from_the_person_to_the_version(cast):
    cast.owner.groups.add(Group.objects.create(name="Editors"))
    found = why(cast)
    assert found.verdict == "People would be asked."
    assert found.hindrances == []
    assert found.person[1] == "Groups: Editors."
    assert [(rule.decides, rule.sure) for rule in found.rules] == [(True, True)]
    assert [version.name for version in found.versions] == [str(Policy.objects.get(name="default"))]


@pytest.mark.parametrize(
    ("rule", "verdict", "sure"),
    [
        ({}, "It would be refused.", True),
        (
            {"condition": REPORTS},
            "It depends on the arguments. Where no rule about arguments fits: People would be asked. "
            "At the strictest: It would be refused.",
            False,
        ),
        ({"role": "admin"}, "People would be asked.", None),
    ],
    ids=["for everyone", "by arguments", "for others"],
)
def test_rules_that_may_speak_are_told_from_those_that_do(cast, rule, verdict, sure):
    house(**rule)
    found = why(cast)
    assert found.verdict == verdict
    assert [one.sure for one in found.rules if one.words.startswith("house")] == ([] if sure is None else [sure])


def test_what_keeps_a_person_away_comes_first(cast):
    assert "stranger" in why(cast, user=cast.stranger).hindrances[0]


def test_the_page_can_be_passed_on_as_an_address(cast, site):
    address = f"{page('policy_why')}?user=owner&agent={cast.builder.pk}&tool=write_file"
    assert "People would be asked." in text_of(site.get(address))
    assert "Who, with which agent" in text_of(site.get(f"{page('policy_why')}?tool=write_file"))


# --- trying a tool out ----------------------------------------------------------------------------------------------


def trial(name: str) -> str:
    return page("tool_try", Tool.objects.get(name=name).pk)


def test_the_page_shows_what_people_would_read_about_such_a_call(site):
    Tool.objects.filter(name="write_file").update(fact="Writes {{ path }}", previews=False)
    sent = {"argument:path": "a.txt", "argument:content": "x", "confirmed": "yes"}
    shown = " ".join(site.post(trial("write_file"), sent).content.decode().split())
    assert '<li dir="auto">Writes a.txt</li>' in shown
    assert 'Creates a.txt (1 line) <span class="said">not shown: switched off</span>' in shown


def test_a_tool_runs_at_a_click_in_a_folder_of_its_own(site):
    Tool.objects.filter(name="write_file").update(risk="low")
    answer = site.post(trial("write_file"), {"argument:path": "a.txt", "argument:content": "one"})
    assert "It worked." in text_of(answer)
    assert "a.txt 3 B" in text_of(answer)
    assert LogEntry.objects.latest("pk").change_message.startswith("Tested in ")


@pytest.mark.parametrize(
    ("risk", "confirmed", "runs"),
    [
        ("medium", {}, False),
        ("medium", {"confirmed": "yes"}, True),
        ("high", {"confirmed": "yes"}, False),
        ("high", {"typed": "calculator"}, True),
    ],
)
def test_riskier_tools_want_to_be_confirmed(site, risk, confirmed, runs):
    Tool.objects.filter(name="calculator").update(risk=risk)
    answer = site.post(trial("calculator"), {"argument:expression": "6*7"} | confirmed)
    assert ("It worked." in text_of(answer)) is runs
    assert ("Confirm first" in text_of(answer)) is not runs


def test_arguments_that_do_not_fit_run_nothing(site):
    answer = site.post(trial("calculator"), {"argument:expression": ""})
    assert "It worked." not in text_of(answer)
    assert "error" in answer.content.decode()


def test_what_a_tool_does_wrong_is_told_and_never_raised():
    @tool(label="Bad")
    def bad(text: str) -> str:
        """Fails.

        Args:
            text: anything
        """
        raise ValueError(text)

    tried = try_tool(bad, {"text": "oops"}, timeout_s=5)
    assert (tried.kind, tried.text) == ("error", "The tool failed unexpectedly: ValueError: oops")
    late = try_tool(catalog.tools()["calculator"], {"expression": "1+1"}, timeout_s=0)
    assert late.kind == "timeout"
