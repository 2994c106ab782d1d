"""From a tool's arguments to the request that its definition means."""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from agentweb.engine.messages import Json
from agentweb.engine.outside import HttpRequest
from agentweb.engine.ports import ToolError
from agentweb.toolbox.openapi.reading import BODY

DELIMITERS = {"spaceDelimited": " ", "pipeDelimited": "|"}
VISIBLE = re.compile(r"[\x20-\x7e]*")


def address(base: str, raw: Mapping[str, Any], arguments: Mapping[str, Json]) -> str:
    """Where the call goes, without anything secret. Raises ToolError for an argument that would lead elsewhere."""
    path, query = str(raw["path"]), []
    for place in raw["places"]:
        if place["argument"] not in arguments:
            continue
        value = arguments[place["argument"]]
        if place["in"] == "path":
            path = path.replace("{" + place["name"] + "}", _path_part(place, value))
        elif place["in"] == "query":
            query += _query_parts(place, value)
    found = base.rstrip("/") + path
    return f"{found}?{urlencode(query, quote_via=quote)}" if query else found


def request(
    base: str, raw: Mapping[str, Any], arguments: Mapping[str, Json], credentials: Mapping[str, str], limit_s: float
) -> HttpRequest:
    """With the credentials where they belong: by ``header NAME``, ``query NAME``, ``bearer`` or ``basic``."""
    url, headers = address(base, raw, arguments), {"Accept": "application/json, text/*;q=0.9, */*;q=0.5"}
    for place in raw["places"]:
        if place["in"] == "header" and place["argument"] in arguments:
            headers[place["name"]] = _header(place, arguments[place["argument"]])
    body = b""
    if BODY in arguments and raw.get("media"):
        headers["Content-Type"] = str(raw["media"])
        body = _body(str(raw["media"]), arguments[BODY])
    secret = []
    for name, value in credentials.items():
        kind, _blank, of = name.partition(" ")
        match kind:
            case "header":
                headers[of] = value
            case "query":
                secret.append((of, value))
            case "bearer":
                headers["Authorization"] = f"Bearer {value}"
            case "basic":
                headers["Authorization"] = f"Basic {base64.b64encode(value.encode()).decode()}"
    if secret:
        url += ("&" if "?" in url else "?") + urlencode(secret, quote_via=quote)
    return HttpRequest(url, str(raw["method"]), headers, body, timeout_s=limit_s, redirects=0 if secret else 3)


def _path_part(place: Mapping[str, Any], value: Json) -> str:
    text = _joined(place, value, ",")
    if text.strip() in ("", ".", ".."):
        raise ToolError(f"{place['argument']}: this would lead to another address than the one that was meant.")
    return quote(text, safe="" if not isinstance(value, list | Mapping) else ",")


def _query_parts(place: Mapping[str, Any], value: Json) -> list[tuple[str, str]]:
    name = str(place["name"])
    if place.get("json"):
        return [(name, json.dumps(value))]
    if isinstance(value, Mapping):
        if place["style"] == "deepObject":
            return [(f"{name}[{key}]", _text(each)) for key, each in value.items()]
        if place["explode"]:
            return [(str(key), _text(each)) for key, each in value.items()]
    if isinstance(value, list) and place["explode"]:
        return [(name, _text(each)) for each in value]
    return [(name, _joined(place, value, DELIMITERS.get(str(place["style"]), ",")))]


def _header(place: Mapping[str, Any], value: Json) -> str:
    text = json.dumps(value) if place.get("json") else _joined(place, value, ",")
    if not VISIBLE.fullmatch(text):
        raise ToolError(f"{place['argument']}: a header holds visible ASCII characters only.")
    return text


def _joined(place: Mapping[str, Any], value: Json, delimiter: str) -> str:
    if isinstance(value, Mapping):
        pairs = ([str(key), _text(each)] for key, each in value.items())
        return delimiter.join("=".join(pair) if place["explode"] else delimiter.join(pair) for pair in pairs)
    return delimiter.join(_text(each) for each in value) if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _body(media: str, value: Json) -> bytes:
    if media == "application/x-www-form-urlencoded":
        if not isinstance(value, Mapping):
            raise ToolError(f"{BODY}: a form is an object with names and values.")
        pairs = [(name, each) for name, all_of in value.items() for each in _many(all_of)]
        return urlencode([(name, _text(each)) for name, each in pairs]).encode()
    if media == "text/plain":
        return _text(value).encode("utf-8", "replace")
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _many(value: Json) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
