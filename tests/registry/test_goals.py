"""Goal checks: set up in the admin with every mistake named, kept with the run, and made against answer and files."""

import asyncio
import json
from pathlib import Path

import pytest

from agentweb.registry import goals, snapshots
from agentweb.registry.models import Agent, GoalCheck
from agentweb.toolbox.workspace import Workspace
from tests.registry.pages import page

HERE = "tests.registry.test_goals"
SCHEMA = {"type": "object", "required": ["total"], "properties": {"total": {"type": "integer"}}}


def polite(answer: str, files: Workspace) -> str | None:
    return None if "please" in answer else "Say please."


def has_files(answer: str, files: Workspace) -> bool:
    return bool(files.list())


NOT_A_FUNCTION = 5


def goal_form(**fields) -> dict:
    """What a browser sends for a new agent with one goal check."""
    form = {
        "name": "Clerk",
        "description": "",
        "instructions": "",
        "max_turns": "5",
        "folding": "window",
        "whole_turns": "10",
        "enabled": "on",
    }
    form |= {"goals-TOTAL_FORMS": "1", "goals-INITIAL_FORMS": "0", "goals-0-position": "0"}
    return form | {f"goals-0-{name}": value for name, value in fields.items()}


@pytest.fixture(autouse=True)
def allowed(settings):
    settings.GOAL_MODULES = [HERE]


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "file", "path": "report.md"},
        {"kind": "json", "schema": json.dumps(SCHEMA)},
        {"kind": "json", "path": "a.json", "schema": json.dumps(SCHEMA), "label": "The sum"},
        {"kind": "text", "pattern": "^# "},
        {"kind": "function", "function": f"{HERE}.polite"},
    ],
)
def test_an_admin_adds_a_check_and_new_runs_keep_it(site, fields):
    assert site.post(page("agent_add"), goal_form(**fields)).status_code == 302
    agent = Agent.objects.get(name="Clerk")
    [kept] = json.loads(snapshots.build(agent).text)["goals"]
    schema = json.loads(fields.get("schema", "{}"))
    assert kept == {"label": "", "path": "", "pattern": "", "function": ""} | fields | {"schema": schema}


@pytest.mark.parametrize(
    ("fields", "wrong", "words"),
    [
        ({"kind": "file"}, "path", "needs this"),
        ({"kind": "file", "path": "../secret"}, "path", ".."),
        ({"kind": "json"}, "schema", "needs this"),
        ({"kind": "json", "schema": "{nonsense"}, "schema", "Not valid JSON"),
        ({"kind": "json", "schema": '{"type": "text"}'}, "schema", "no JSON Schema"),
        ({"kind": "text"}, "pattern", "needs this"),
        ({"kind": "text", "pattern": "(("}, "pattern", "pattern"),
        ({"kind": "text", "pattern": "(a+)+$"}, "pattern", ""),
        ({"kind": "function"}, "function", "needs this"),
        ({"kind": "function", "function": "os.system"}, "function", "GOAL_MODULES"),
        ({"kind": "function", "function": f"{HERE}.nothing"}, "function", "cannot be found"),
        ({"kind": "function", "function": f"{HERE}.NOT_A_FUNCTION"}, "function", "cannot be called"),
        ({"kind": "guess", "path": "a"}, "kind", ""),
    ],
)
def test_a_check_that_cannot_work_is_refused_with_the_field_named(site, fields, wrong, words):
    response = site.post(page("agent_add"), goal_form(**fields))
    [formset] = [each.formset for each in response.context["inline_admin_formsets"]]
    [errors] = formset.errors
    assert list(errors) == [wrong]
    assert words in errors[wrong][0]
    assert not Agent.objects.filter(name="Clerk").exists()


def missing(tmp_path: Path, answer: str, files: dict[str, str] | None = None, **fields) -> str:
    for path, text in (files or {}).items():
        Workspace(tmp_path).write_bytes(path, text.encode())
    row = GoalCheck(**fields)
    names = ("kind", "label", "path", "schema", "pattern", "function")
    snapshot = {"goals": [{name: getattr(row, name) for name in names}]}
    [goal] = goals.goals_in(snapshot, workspace=tmp_path)
    assert goal.words
    return asyncio.run(goal.check(answer))


@pytest.mark.parametrize(
    ("fields", "answer", "files", "said"),
    [
        ({"kind": "file", "path": "a.md"}, "", {"a.md": ""}, ""),
        ({"kind": "file", "path": "a.md"}, "", {}, "There is no file a.md."),
        ({"kind": "json", "schema": SCHEMA}, '{"total": 5}', {}, ""),
        ({"kind": "json", "schema": SCHEMA}, '```json\n{"total": 5}\n```', {}, ""),
        ({"kind": "json", "schema": SCHEMA}, "Five.", {}, "It is not valid JSON"),
        ({"kind": "json", "schema": SCHEMA}, "{}", {}, "total"),
        ({"kind": "json", "schema": SCHEMA, "path": "a.json"}, "", {"a.json": '{"total": "x"}'}, "total"),
        ({"kind": "json", "schema": SCHEMA, "path": "a.json"}, "", {"a.json": '{"total": 1}'}, ""),
        ({"kind": "json", "schema": SCHEMA, "path": "a.json"}, "", {}, "There is no file a.json."),
        ({"kind": "text", "pattern": "^# "}, "# Title", {}, ""),
        ({"kind": "text", "pattern": "^# "}, "Title", {}, "does not match the pattern ^# "),
        ({"kind": "text", "pattern": "x", "path": "a.md"}, "x", {"a.md": "y"}, "does not match"),
        ({"kind": "text", "pattern": "x", "path": "a.md"}, "x", {}, "There is no file a.md."),
        ({"kind": "function", "function": f"{HERE}.polite"}, "please", {}, ""),
        ({"kind": "function", "function": f"{HERE}.polite"}, "now", {}, "Say please."),
        ({"kind": "function", "function": f"{HERE}.has_files"}, "", {"a.md": ""}, ""),
        ({"kind": "function", "function": f"{HERE}.has_files"}, "", {}, "It is not."),
    ],
)
def test_what_a_check_says(tmp_path, fields, answer, files, said):
    found = missing(tmp_path, answer, files, **fields)
    assert said in found and bool(found) == bool(said)


def test_a_text_too_long_for_its_pattern_is_not_tried(tmp_path):
    assert "too long to be checked" in missing(tmp_path, "x" * 1_000_001, kind="text", pattern="y")


def test_a_run_from_before_there_were_checks_has_none(tmp_path):
    assert goals.goals_in({}, workspace=tmp_path) == ()
