"""System prompts are versioned templates: admins edit them, runs name the version that they began with."""

import json
from datetime import UTC, datetime

import pytest

from agentweb.registry import demo, prompts, services, snapshots
from agentweb.registry.models import Agent, Prompt, PromptVersion
from agentweb.registry.placeholders import filled
from agentweb.runs import services as run_services
from agentweb.runs.models import Message, Run
from tests.registry.pages import errors, page

OF_RUN = {"question": lambda: "Why {{ team }}?", "notes": lambda: "", "date": lambda: "2026-11-30", "team": lambda: "T"}
NO_INLINE = {"versions-TOTAL_FORMS": "0", "versions-INITIAL_FORMS": "0"}


def system(agent: Agent, of_run=None) -> str:
    return json.loads(snapshots.build(Agent.objects.get(pk=agent.pk), of_run=of_run).text)["system"]


def template(agent: Agent, text: str) -> Prompt:
    """The agent's own, with this text."""
    prompt = Prompt.objects.create(name="own", text=text)
    services.write_prompt(prompt=prompt, text=text)
    Agent.objects.filter(pk=agent.pk).update(prompt=prompt, instructions="Be brief.")
    return prompt


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("You are {{ agent }}.", "You are Assistant."),
        ("{{instructions}}\n\n{{ notes }}\n\n{{ date }}", "Be brief.\n\n2026-11-30"),
        ("{{ tool_names }}", ", ".join(sorted(demo.EVERYDAY))),
        ("Team {{ team }}: {{ question }}", "Team T: Why {{ team }}?"),
        ('Answer as {"a": {"b": 1}} {x}', 'Answer as {"a": {"b": 1}} {x}'),
    ],
)
def test_placeholders_become_values_of_the_run_that_begins(cast, text, shown):
    template(cast.agent, text)
    assert system(cast.agent, OF_RUN) == shown


def test_each_tool_is_listed_with_its_description(cast):
    template(cast.agent, "Tools:\n{{ tools }}")
    lines = system(cast.agent).splitlines()
    assert len(lines) == 1 + len(demo.EVERYDAY) and lines[2].startswith("- calculator: ")


def test_an_agent_without_tools_is_told_so_and_one_without_a_template_has_the_built_in_one(cast):
    with_row = system(cast.agent)
    cast.agent.tools.clear()
    Agent.objects.filter(pk=cast.agent.pk).update(prompt=None)
    built_in = json.loads(snapshots.build(Agent.objects.get(pk=cast.agent.pk)).text)
    assert built_in["system"] == f"{with_row}\n\n{prompts.NO_TOOLS}"
    assert built_in["prompt"] == {"name": "", "version": prompts.VERSION}


def test_a_value_is_looked_up_only_where_it_is_used():
    asked = []
    assert filled("Hello", {"team": lambda: asked.append("team") or ""}) == "Hello"
    assert filled("{{ team }}", {"team": lambda: asked.append("team") or "T"}) == "T"
    assert asked == ["team"]


@pytest.mark.parametrize(
    "text", ["", "You are {{ agnet }}.", "{{ agent.name }}", "{{}}", "You are {{ agent.", "{{ agent }} and {{ tools"]
)
def test_a_placeholder_that_is_not_known_or_not_closed_is_refused(site, text):
    response = site.post(page("prompt_add"), {"name": "new", "text": text} | NO_INLINE)
    assert list(errors(response)) == ["text"] and not Prompt.objects.filter(name="new").exists()


def test_each_text_is_a_version_and_the_old_ones_stay_to_be_read(site, cast):
    site.post(page("prompt_add"), {"name": "new", "text": "First {{ instructions }}"} | NO_INLINE)
    prompt = Prompt.objects.get(name="new")
    for text in ("Second {{ instructions }}", "Second {{ instructions }}", "Third"):
        response = site.post(page("prompt_change", prompt.pk), {"name": "new", "text": text} | NO_INLINE, follow=True)
    assert "The instructions of agents are not used" in response.content.decode()
    rows = PromptVersion.objects.filter(prompt=prompt).order_by("version")
    assert [(row.version, row.text, row.created_by) for row in rows] == [
        (1, "First {{ instructions }}", cast.admin),
        (2, "Second {{ instructions }}", cast.admin),
        (3, "Third", cast.admin),
    ]
    html = site.get(page("prompt_change", prompt.pk)).content.decode()
    assert "First {{ instructions }}" in html


def test_a_template_that_agents_use_is_not_deleted(site, cast):
    prompt = template(cast.agent, "You are {{ agent }}.")
    site.post(page("prompt_delete", prompt.pk), {"post": "yes"})
    assert Prompt.objects.filter(pk=prompt.pk).exists()


def test_a_run_keeps_the_version_that_it_began_with(cast):
    prompt = template(cast.agent, "{{ date }} {{ team }}: {{ question }} {{ notes }}")
    run = cast.run("Who are you?")
    services.write_prompt(prompt=prompt, text="Another")
    kept = json.loads(Run.objects.get(pk=run.pk).snapshot.data)
    assert kept["prompt"] == {"name": "own", "version": 1}
    assert kept["system"] == f"{datetime.now(UTC):%Y-%m-%d, %A} Team: Who are you?"


def test_working_notes_of_an_older_fold_are_told(cast):
    template(cast.agent, "Notes: {{ notes }}")
    conversation = cast.conversation()
    for notes in ("The sum is 5.", ""):
        Message.objects.create(conversation=conversation, role="system", why="folded", extra={"notes": notes})
    run = run_services.send_message(user=cast.owner, conversation=conversation, text="Go on").run
    assert json.loads(Run.objects.get(pk=run.pk).snapshot.data)["system"] == "Notes: The sum is 5."
