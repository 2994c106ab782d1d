"""HTTP clients of model endpoints: one openai client per event loop and endpoint, kept for its connections."""

import ssl
from functools import cache
from typing import Any, cast

import httpx2
from openai import AsyncOpenAI, AsyncStream, DefaultAioHttpClient, Omit

from agentweb.llm.clients import kept_clients
from agentweb.llm.config import ModelConfig

_PATH = "/chat/completions"


@cache
def _certificates() -> ssl.SSLContext:
    """Loading the trusted certificates takes a tenth of a second, so it is done once."""
    return httpx2.create_ssl_context()


def client_for(config: ModelConfig) -> AsyncOpenAI:
    """The client of the running loop for this endpoint. The key goes with each request, so the client holds none."""
    clients = kept_clients()
    key = (config.base_url, config.connect_timeout_s, config.idle_timeout_s)
    if key not in clients:
        timeout = httpx2.Timeout(config.idle_timeout_s, connect=config.connect_timeout_s)
        clients[key] = AsyncOpenAI(
            api_key="sent-with-each-request",
            base_url=config.base_url,
            timeout=timeout,
            max_retries=0,  # retrying is the run's decision, and visible
            http_client=DefaultAioHttpClient(timeout=timeout, follow_redirects=False, verify=_certificates()),
        )
    return cast(AsyncOpenAI, clients[key])


async def post_completion(config: ModelConfig, content: bytes) -> httpx2.Response:
    """Send a body and get the response with its bytes unread. Raises what the openai client raises."""
    headers: dict[str, Any] = {
        "Authorization": f"Bearer {config.api_key}" if config.api_key else Omit(),
        "Content-Type": "application/json",
        "Accept": "text/event-stream, application/json",
        # Organisation and project come from the environment otherwise, and would go to any endpoint.
        "OpenAI-Organization": Omit(),
        "OpenAI-Project": Omit(),
        **config.headers,
    }
    response = await client_for(config).post(
        _PATH,
        cast_to=httpx2.Response,
        content=content,
        options={"headers": headers},
        stream=True,
        stream_cls=AsyncStream[Any],
    )
    return cast(httpx2.Response, response)  # asked for by cast_to; the signature promises a decoded stream
