"""Secrets reach the tools that name them and may have them, and nothing that those tools say holds one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentweb.engine.ports import Output, Progress, ToolError, ToolSuspension
from agentweb.engine.redaction import REMOVED
from agentweb.registry import catalog, outside, secrets
from agentweb.registry.checks import check_keys
from agentweb.registry.models import Secret, Tool
from agentweb.registry.secret_admin import SecretForm
from agentweb.registry.tool_secrets import Crashed
from agentweb.toolbox.catalog import BUILT_IN

VALUE = "tk-0123456789-abcd"
NAMES = ("tell_secret", "tell_nothing")

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(settings):
    """The tools of these tests, as a site has them."""
    settings.TOOLBOX_MODULES = [*BUILT_IN[:1], "tests.registry.secret_tools"]
    catalog.tools.cache_clear()
    yield {name: Tool.objects.create(name=name, label=name, description=name) for name in NAMES}
    catalog.tools.cache_clear()


def entered(*tools: Tool, name: str = "TICKETS_KEY", value: str = VALUE) -> SecretForm:
    form = SecretForm({"name": name, "value": value, "tools": [tool.pk for tool in tools]})
    if form.is_valid():
        form.save()
    return form


def run(name: str, **arguments: Any) -> list[Progress | Output]:
    tool, context = catalog.find(NAMES)[name], outside.context("call", Path("nowhere"))

    async def steps() -> list[Progress | Output]:
        return [step async for step in tool.execute(arguments, context)]

    return asyncio.run(steps())


def test_a_tool_gets_what_it_names_and_tells_nothing_of_it(rows):
    entered(rows["tell_secret"])
    progress, output = run("tell_secret", how="plainly")
    assert progress == Progress(f"with {REMOVED}", 0.5)
    assert output.content == f"{REMOVED} and ['TICKETS_KEY']"
    (nothing,) = run("tell_nothing")
    assert nothing.content == "{}"
    shown = catalog.find(NAMES)["tell_secret"].preview({"how": "plainly"}, outside.context("call", Path("nowhere")))
    assert (shown.effect, shown.data) == (f"Calls with {REMOVED}", {"text": REMOVED, "more": [{"deep": REMOVED}]})


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("error", ToolError, f"No: {REMOVED}"),
        ("bug", Crashed, f"KeyError: '{REMOVED}'"),
        ("suspension", ToolSuspension, f"What is {REMOVED}?"),
    ],
)
def test_no_failure_tells_it_either(rows, how, kind, words):
    entered(rows["tell_secret"])
    with pytest.raises(kind) as failed:
        run("tell_secret", how=how)
    assert str(failed.value) == words
    assert VALUE not in repr(vars(failed.value)) and failed.value.__cause__ is None


def test_without_an_admins_yes_a_tool_that_names_a_secret_does_not_get_it(rows):
    entered()
    with pytest.raises(ToolError, match="The secret TICKETS_KEY is not there for this tool"):
        run("tell_secret", how="plainly")


def test_what_is_stored_is_encrypted_and_only_its_end_can_be_seen(rows):
    entered(rows["tell_secret"])
    row = Secret.objects.get()
    assert VALUE not in row.encrypted_value and row.hint == VALUE[-4:]
    assert VALUE in secrets.seen()  # so that the log leaves it out
    assert VALUE not in SecretForm(instance=row).as_p()
    kept = SecretForm({"name": "TICKETS_KEY", "note": "ours", "value": ""}, instance=row)
    assert kept.is_valid() and secrets.decrypt(kept.save().encrypted_value) == VALUE


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": "tickets key"}, "name"),
        ({"value": ""}, "value"),
        ({"value": "a\0b"}, "value"),
        ({"name": "OTHER_KEY"}, "tools"),
    ],
)
def test_a_secret_that_no_tool_could_use_is_not_taken(rows, values, field):
    assert field in entered(rows["tell_secret"], **values).errors


def test_only_tools_that_ask_for_secrets_can_be_chosen(rows):
    assert [tool.name for tool in SecretForm().fields["tools"].queryset] == ["tell_secret"]
    assert "tools" in entered(rows["tell_nothing"]).errors


def test_one_that_cannot_be_read_any_more_is_named_and_given_to_nobody(rows, settings):
    entered(rows["tell_secret"])
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-secret-key-of-many-characters", []
    assert "The secret TICKETS_KEY cannot be read" in next(str(found.msg) for found in check_keys())
    with pytest.raises(ToolError, match="is not there for this tool"):
        run("tell_secret", how="plainly")
