"""OpenAPI documents as text that somebody uploads: JSON or YAML, of bounded size whatever is in them."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import yaml

from agentweb.schema.json_text import JsonError, inspect, parse_json, rebuild

LONGEST = 20_000_000  # characters
MOST_VALUES = 1_000_000  # with whatever aliases repeat
DEEPEST = 100
VERSIONS = re.compile(r"3\.[012](\.\d+)?\Z")


class BadDocument(ValueError):
    """The text is no OpenAPI document that can be used; says why."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Plain values only: what looks like a date stays text."""

    yaml_implicit_resolvers = {
        letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def read(text: str) -> dict[str, Any]:
    """The document as plain JSON values. Raises BadDocument."""
    value = plain(text)
    version = value.get("openapi")
    if not isinstance(version, str) or not VERSIONS.match(version):
        older = "swagger" in value
        raise BadDocument(
            "It is of Swagger 2.0: convert it to OpenAPI 3 first." if older else "It does not say openapi: 3.0 or 3.1."
        )
    if not isinstance(value.get("paths"), dict) or not value["paths"]:
        raise BadDocument("It has no paths.")
    return value


def plain(text: str) -> dict[str, Any]:
    """What stands in the text, as plain JSON values. Raises BadDocument."""
    if len(text) > LONGEST:
        raise BadDocument(f"It is longer than {LONGEST // 1_000_000} million characters.")
    value = _json(text) if text.lstrip().startswith("{") else _yaml(text)
    if not isinstance(value, dict):
        raise BadDocument("It is no object with names and values.")
    return value


def _json(text: str) -> Any:
    try:
        value = parse_json(text, DEEPEST)
        inspect(value, DEEPEST, MOST_VALUES)
    except JsonError as error:
        raise BadDocument(f"It cannot be read as JSON: {error.message}") from None
    return value


def _yaml(text: str) -> Any:
    try:
        value = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise BadDocument(
            f"It cannot be read as YAML{where}: {getattr(error, 'problem', None) or 'wrong form'}."
        ) from None
    _refuse_bombs(value)
    plain = rebuild(value)
    try:
        inspect(plain, DEEPEST)
    except JsonError as error:
        raise BadDocument(f"It holds what JSON has not: {error.message}") from None
    return plain


def _refuse_bombs(value: Any) -> None:
    """Aliases cost nothing until what they repeat is written out."""
    stack, count = [(value, 0)], 0
    while stack:
        item, depth = stack.pop()
        count += 1
        if count > MOST_VALUES or depth > DEEPEST:
            raise BadDocument("It is too large or too deep once its aliases are written out.")
        if isinstance(item, Mapping):
            stack.extend((child, depth + 1) for child in item.values())
        elif isinstance(item, list | tuple):
            stack.extend((child, depth + 1) for child in item)


def follow(document: Mapping[str, Any], value: Any) -> Any:
    """What a reference in its place leads to, and the value itself where it is none. Raises BadDocument."""
    seen: set[str] = set()
    while isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
        reference = value["$ref"]
        if reference in seen:
            raise BadDocument(f"The reference {reference[:200]} leads back to itself.")
        seen.add(reference)
        value = at(document, reference)
    return value


def at(document: Mapping[str, Any], reference: str) -> Any:
    """Raises BadDocument for what is not in this document."""
    if not reference.startswith("#/"):
        raise BadDocument(f"The reference {reference[:200]} leads out of the document: put in what it leads to.")
    found: Any = document
    for step in reference[2:].split("/"):
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            raise BadDocument(f"The reference {reference[:200]} leads nowhere.")
    return found
