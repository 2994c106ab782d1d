"""From the snapshot that a run keeps of its model to the model itself."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from agentweb.engine.messages import Json
from agentweb.llm.calls import new_call_id
from agentweb.llm.reader import no_rest
from agentweb.llm.recorded import config_of, is_scripted
from agentweb.llm.scripted.model import DEFAULT_DELAY_S, ScriptedModel
from agentweb.llm.single import SingleCall

if TYPE_CHECKING:
    from agentweb.llm.native import OpenAIModel


def make_model(
    snapshot: Mapping[str, Json],
    *,
    api_key: str = "",
    new_id: Callable[[], str] = new_call_id,
    rest_s: Callable[[], float] = no_rest,
    scripted_delay_s: float = DEFAULT_DELAY_S,
) -> "OpenAIModel | ScriptedModel | SingleCall":
    """``kind`` scripted in the snapshot means the scripted model, or the one ``call`` that it has; anything else an
    endpoint. Raises ConfigError."""
    config = config_of(snapshot, api_key=api_key)
    call = snapshot.get("call")
    if is_scripted(snapshot) and isinstance(call, Mapping):
        return SingleCall(config, call, new_id)
    if is_scripted(snapshot):
        return ScriptedModel(config.name, delay_s=scripted_delay_s, new_id=new_id, protocol=config.protocol)
    return endpoint_model()(config, new_id, rest_s)


def endpoint_model() -> "type[OpenAIModel]":
    """Imported when it is first asked for: the openai client takes a second of CPU and 60 MB, which a process that
    talks to no endpoint does not need. Not to be called on an event loop before that."""
    found: type[OpenAIModel] = import_module("agentweb.llm.native").OpenAIModel
    return found
