"""The protocol that a request is made and its answer is read by."""

from agentweb.engine.enums import Purpose
from agentweb.engine.ports import ModelRequest
from agentweb.llm.config import ModelConfig, ToolProtocol
from agentweb.llm.names import WireNames
from agentweb.llm.protocols.json_action import JsonActionProtocol
from agentweb.llm.protocols.native import NativeProtocol
from agentweb.llm.protocols.shape import SpokenProtocol
from agentweb.llm.protocols.text import TextProtocol


def protocol_for(config: ModelConfig, request: ModelRequest, names: WireNames) -> SpokenProtocol:
    """That of the model; a summary is plain text with every model."""
    kind = ToolProtocol.NATIVE if request.purpose is Purpose.FOLD else config.protocol
    match kind:
        case ToolProtocol.NATIVE:
            return NativeProtocol(config, request, names)
        case ToolProtocol.TEXT:
            return TextProtocol(config, request, names)
        case ToolProtocol.JSON_ACTION:
            return JsonActionProtocol(config, request, names)
