"""What `manage.py check` says, and that it says nothing without a reason."""

import sys
from types import ModuleType

import pytest
from django.core.checks import run_checks
from django.db import connection

from agentweb.registry import services
from agentweb.registry.checks import TAG
from agentweb.registry.models import ChatModel
from agentweb.toolbox import sandbox


@pytest.fixture(autouse=True)
def in_order(settings):
    settings.OPENAI_BASE_URL = settings.OPENAI_API_KEY = settings.OPENAI_MODEL = ""
    settings.REDIS_URL, settings.TOOLBOX_MODULES = "redis://127.0.0.1:1/0", []


def found() -> dict[str, str]:
    return {message.id: f"{message.msg} {message.hint or ''}" for message in run_checks(tags=[TAG])}


@pytest.mark.django_db
def test_a_site_in_order_is_silent():
    assert [each for each in found() if each != "registry.I003"] == []  # what the machine lacks is said


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"OPENAI_API_KEY": "sk-1"}, "OPENAI_API_KEY is set but OPENAI_MODEL is not"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, "OPENAI_BASE_URL is set but OPENAI_MODEL is not"),
        ({"OPENAI_MODEL": "small"}, "OPENAI_MODEL is set but neither"),
    ],
)
def test_half_an_endpoint_is_named(settings, values, expected):
    for name, value in values.items():
        setattr(settings, name, value)
    assert expected in found()["registry.I001"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_BASE_URL", "http://me:secret@127.0.0.1:9/v1"),
        ("OPENAI_API_KEY", "sk with spaces"),
        ("OPENAI_API_KEY", "é"),
    ],
)
def test_an_endpoint_that_cannot_be_sent_or_recorded_is_an_error_that_repeats_no_value(settings, name, value):
    setattr(settings, name, value)
    settings.OPENAI_MODEL, settings.OPENAI_API_KEY = "small", settings.OPENAI_API_KEY or "sk-1"
    text = found()["registry.E001"]
    assert name in text
    assert value not in text


@pytest.mark.django_db
def test_a_machine_without_a_sandbox_is_told_which_tool_nobody_gets():
    said = found().get("registry.I003", "")
    assert (f"Agents cannot be given run_shell here. {sandbox.unusable()}" in said) is bool(sandbox.unusable())


@pytest.mark.django_db
def test_without_redis_the_command_that_brings_one_is_named(settings):
    settings.REDIS_URL = ""
    assert "manage.py up" in found()["runs.W001"]


@pytest.mark.django_db
@pytest.mark.parametrize("module", ["no.such.module", "agentweb.engine.enums"])
def test_a_module_without_tools_is_named(settings, module):
    settings.TOOLBOX_MODULES = [module]
    assert f"TOOLBOX_MODULES: {module} cannot be used" in found()["registry.E002"]


@pytest.mark.django_db
def test_a_module_with_a_tool_is_in_order(settings):
    settings.TOOLBOX_MODULES = ["agentweb.toolbox.clock"]
    assert found() == {}


@pytest.mark.django_db
def test_a_tool_whose_name_is_taken_is_named(settings, tmp_path, monkeypatch):
    (tmp_path / "more_tools_of_a_test.py").write_text(
        "from agentweb.toolbox.tool import tool\n"
        "@tool(label='Weather')\ndef weather(city: str) -> str:\n    '''Another one.'''\n    return city\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    settings.TOOLBOX_MODULES = ["more_tools_of_a_test"]
    assert 'Two tools are named "weather"' in found()["registry.E002"]
    assert isinstance(sys.modules.pop("more_tools_of_a_test"), ModuleType)


@pytest.mark.django_db
def test_a_key_that_cannot_be_read_is_named_with_its_model(settings):
    model = ChatModel(name="paid", base_url="https://models.example/v1", model_name="big")
    services.give_key(model=model, key="sk-1234567890abcd")
    model.save()
    assert found() == {}
    settings.SECRET_KEY = "another secret key, and the old one is lost"
    text = found()["registry.W001"]
    assert "model paid" in text
    assert "SECRET_KEY_FALLBACKS" in text


@pytest.mark.django_db(transaction=True)
def test_a_database_without_tables_is_no_reason_to_fail():
    with connection.schema_editor() as editor:
        editor.alter_db_table(ChatModel, "registry_chatmodel", "registry_chatmodel_away")
    try:
        assert found() == {}
    finally:
        with connection.schema_editor() as editor:
            editor.alter_db_table(ChatModel, "registry_chatmodel_away", "registry_chatmodel")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nothing", "cannot be found"),
        ("no.such.module.Seam", "cannot be found"),
        ("agentweb.engine.recovering.Nothing", "cannot be found"),
        ("agentweb.engine.recovering.NOT_TOLD", "has no method named"),
    ],
)
def test_an_extension_that_cannot_be_asked_anything_is_named(settings, path, why):
    settings.AGENTWEB_SEAMS = ["agentweb.engine.recovering.Recovery", path]
    assert f"AGENTWEB_SEAMS: {path}" in found()["registry.E003"]
    assert why in found()["registry.E003"]


@pytest.mark.django_db
def test_a_site_without_recovery_is_told_what_that_means(settings):
    settings.AGENTWEB_SEAMS = []
    assert "waits until a person lets it go on" in found()["registry.I002"]
