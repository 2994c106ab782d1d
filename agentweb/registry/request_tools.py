"""Templates of HTTP requests that admins write: each becomes a draft tool of its source."""

from agentweb.registry import source_values, taking_in
from agentweb.registry.models import Tool, ToolSource
from agentweb.toolbox.definitions import Offer
from agentweb.toolbox.openapi import document
from agentweb.toolbox.outside import Caller
from agentweb.toolbox.request_templates import TemplateCaller, offer, secrets_wanted


def caller(tool: Tool) -> Caller:
    """Raises SecretUnreadable."""
    source = tool.source
    assert source is not None
    return TemplateCaller(source.name, source.url, tool.timeout_s, source_values.of(source))


def offers(source: str, text: str) -> list[Offer]:
    """The templates in the text, by their names. ``source``: its name for people. Raises ValueError."""
    return [offer(source, str(name), said) for name, said in document.plain(text).items()]


def lacking(text: str, entered: set[str]) -> list[str]:
    """The secrets that templates have places for and that are not entered. Raises ValueError."""
    return [name for name in secrets_wanted(document.plain(text)) if name not in entered]


def take_in(source: ToolSource) -> taking_in.TakenIn:
    return taking_in.take_in(source=source, offers=offers(source.name, source.document))
