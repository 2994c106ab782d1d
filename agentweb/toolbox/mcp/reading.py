"""From what an MCP server says of its tools to offers that an admin can take in; what it says is never relied on."""

from collections.abc import Iterable, Mapping
from typing import Any

from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json
from agentweb.schema.check import check_schema
from agentweb.schema.defaults import fill
from agentweb.schema.json_text import JsonError, inspect
from agentweb.schema.text import clean_json
from agentweb.toolbox.definitions import LONGEST_LABEL, Definition, Offer
from agentweb.toolbox.results import for_model

LONGEST_TRUE_NAME = 500
LONGEST_DESCRIPTION = 8_000
KEPT = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
NO_DESCRIPTION = "(Its server says nothing about it.)"


def offers(server: str, tools: Iterable[Mapping[str, Any]]) -> tuple[Offer, ...]:
    """``tools``: as they stand in the answer to tools/list; ``server``: its name for people."""
    return tuple(offer(server, raw_of(tool)) for tool in tools)


def raw_of(tool: Mapping[str, Any]) -> dict[str, Json]:
    """What a definition is compared by, held to what can be stored."""
    return {name: clean_json(tool[name]) for name in KEPT if tool.get(name) is not None}


def offer(server: str, raw: Mapping[str, Any]) -> Offer:
    """One tool, or why it cannot be used."""
    true_name = str(raw.get("name", ""))
    if not true_name.strip():
        return Offer(true_name[:LONGEST_TRUE_NAME], why_not="It has no name.")
    if len(true_name) > LONGEST_TRUE_NAME:
        return Offer(true_name[:LONGEST_TRUE_NAME], why_not=f"Its name is longer than {LONGEST_TRUE_NAME} characters.")
    try:
        inspect(dict(raw))
        schema = fill(raw.get("inputSchema"))
    except JsonError as error:
        return Offer(true_name, why_not=f"What it says of itself cannot be stored: {error}")
    if problems := check_schema(schema):
        why = "; ".join(f"{each.path}: {each.message}" if each.path else each.message for each in problems[:3])
        return Offer(true_name, why_not=f"Its arguments cannot be used: {why}")
    said = raw.get("annotations")
    hints: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    reads = hints.get("readOnlyHint") is True
    title = raw.get("title") or hints.get("title") or true_name
    definition = Definition(
        name=true_name,
        true_name=true_name,
        label=for_model(f"{server}: {title}")[:LONGEST_LABEL],
        description=for_model(str(raw.get("description") or NO_DESCRIPTION), LONGEST_DESCRIPTION),
        parameters=schema,
        raw=raw,
        reads=reads,
        repeatable=reads,
    )
    return Offer(true_name, definition, _risk(reads=reads))


def _risk(*, reads: bool) -> Risk:
    """What seems right; an admin decides. A hint makes nothing low, and what is not said is taken for the worst."""
    return Risk.MEDIUM if reads else Risk.HIGH
