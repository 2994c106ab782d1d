"""What a model server says that it offers: its list of models."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from openai import APIStatusError, Omit

from agentweb.engine.messages import Json
from agentweb.engine.ports import ModelError
from agentweb.llm.config import ModelConfig
from agentweb.llm.connection_errors import connection_fault
from agentweb.llm.endpoint import client_for
from agentweb.llm.errors import bad_response, provider_fault, read_error, redact, retry_after
from agentweb.schema.text import clean

MOST = 500  # models; more are cut off
_LONGEST_NAME = 200
_SIZES = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx", "n_ctx_train")


@dataclass(frozen=True, slots=True)
class Offer:
    """One model by the name that requests use, and its context size in tokens where the server tells it, else 0."""

    name: str
    context_size: int = 0


async def offered(config: ModelConfig) -> tuple[Offer, ...]:
    """The models on the server's list, in its order. Raises ModelError, also for a server that has no such list."""
    fault: ModelError | None = None
    try:
        response = await client_for(config).get(
            "/models", cast_to=httpx2.Response, options={"headers": _headers(config), "timeout": config.idle_timeout_s}
        )
        return _read(response)
    except ModelError as error:
        fault = error
    except APIStatusError as error:
        told = _json(error.response)
        fault = provider_fault(
            read_error("" if told is None else told),
            status=error.response.status_code,
            wait_s=retry_after(error.response.headers),
            secrets=config.secrets,
        )
    except Exception as error:
        fault = connection_fault(error, base_url=config.base_url, idle_s=config.idle_timeout_s, answering=False)
    raise without_secrets(fault, config)  # out here, so that no traceback leads back to the request and its headers


def without_secrets(error: ModelError, config: ModelConfig) -> ModelError:
    """The same error, whatever a server or a library has put into its words."""
    return ModelError(
        error.kind,
        redact(error.message, config.secrets),
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        code=redact(error.code, config.secrets),
    )


def _headers(config: ModelConfig) -> dict[str, Any]:
    return {
        "Authorization": f"Bearer {config.api_key}" if config.api_key else Omit(),
        "OpenAI-Organization": Omit(),
        "OpenAI-Project": Omit(),
        **config.headers,
    }


def _json(response: httpx2.Response) -> Json:
    """None for what is not JSON."""
    try:
        found: Json = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return found


def _read(response: httpx2.Response) -> tuple[Offer, ...]:
    body = _json(response)
    rows = body.get("data", body.get("models")) if isinstance(body, Mapping) else body
    if not isinstance(rows, list):
        web_page = response.content.lstrip().startswith(b"<")
        raise bad_response("a web page instead of a list of models" if web_page else "no list of models")
    found = (_offer(row) for row in rows[:MOST] if isinstance(row, Mapping))
    return tuple(offer for offer in found if offer.name)


def _offer(row: Mapping[str, Json]) -> Offer:
    name = row.get("id") or row.get("name") or row.get("model")
    meta = row.get("meta")
    places = (row, meta if isinstance(meta, Mapping) else {})
    sizes = (place.get(key) for key in _SIZES for place in places)
    size = next((n for n in sizes if isinstance(n, int) and not isinstance(n, bool) and 0 < n < 2**31), 0)
    return Offer(clean(name)[:_LONGEST_NAME] if isinstance(name, str) else "", size)
