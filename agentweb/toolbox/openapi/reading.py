"""From an OpenAPI document to offers: one tool for each operation that can be called from here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentweb.engine.enums import Risk
from agentweb.schema.check import check_schema
from agentweb.schema.defaults import fill
from agentweb.schema.text import clean_json
from agentweb.toolbox.definitions import LONGEST_LABEL, Definition, Offer, free_name
from agentweb.toolbox.openapi.document import BadDocument, follow
from agentweb.toolbox.openapi.schemas import Writer
from agentweb.toolbox.results import for_model

METHODS = ("get", "head", "post", "put", "patch", "delete")
READING = ("get", "head")
BODIES = ("application/json", "application/x-www-form-urlencoded", "text/plain")
OURS = ("accept", "content-type", "authorization", "host", "cookie", "content-length")  # headers that are not asked for
STYLES = {"path": "simple", "query": "form", "header": "simple"}
LONGEST_DESCRIPTION = 4_000
BODY = "body"


@dataclass(frozen=True, slots=True)
class Operation:
    """``item``: what its path says for all operations."""

    method: str
    path: str
    said: Mapping[str, Any]
    item: Mapping[str, Any]

    @property
    def true_name(self) -> str:
        return f"{self.method.upper()} {self.path}"


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """In the order of the document. Raises BadDocument."""
    for path, item in document["paths"].items():
        item = follow(document, item)
        if not isinstance(item, Mapping) or not path.startswith("/"):
            continue
        for method in METHODS:
            if isinstance(item.get(method), Mapping):
                yield Operation(method, path, item[method], item)


def matches(operation: Operation, words: str) -> bool:
    """Whether one of these words, separated by blanks, is in its path, name or tags; without words all match."""
    tags = operation.said.get("tags")
    known = [operation.true_name, operation.said.get("operationId"), *(tags if isinstance(tags, list) else ())]
    text = " ".join(str(each) for each in known).lower()
    return not words.split() or any(word in text for word in words.lower().split())


def offer(source: str, document: Mapping[str, Any], operation: Operation) -> Offer:
    """One operation as a tool, or why it cannot be one. ``source``: its name for people."""
    try:
        parameters, places = _parameters(document, operation)
        body = _body(document, operation)
    except BadDocument as error:
        return Offer(operation.true_name, why_not=str(error))
    if body is not None:
        written, required, _media = body
        parameters["properties"][BODY] = written
        parameters["required"] += [BODY] if required else []
    schema = fill(clean_json(parameters))
    if problems := check_schema(schema):
        why = "; ".join(f"{each.path}: {each.message}" if each.path else each.message for each in problems[:3])
        return Offer(operation.true_name, why_not=f"Its arguments cannot be used: {why}")
    reads = operation.method in READING
    name = str(operation.said.get("operationId") or f"{operation.method}_{operation.path}")
    said = clean_json(_description(operation))
    raw = {"method": operation.method.upper(), "path": operation.path, "places": places, "description": said}
    raw |= {"schema": schema, "media": body[2] if body else ""}
    title = operation.said.get("summary") or operation.true_name
    definition = Definition(
        name=name,
        true_name=operation.true_name,
        label=for_model(f"{source}: {title}")[:LONGEST_LABEL],
        description=for_model(said, LONGEST_DESCRIPTION),
        parameters=schema,
        raw=clean_json(raw),
        reads=reads,
        repeatable=reads,
    )
    return Offer(operation.true_name, definition, Risk.MEDIUM if reads else Risk.HIGH)


def credentials_wanted(document: Mapping[str, Any]) -> list[str]:
    """The names under which the secrets that the document speaks of are entered."""
    components = document.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, Mapping) else None
    found = []
    for scheme in schemes.values() if isinstance(schemes, Mapping) else ():
        match scheme:
            case {"type": "apiKey", "in": "header" | "query" as place, "name": str(name)}:
                found.append(f"{place} {name}")
            case {"type": "http", "scheme": str(kind)} if kind.lower() in ("bearer", "basic"):
                found.append(kind.lower())
            case {"type": "oauth2" | "openIdConnect"}:
                found.append("bearer")
    return list(dict.fromkeys(found))


def _description(operation: Operation) -> str:
    parts = [operation.said.get("summary"), operation.said.get("description")]
    return "\n\n".join(str(part) for part in parts if part) or operation.true_name


def _parameters(document: Mapping[str, Any], operation: Operation) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The schema without the body, and where each argument goes. Raises BadDocument."""
    said: dict[tuple[str, str], Mapping[str, Any]] = {}
    for holder in (operation.item, operation.said):  # those of the operation replace those of its path
        for each in holder.get("parameters") or ():
            each = follow(document, each)
            if isinstance(each, Mapping) and isinstance(each.get("name"), str):
                said[(str(each.get("in")), each["name"])] = each
    properties: dict[str, Any] = {}
    required, places = [], []
    for (place, name), each in said.items():
        needed = each.get("required") is True or place == "path"
        if place not in STYLES or (place == "header" and name.lower() in OURS):
            if needed and place == "cookie":
                raise BadDocument(f"It needs the cookie {name[:100]}, which is not sent from here.")
            continue
        argument = free_name(name, {*properties, BODY})
        properties[argument] = _schema_of(document, each)
        required += [argument] if needed else []
        places.append(_place(argument, place, name, each))
    missing = [part for part in _placeholders(operation.path) if ("path", part) not in said]
    if missing:
        raise BadDocument(f"Its path has a part that no parameter fills: {missing[0][:100]}.")
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}, places


def _placeholders(path: str) -> list[str]:
    return [part.partition("}")[0] for part in path.split("{")[1:]]


def _schema_of(document: Mapping[str, Any], parameter: Mapping[str, Any]) -> dict[str, Any]:
    said = parameter.get("schema")
    if said is None and isinstance(content := parameter.get("content"), Mapping) and content:
        first = next(iter(content.values()))
        said = first.get("schema") if isinstance(first, Mapping) else None
    written = Writer(document).schema(said or {})
    if isinstance(parameter.get("description"), str):
        written.setdefault("description", parameter["description"][:LONGEST_DESCRIPTION])
    return written


def _place(argument: str, place: str, name: str, said: Mapping[str, Any]) -> dict[str, Any]:
    style = str(said.get("style") or STYLES[place])
    explode = said["explode"] if isinstance(said.get("explode"), bool) else style == "form"
    return {
        "argument": argument,
        "in": place,
        "name": name,
        "style": style,
        "explode": explode,
        "json": "schema" not in said and "content" in said,
    }


def _body(document: Mapping[str, Any], operation: Operation) -> tuple[dict[str, Any], bool, str] | None:
    """Schema, whether it is needed, and media type. Raises BadDocument for a needed body that cannot be sent."""
    said = follow(document, operation.said.get("requestBody"))
    if not isinstance(said, Mapping) or not isinstance(said.get("content"), Mapping) or not said["content"]:
        return None
    content, required = said["content"], said.get("required") is True
    media = next((wanted for wanted in BODIES for each in content if _plain(each) == wanted), "")
    media = media or next((_plain(each) for each in content if _plain(each).endswith("+json")), "")
    chosen = next((value for each, value in content.items() if _plain(each) == media or each == "*/*"), None)
    if chosen is None:
        if required:
            raise BadDocument(f"It wants a body of a type that is not sent from here: {', '.join(content)[:200]}.")
        return None
    schema = Writer(document).schema(chosen.get("schema") if isinstance(chosen, Mapping) else {})
    return schema, required, media or BODIES[0]


def _plain(media: str) -> str:
    return media.partition(";")[0].strip().lower()
