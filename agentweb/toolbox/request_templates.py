"""Tools made from templates of HTTP requests: an admin writes them, arguments and secrets are put into their places.

A template has ``{name}`` where an argument goes and ``{secret:NAME}`` where a secret goes. The server is no part of it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json
from agentweb.engine.outside import HttpRequest
from agentweb.engine.ports import ToolError
from agentweb.schema.check import check_schema
from agentweb.toolbox.definitions import LONGEST_LABEL, Definition, Offer
from agentweb.toolbox.openapi.caller import ApiCaller
from agentweb.toolbox.results import for_model

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
FIELDS = {"description", "label", "method", "path", "query", "headers", "body", "parameters", "required"}
HIDDEN = "••••"
OURS = ("host", "content-length", "transfer-encoding", "connection")  # headers that the client itself sends
LONGEST_EFFECT = 2_000
MISSING = object()

_PLACE = re.compile(r"\{(secret:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_PATH = re.compile(r"(/(?!/)[^?#\\\s]*)?")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VISIBLE = re.compile(r"[\x20-\x7e]*")


def offer(source: str, name: str, said: Any) -> Offer:
    """One template as a tool, or why it cannot be one. ``source``: its name for people."""
    wrong = "; ".join(_problems(said))
    if wrong:
        return Offer(name, why_not=wrong)
    properties = said.get("parameters", {})
    required = said.get("required", list(properties))
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    if problems := check_schema(schema):
        why = "; ".join(f"{each.path}: {each.message}" if each.path else each.message for each in problems[:3])
        return Offer(name, why_not=f"its parameters cannot be used: {why}")
    reads = said["method"] == "GET"
    definition = Definition(
        name=name,
        true_name=name,
        label=str(said.get("label") or f"{source}: {name}")[:LONGEST_LABEL],
        description=for_model(said["description"]),
        parameters=schema,
        raw=said,
        reads=reads,
        repeatable=reads,
    )
    return Offer(name, definition, Risk.MEDIUM if reads else Risk.HIGH)


def secrets_wanted(said: Any) -> list[str]:
    """The names of the secrets that a template has places for."""
    return sorted({name for secret, name in _places(said) if secret})


def _problems(said: Any) -> Iterator[str]:
    if not isinstance(said, dict):
        yield "it is no object with names and values"
        return
    if unknown := sorted(set(said) - FIELDS):
        yield f"unknown: {', '.join(map(str, unknown))}"
    if not isinstance(said.get("description"), str) or not said["description"].strip():
        yield "description: is missing, and it is what the model reads"
    if said.get("method") not in METHODS:
        yield f"method: must be one of {', '.join(METHODS)}"
    path = said.get("path", "")
    if not isinstance(path, str) or not _PATH.fullmatch(path):
        yield "path: must begin with / and hold no ?, # or \\"
    for name in ("query", "headers", "parameters"):
        if not isinstance(said.get(name, {}), dict):
            yield f"{name}: must be an object with names and values"
            return
    for name, value in said.get("headers", {}).items():
        if not _HEADER.fullmatch(str(name)) or str(name).lower() in OURS or not isinstance(value, str):
            yield f"headers: {name} cannot be set"
    yield from _wrong_places(said, str(path))


def _wrong_places(said: Mapping[str, Any], path: str) -> Iterator[str]:
    known = set(said.get("parameters", {}))
    required = said.get("required", sorted(known))
    if not isinstance(required, list) or not set(map(str, required)) <= known:
        yield "required: must be a list of parameters"
        return
    in_path = {name for secret, name in _places(path) if not secret}
    filled = [said.get(key) for key in ("path", "query", "headers", "body")]
    used = {name for secret, name in _places(filled) if not secret}
    if any(secret for secret, _name in _places(path)):
        yield "path: a secret cannot stand in it, since people see it"
    if missing := sorted(used - known):
        yield f"parameters: {', '.join(missing)} is used and not described"
    if idle := sorted(known - used):
        yield f"parameters: {', '.join(idle)} is described and used nowhere"
    if loose := sorted((in_path & known) - set(required)):
        yield f"required: {', '.join(loose)} stands in the path"
    if said.get("method") == "GET" and said.get("body") is not None:
        yield "body: a GET has none"


def _places(template: Any) -> Iterator[tuple[bool, str]]:
    match template:
        case str():
            for found in _PLACE.finditer(template):
                yield bool(found[1]), found[2]
        case dict():
            for each in template.values():
                yield from _places(each)
        case list():
            for each in template:
                yield from _places(each)


@dataclass(frozen=True, slots=True)
class TemplateCaller(ApiCaller):
    """``credentials`` are the secrets by name; ``base`` is the address before each path."""

    def effect(self, definition: Definition, arguments: Mapping[str, Json]) -> str:
        where = _Filled(definition.raw, arguments, None).address(self.base)
        return for_model(f"Sends {definition.raw['method']} to {where} ({self.name}).", LONGEST_EFFECT)

    def asked(self, definition: Definition, arguments: Mapping[str, Json]) -> HttpRequest:
        filled = _Filled(definition.raw, arguments, self.credentials)
        headers, body = filled.headers_and_body()
        method = str(definition.raw["method"])
        return HttpRequest(filled.address(self.base), method, headers, body, timeout_s=self.limit_s, redirects=0)


@dataclass(frozen=True, slots=True)
class _Filled:
    """A template with its arguments. ``secrets`` None: as people may see it."""

    raw: Mapping[str, Any]
    arguments: Mapping[str, Json]
    secrets: Mapping[str, str] | None

    def address(self, base: str) -> str:
        """Raises ToolError for an argument that would lead elsewhere, and for a secret that is not entered."""
        path = _PLACE.sub(lambda place: self._path_part(place[2]), str(self.raw.get("path", "")))
        query = [
            (str(name), _text(each))
            for name, template in self.raw.get("query", {}).items()
            for each in _many(self.value(template))
        ]
        where = base.rstrip("/") + path
        return f"{where}?{urlencode(query, quote_via=quote)}" if query else where

    def headers_and_body(self) -> tuple[dict[str, str], bytes]:
        headers = {"Accept": "application/json, text/*;q=0.9, */*;q=0.5"}
        template, body = self.raw.get("body"), b""
        if template is not None:
            value = self.value(template)
            plain = isinstance(template, str)
            headers["Content-Type"] = "text/plain; charset=utf-8" if plain else "application/json"
            body = (_text(value) if plain else json.dumps(value, ensure_ascii=False)).encode("utf-8", "replace")
        for name, header in self.raw.get("headers", {}).items():
            value = self.value(header)
            if value is MISSING:
                continue
            if not _VISIBLE.fullmatch(text := _text(value)):
                raise ToolError(f"The header {name} would hold something else than visible ASCII characters.")
            headers = {key: each for key, each in headers.items() if key.lower() != name.lower()} | {name: text}
        return headers, body

    def value(self, template: Any) -> Any:
        """The template filled in: a lone place takes the argument as it is, or goes away with it."""
        match template:
            case str():
                whole = _PLACE.fullmatch(template)
                if whole and not whole[1]:
                    return self.arguments.get(whole[2], MISSING)
                return _PLACE.sub(lambda place: self._secret(place[2]) if place[1] else self._word(place[2]), template)
            case dict():
                filled = {name: self.value(each) for name, each in template.items()}
                return {name: each for name, each in filled.items() if each is not MISSING}
            case list():
                return [each for each in map(self.value, template) if each is not MISSING]
        return template

    def _word(self, name: str) -> str:
        return _text(self.arguments.get(name, MISSING))

    def _secret(self, name: str) -> str:
        if self.secrets is None:
            return HIDDEN
        if name not in self.secrets:
            raise ToolError(f"The secret {name} is not entered: an admin must do that.")
        return self.secrets[name]

    def _path_part(self, name: str) -> str:
        text = self._word(name)
        if text.strip() in ("", ".", ".."):
            raise ToolError(f"{name}: this would lead to another address than the one that was meant.")
        return quote(text, safe="")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None or value is MISSING else json.dumps(value, ensure_ascii=False)


def _many(value: Any) -> list[Any]:
    if value is MISSING:
        return []
    return value if isinstance(value, list) else [value]
