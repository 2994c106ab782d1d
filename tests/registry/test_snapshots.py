"""What a run keeps of its set-up: all that it used, and nothing secret."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from agentweb.llm.config import ModelConfig
from agentweb.registry import services, snapshots
from agentweb.registry.chat_models import today
from agentweb.registry.models import ChatModel, ModelPrice, Tool

KEY, HEADER = "sk-verysecret-1234567890", "Bearer-of-a-header-value"


@pytest.fixture
def paid(cast) -> ChatModel:
    """The cast's agent uses an endpoint with a key and a header."""
    model = ChatModel(
        name="paid", base_url="https://models.example/v1", model_name="big", headers={"X-Secret": HEADER}, temperature=0
    )
    services.give_key(model=model, key=KEY)
    model.save()
    cast.agent.model = model
    cast.agent.save()
    return model


def test_no_key_and_no_header_is_in_the_text(cast, paid):
    text = snapshots.build(cast.agent).text
    assert "https://models.example/v1" in text
    for secret in (KEY, KEY[-4:], HEADER, "X-Secret", paid.encrypted_key):
        assert secret not in text


def test_the_same_set_up_has_the_same_digest(cast, paid):
    first = snapshots.build(cast.agent)
    cast.agent.refresh_from_db()
    again = snapshots.build(cast.agent)
    assert (first.text, first.digest) == (again.text, again.digest)


def rename_the_model(cast):
    ChatModel.objects.filter(name="paid").update(model_name="bigger")


def raise_the_price(cast):
    ModelPrice.objects.create(model=ChatModel.objects.get(name="paid"), output_price="3.5")


def allow_no_streams(cast):
    ChatModel.objects.filter(name="paid").update(streams=False)


def speak_in_text(cast):
    ChatModel.objects.filter(name="paid").update(protocol="text")


def instruct(cast):
    cast.agent.instructions = "Be brief."


def take_a_tool(cast):
    cast.agent.tools.remove(Tool.objects.get(name="weather"))


def switch_a_tool_off(cast):
    Tool.objects.filter(name="weather").update(enabled=False)


def shorten_a_time_out(cast):
    Tool.objects.filter(name="weather").update(timeout_s=3)


def limit_the_turns(cast):
    cast.agent.max_turns = 3


@pytest.mark.parametrize(
    "change",
    [
        rename_the_model,
        raise_the_price,
        allow_no_streams,
        speak_in_text,
        instruct,
        take_a_tool,
        switch_a_tool_off,
        shorten_a_time_out,
        limit_the_turns,
    ],
)
def test_any_change_of_what_a_run_uses_changes_the_digest(cast, paid, change):
    before = snapshots.build(cast.agent).digest
    change(cast)
    agent = type(cast.agent).objects.get(pk=cast.agent.pk)
    agent.instructions, agent.max_turns = cast.agent.instructions, cast.agent.max_turns
    assert snapshots.build(agent).digest != before


def test_changing_only_the_key_or_the_risk_keeps_the_digest(cast, paid):
    before = snapshots.build(cast.agent).digest
    services.give_key(model=paid, key="another-key-of-the-same")
    paid.save()
    Tool.objects.update(risk="high")
    assert snapshots.build(cast.agent).digest == before


def test_an_agent_without_a_model_of_its_own_takes_the_one_named_default_else_the_scripted_one(cast):
    assert snapshots.build(cast.agent).model_name == "scripted"
    ChatModel.objects.create(name="default", base_url="https://models.example/v1", model_name="big")
    assert snapshots.build(cast.agent).model_name == "default"


def test_without_any_model_one_sentence_says_what_to_do(cast):
    ChatModel.objects.all().delete()
    with pytest.raises(snapshots.NoModel, match=r"manage\.py prepare"):
        snapshots.build(cast.agent)


def test_a_tool_that_is_no_longer_in_the_code_is_not_offered(cast):
    cast.agent.tools.add(Tool.objects.create(name="gone", label="Gone", description="It was here."))
    assert "gone" not in [tool["name"] for tool in json.loads(snapshots.build(cast.agent).text)["tools"]]


def test_a_fallback_is_kept_with_its_own_settings_and_never_for_itself(cast, paid):
    cast.agent.fallback_model = ChatModel.objects.create(name="spare", base_url="http://127.0.0.1:9/v1", model_name="s")
    assert json.loads(snapshots.build(cast.agent).text)["fallback"]["base_url"] == "http://127.0.0.1:9/v1"
    cast.agent.model = cast.agent.fallback_model
    assert json.loads(snapshots.build(cast.agent).text)["fallback"] is None


def test_a_run_keeps_the_prices_of_its_day_and_those_that_are_known_to_come(cast, paid):
    day = today()
    for since, price in ((-30, "1"), (-1, "2.50"), (1, "4"), (9, "5")):
        ModelPrice.objects.create(model=paid, valid_from=day + timedelta(days=since), output_price=price)
    config = ModelConfig.from_snapshot(json.loads(snapshots.build(cast.agent).text)["model"])
    days = [config.prices_on(day + timedelta(days=ahead)).output for ahead in (0, 1, 8, 9, 400)]
    assert days == [Decimal(price) for price in ("2.5", "4", "4", "5", "5")]
    assert config.prices_now().output == Decimal("2.5")
