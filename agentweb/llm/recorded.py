"""How the model of a snapshot is asked, without what it takes to ask it: the audit makes requests again with this.

Kept apart from the factory, which loads a client that the web process does without.
"""

from collections.abc import Mapping

from agentweb.engine.messages import Json
from agentweb.llm.config import ModelConfig, ToolProtocol

SCRIPTED_KIND = "scripted"
SCRIPTED_NAME = "scripted"


def is_scripted(snapshot: Mapping[str, Json]) -> bool:
    return snapshot.get("kind") == SCRIPTED_KIND


def config_of(snapshot: Mapping[str, Json], *, api_key: str = "") -> ModelConfig:
    """``kind`` scripted in the snapshot means the scripted model; anything else an endpoint. Raises ConfigError."""
    config = ModelConfig.from_snapshot(snapshot, api_key=api_key)
    return scripted_config(config.name, config.protocol) if is_scripted(snapshot) else config


def scripted_config(name: str, protocol: ToolProtocol = ToolProtocol.NATIVE) -> ModelConfig:
    """The scripted model knows no settings but what people call it and how it is told of tools."""
    return ModelConfig(name, "", SCRIPTED_NAME, protocol=protocol)
