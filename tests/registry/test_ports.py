"""What the loop gets: the model, the agent's own tools, and the policy as it is now."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.engine.enums import ErrorKind, Risk
from agentweb.engine.ports import Allow, Ask, Deny, ModelError, ModelRequest
from agentweb.llm.native import OpenAIModel
from agentweb.llm.scripted.model import ScriptedModel
from agentweb.registry import catalog, demo, services, snapshots
from agentweb.registry.models import ChatModel, Policy, PolicyRule, Tool
from agentweb.registry.policies import Who, standing
from agentweb.registry.ports import AgentTools, model_for, warm_up
from tests.registry.judging import judge


def snapshot_of(agent) -> dict:
    return json.loads(snapshots.build(agent).text)


def tools_of(agent) -> AgentTools:
    return AgentTools(snapshot_of(agent), workspace=Path("/nowhere"), cancelled=lambda: False)


# --- tools ----------------------------------------------------------------------------------------------------------


def test_an_agent_finds_its_own_tools_and_no_other(cast):
    assistant, builder = tools_of(cast.agent), tools_of(cast.builder)
    assert {spec.name for spec in assistant.specs} == set(demo.EVERYDAY)
    assert assistant.find("write_file") is None
    assert builder.find("write_file").spec.name == "write_file"
    assert assistant.find("no_such_tool") is None


def test_what_is_given_to_one_agent_later_reaches_neither_a_live_run_nor_another_agent(cast):
    live = tools_of(cast.agent)
    cast.agent.tools.add(Tool.objects.get(name="read_file"))
    assert live.find("read_file") is None
    assert tools_of(cast.agent).find("read_file") is not None
    cast.agent.tools.remove(Tool.objects.get(name="weather"))
    assert tools_of(cast.builder).find("weather") is not None


def use(cast, **fields):
    Tool.objects.filter(name="weather").update(**fields)
    spec = tools_of(cast.agent).find("weather").spec
    return spec.retries, spec.keep_s, spec.fallback


def test_how_a_tool_is_used_is_what_its_row_says_or_what_is_usual(cast):
    assert use(cast) == (3, 60, "")
    backup = Tool.objects.get(name="read_file")
    assert use(cast, retries=0, keep_s=0, fallback=backup) == (0, 0, "read_file")
    written = tools_of(cast.builder).find("write_file").spec
    assert (written.retries, written.keep_s) == (0, 0)
    Tool.objects.filter(name="write_file").update(retries=5, keep_s=5)
    assert tools_of(cast.builder).find("write_file").spec.retries == 0


def test_a_preview_that_is_switched_off_is_not_made(cast, tmp_path):
    arguments = {"path": "a.txt", "content": "x"}
    tools = AgentTools(snapshot_of(cast.builder), workspace=tmp_path / "w", cancelled=lambda: False)
    assert tools.find("write_file").preview(arguments, tools.context("c")) is not None
    Tool.objects.filter(name="write_file").update(previews=False)
    tools = AgentTools(snapshot_of(cast.builder), workspace=tmp_path / "w", cancelled=lambda: False)
    assert tools.find("write_file").preview(arguments, tools.context("c")) is None


def test_a_tool_that_stands_in_is_found_and_not_offered(cast):
    last, backup = Tool.objects.get(name="list_files"), Tool.objects.get(name="read_file")
    Tool.objects.filter(pk=backup.pk).update(fallback=last)
    use(cast, fallback=backup)
    tools = tools_of(cast.agent)
    assert "read_file" not in [spec.name for spec in tools.specs]
    assert tools.find("read_file").spec.fallback == "list_files"
    assert tools.find("list_files") is not None
    Tool.objects.filter(pk=backup.pk).update(enabled=False)
    assert tools_of(cast.agent).find("read_file") is None


def test_a_run_that_began_before_tools_could_be_tried_again_goes_on_without(cast):
    snapshot = snapshot_of(cast.agent)
    del snapshot["substitutes"]
    for data in snapshot["tools"]:
        for name in ("deterministic", "shared", "retries", "keep_s", "fallback"):
            del data[name]
    tools = AgentTools(snapshot, workspace=Path("/nowhere"), cancelled=lambda: False)
    assert (tools.find("weather").spec.retries, tools.find("weather").spec.keep_s) == (0, 0)


def test_the_time_out_is_that_of_the_row_and_stays_with_the_agent_that_was_asked(cast):
    Tool.objects.filter(name="weather").update(timeout_s=7)
    tools = tools_of(cast.agent)
    assert tools.find("weather").spec.timeout_s == 7
    assert {spec.name: spec.timeout_s for spec in tools.specs}["weather"] == 7
    assert catalog.tools()["weather"].spec.timeout_s != 7


def test_a_tool_that_left_the_code_is_not_found(cast):
    snapshot = snapshot_of(cast.agent)
    snapshot["tools"][0]["name"] = "gone"
    tools = AgentTools(snapshot, workspace=Path("/nowhere"), cancelled=lambda: False)
    assert tools.find("gone") is None


def test_the_context_of_a_call_names_its_folder_and_passes_the_cancel_on(cast):
    asked = []
    tools = AgentTools(snapshot_of(cast.agent), workspace=Path("/files"), cancelled=lambda: bool(asked))
    context = tools.context("call-1")
    assert (context.call, context.workspace, context.cancelled()) == ("call-1", Path("/files"), False)
    asked.append("now")
    assert context.cancelled()
    assert context.now().tzinfo is not None


# --- policy ---------------------------------------------------------------------------------------------------------


def test_the_default_policy_lets_low_run_and_asks_about_the_rest(cast):
    Tool.objects.filter(name="write_file").update(risk="medium")
    Tool.objects.filter(name="delete_file").update(risk="high")
    clock, write, delete = judge("current_time", "write_file", "delete_file")
    assert clock == Allow("default v1: * at low risk → allow")
    assert write == Ask("default v1: * at medium risk → ask", Risk.MEDIUM)
    assert delete == Ask("default v1: * at high risk → ask", Risk.HIGH, requires_comment=True)


def test_a_risk_level_counts_from_the_next_judgement_on(cast):
    assert isinstance(judge("weather")[0], Allow)
    Tool.objects.filter(name="weather").update(risk="medium")
    assert judge("weather")[0] == Ask("default v1: * at medium risk → ask", Risk.MEDIUM)


def test_a_tool_that_is_switched_off_or_has_no_row_is_denied(cast):
    Tool.objects.filter(name="weather").update(enabled=False)
    Tool.objects.filter(name="calculator").delete()
    off, gone = judge("weather", "calculator")
    assert off == Deny("tool switched off", "an admin has switched this tool off")
    assert gone == Deny("tool not set up", "this tool is not set up here any more")


def test_the_rules_of_a_policy_that_is_switched_off_do_not_count(cast):
    strict = Policy.objects.create(name="strict")
    PolicyRule.objects.create(policy=strict, tool="weather", verdict="deny", reason="no weather today")
    services.enact(policy=strict)
    assert judge("weather") == (Deny("strict v1: weather → deny", "no weather today"),)
    Policy.objects.filter(name="strict").update(enabled=False)
    assert isinstance(judge("weather")[0], Allow)


def test_without_any_policy_everything_is_asked(cast):
    Policy.objects.all().delete()
    assert all(isinstance(verdict, Ask) for verdict in judge("weather", "delete_file"))


def test_judging_many_calls_takes_as_many_queries_as_judging_one(cast):
    names = sorted(catalog.tools())
    judge(names[0])  # what a version holds is read once in the life of a process
    with CaptureQueriesContext(connection) as one:
        judge(names[0])
    with CaptureQueriesContext(connection) as many:
        judge(*names, *names)
    assert len(one) == len(many) == 1


def test_a_changed_policy_has_a_new_version_which_every_rule_names(cast):
    policy = Policy.objects.get()
    assert services.policy_changed(policy=policy) == 2
    assert {(rule.policy, rule.version) for rule in standing(set(), Who()).rules} == {("default", 2)}


# --- models ---------------------------------------------------------------------------------------------------------


def endpoint(**fields) -> ChatModel:
    given = {"name": "paid", "base_url": "https://models.example/v1", "model_name": "big", **fields}
    model = ChatModel(**given)
    services.give_key(model=model, key="sk-1234567890abcdef")
    model.save()
    return model


def with_endpoint(cast, **fields) -> dict:
    cast.agent.model = endpoint(**fields)
    cast.agent.save()
    return snapshot_of(cast.agent)


def why_unusable(snapshot) -> ModelError:
    """The error that calling the model ends with."""
    model = model_for(snapshot, new_id=lambda: "id")
    stream = model.prepare(ModelRequest("m", "", ())).stream()
    with pytest.raises(ModelError) as caught:
        stream.__anext__().send(None)
    return caught.value


def test_the_scripted_model_needs_no_row(cast):
    snapshot = snapshot_of(cast.agent)
    ChatModel.objects.all().delete()
    assert isinstance(model_for(snapshot, new_id=lambda: "id"), ScriptedModel)


def test_an_endpoint_gets_the_key_and_the_headers_of_its_row(cast):
    model = model_for(with_endpoint(cast, headers={"X-Team": "blue"}), new_id=lambda: "id")
    assert isinstance(model, OpenAIModel)
    assert (model.config.api_key, model.config.headers) == ("sk-1234567890abcdef", {"X-Team": "blue"})
    assert "sk-1234567890abcdef" not in repr(model.config)


def test_the_client_of_endpoints_is_at_hand_before_a_run_needs_it_where_there_is_an_endpoint(cast, monkeypatch):
    monkeypatch.delitem(sys.modules, OpenAIModel.__module__)
    warm_up()
    assert OpenAIModel.__module__ not in sys.modules
    endpoint()
    warm_up()
    assert OpenAIModel.__module__ in sys.modules


def test_a_key_that_cannot_be_read_ends_the_run_with_a_sentence(cast, settings):
    snapshot = with_endpoint(cast)
    settings.SECRET_KEY = "another secret key, and the old one is lost"
    error = why_unusable(snapshot)
    assert error.kind is ErrorKind.AUTH
    assert not error.retryable
    assert "paid cannot be used: A stored key cannot be read" in error.message


class Keys:
    """An extension that hands out one key after the other."""

    name = "vault"

    def __init__(self, *keys: object) -> None:
        self.keys = list(keys)
        self.asked: list[tuple[str, str]] = []

    async def api_key(self, model: str, base_url: str) -> object:
        self.asked.append((model, base_url))
        key = self.keys.pop(0)
        if isinstance(key, Exception):
            raise key
        return key


@pytest.fixture
def install(settings, monkeypatch) -> Callable[..., Keys]:
    """Install an extension with these keys in place of all others."""

    def installing(*keys: object) -> Keys:
        module = f"vault_{uuid4().hex}"
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(VAULT=Keys(*keys)))
        settings.AGENTWEB_SEAMS = [f"{module}.VAULT"]
        return sys.modules[module].VAULT

    return installing


def test_an_extension_gives_a_key_for_each_call_or_leaves_the_stored_one(cast, install):
    vault = install("sk-short-lived-1", "sk-short-lived-2", None)
    model = model_for(with_endpoint(cast), new_id=lambda: "id")
    used = [asyncio.run(model.with_key()).config.api_key for _time in range(3)]
    assert used == ["sk-short-lived-1", "sk-short-lived-2", "sk-1234567890abcdef"]
    assert set(vault.asked) == {("paid", "https://models.example/v1")}


@pytest.mark.parametrize("answer", [ValueError("sk-secret is no longer valid"), 5, "sk with spaces\n"])
def test_a_key_that_could_not_be_had_fails_the_call_without_saying_more(cast, install, answer):
    install(answer)
    model = model_for(with_endpoint(cast), new_id=lambda: "id")
    with pytest.raises(ModelError) as failed:
        asyncio.run(model.with_key())
    assert failed.value.kind is ErrorKind.AUTH
    assert "the extension vault failed" in failed.value.message
    assert "sk-secret" not in failed.value.message and "spaces" not in failed.value.message


def test_a_keyed_request_has_the_digest_of_any_other(cast, install):
    request = ModelRequest("m", "", ())
    plain = model_for(with_endpoint(cast), new_id=lambda: "id").prepare(request)
    install("sk-other")
    keyed = model_for(snapshot_of(cast.agent), new_id=lambda: "id")
    assert keyed.name == "paid"
    assert keyed.prepare(request).digest == plain.digest


def test_headers_that_cannot_be_sent_end_the_run_with_a_sentence(cast):
    snapshot = with_endpoint(cast)
    ChatModel.objects.filter(name="paid").update(headers={"X-Team": 5})
    assert "X-Team" in why_unusable(snapshot).message


@pytest.mark.parametrize(
    "moved", ["https://other.example/v1", "http://models.example/v1", "https://models.example:8/v1"]
)
def test_a_key_is_never_sent_to_the_server_that_its_model_was_moved_away_from(cast, moved):
    snapshot = with_endpoint(cast)
    ChatModel.objects.filter(name="paid").update(base_url=moved)
    assert "moved to another endpoint" in why_unusable(snapshot).message


def test_a_deleted_model_ends_the_run_with_a_sentence(cast):
    snapshot = with_endpoint(cast)
    type(cast.agent).objects.update(model=None)
    ChatModel.objects.filter(name="paid").delete()
    assert "was deleted" in why_unusable(snapshot).message
