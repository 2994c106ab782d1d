"""A model's settings come from plain JSON, and a wrong one is named."""

from decimal import Decimal

import pytest

from agentweb.llm.config import ConfigError, ModelConfig, SendThinking, ToolProtocol
from agentweb.llm.factory import make_model
from agentweb.llm.native import OpenAIModel
from agentweb.llm.recorded import config_of
from agentweb.llm.scripted.model import ScriptedModel
from agentweb.llm.usage import Prices, estimated, reported

SNAPSHOT = {
    "name": "default",
    "base_url": "http://127.0.0.1:1/v1",
    "model_name": "m",
    "temperature": 0.3,
    "context_size": 4096,
    "input_price": "2.50",
    "cached_price": "0.25",
    "output_price": 10,
    "idle_timeout_s": 30,
    "total_timeout_s": 300,
    "headers": {"X-A": "b"},
    "body": {"top_p": 1},
    "strict_roles": True,
    "send_thinking": "always",
    "something_else": 1,
}


def test_every_setting_is_read():
    config = ModelConfig.from_snapshot(SNAPSHOT, api_key="secret-key")
    assert (config.name, config.base_url, config.model) == ("default", "http://127.0.0.1:1/v1", "m")
    assert (config.temperature, config.context_size, config.strict_roles) == (0.3, 4096, True)
    assert config.prices == Prices(Decimal("2.50"), Decimal("0.25"), Decimal(10))
    assert (config.connect_timeout_s, config.idle_timeout_s, config.total_timeout_s) == (5.0, 30, 300)
    assert config.send_thinking is SendThinking.ALWAYS
    assert config.secrets == ("secret-key", "b") and "secret-key" not in repr(config)


def test_what_is_not_named_has_a_default():
    config = ModelConfig.from_snapshot({"model": "m", "prices": {"input": "1"}})
    assert (config.temperature, config.idle_timeout_s, config.prices.input) == (0.0, 60.0, Decimal(1))
    assert ModelConfig.from_snapshot({"temperature": None}).temperature is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("base_url", 3),
        ("temperature", "warm"),
        ("temperature", -1),
        ("idle_timeout_s", True),
        ("input_price", "free"),
        ("output_price", "NaN"),
        ("headers", ["x"]),
        ("headers", {"X-A": 1}),
        ("headers", {"X-A": "a\r\nb: c"}),
        ("body", "x"),
        ("send_thinking", "sometimes"),
    ],
)
def test_a_wrong_setting_is_named(key, value):
    with pytest.raises(ConfigError) as caught:
        ModelConfig.from_snapshot({**SNAPSHOT, key: value})
    assert key.split("_")[0] in str(caught.value).lower().replace("header ", "headers ")


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, (10, 0, 5, 0)),
        ({"input_tokens": 10, "output_tokens": 5}, (10, 0, 5, 0)),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}, (10, 4, 0, 0)),
        ({"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 9}}, (3, 3, 0, 0)),
        ({"prompt_tokens": None, "completion_tokens": "many", "prompt_tokens_details": None}, (0, 0, 0, 0)),
        ({"prompt_tokens": -5, "completion_tokens": float("nan")}, (0, 0, 0, 0)),
        ({"prompt_tokens": True, "completion_tokens": 1e300}, (0, 0, 0, 0)),
    ],
)
def test_reported_usage_is_taken_as_far_as_it_makes_sense(said, counted):
    usage = reported(said, Prices())
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.thinking_tokens) == counted


def test_an_estimate_counts_bytes_not_characters():
    assert estimated(7, "", "", "", Prices()).input_tokens == 2
    assert estimated(0, "你好", "", "", Prices()).output_tokens == 2
    both = estimated(0, "x" * 35, "y" * 70, "z" * 35, Prices())
    assert (both.output_tokens, both.thinking_tokens) == (40, 20)


@pytest.mark.parametrize(("kind", "made"), [("scripted", ScriptedModel), ("openai", OpenAIModel), ("", OpenAIModel)])
def test_a_snapshot_names_the_kind_of_model(kind, made):
    model = make_model({**SNAPSHOT, "kind": kind}, api_key="secret-key")
    assert isinstance(model, made) and model.name == "default"


@pytest.mark.parametrize("protocol", ["native", "text", "json_action"])
@pytest.mark.parametrize("kind", ["openai", "scripted"])
def test_the_protocol_is_that_of_the_snapshot_and_native_where_none_is_named(kind, protocol):
    snapshot = {"kind": kind, "name": "m", "base_url": "http://127.0.0.1:1/v1", "model_name": "m"}
    assert config_of({**snapshot, "protocol": protocol}).protocol.value == protocol
    assert config_of(snapshot).protocol is ToolProtocol.NATIVE
    with pytest.raises(ConfigError, match="protocol must be one of native, text, json_action"):
        config_of({**snapshot, "protocol": "smoke"})
