"""From the schemas of an OpenAPI document to JSON Schema that stands alone: references written out, circles cut."""

from collections.abc import Mapping
from typing import Any

from agentweb.schema.patterns import PatternError, compiled
from agentweb.toolbox.openapi.document import at

MOST_VALUES = 3_000  # of one schema; what is deeper then is left open
DEEPEST = 24
LONGEST_DESCRIPTION = 500
LEFT_OUT = ("discriminator", "xml", "externalDocs", "example", "nullable", "readOnly", "writeOnly", "$schema", "$id")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
AS_THEY_ARE = ("enum", "const", "default", "examples", "required")


class Writer:
    """Writes out one schema of one document. Raises BadDocument for references that lead nowhere or elsewhere."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._left = MOST_VALUES

    def schema(self, said: Any, within: tuple[str, ...] = ()) -> dict[str, Any]:
        """``within``: the references that lead here."""
        self._left -= 1
        if not isinstance(said, Mapping) or self._left < 0 or len(within) > DEEPEST:
            return {}
        reference = said.get("$ref")
        if isinstance(reference, str):
            if reference in within:
                return {"description": f"Again as {reference.rpartition('/')[2]}."}
            beside = {name: value for name, value in said.items() if name != "$ref"}
            target = at(self._document, reference)
            both = {**target, **beside} if isinstance(target, Mapping) else beside
            return self.schema(both, (*within, reference))
        written = {
            name: self._value(name, value, within)
            for name, value in said.items()
            if name not in LEFT_OUT and not name.startswith("x-")
        }
        return _modern(written, said)

    def _value(self, name: str, value: Any, within: tuple[str, ...]) -> Any:
        if name in AS_THEY_ARE:
            return value
        if name in NAMED and isinstance(value, Mapping):
            asked = {each: inner for each, inner in value.items() if not _only_answered(inner)}
            return {each: self._inner(inner, within) for each, inner in asked.items()}
        if name in MANY and isinstance(value, list):
            return [self._inner(inner, within) for inner in value]
        if isinstance(value, Mapping):
            return self.schema(value, within)
        if name == "description" and isinstance(value, str):
            return value[:LONGEST_DESCRIPTION]
        return value

    def _inner(self, value: Any, within: tuple[str, ...]) -> Any:
        return value if isinstance(value, bool) else self.schema(value, within)


def _only_answered(inner: Any) -> bool:
    """A field that a request may not hold."""
    return isinstance(inner, Mapping) and inner.get("readOnly") is True


def _modern(schema: dict[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """What version 3.0 says otherwise than JSON Schema, and patterns that nobody here can look at."""
    for name, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if schema.get(name) is True and bound in schema:
            schema[name] = schema.pop(bound)
        elif isinstance(schema.get(name), bool):
            del schema[name]
    if said.get("nullable") is True and isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
    if "pattern" in schema:
        try:
            compiled(str(schema["pattern"]))
        except PatternError:
            del schema["pattern"]  # the server looks at it
    if isinstance(schema.get("required"), list) and isinstance(schema.get("properties"), dict):
        schema["required"] = [name for name in schema["required"] if name in schema["properties"]]
    elif "required" in schema and not isinstance(schema["required"], list):
        del schema["required"]  # of older documents
    return schema
