"""The model port over an OpenAI-compatible endpoint, in the protocol that the model has."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
from openai import APIStatusError

from agentweb.engine.messages import Json
from agentweb.engine.ports import ModelDelta, ModelError, ModelReply, ModelRequest
from agentweb.engine.usage import Usage
from agentweb.llm.calls import new_call_id
from agentweb.llm.config import ModelConfig
from agentweb.llm.connection_errors import connection_fault
from agentweb.llm.endpoint import post_completion
from agentweb.llm.errors import provider_fault, read_error, redact, retry_after
from agentweb.llm.holding import SHORTEST_IDLE_S, Held
from agentweb.llm.reader import Reading, no_rest, read_answer
from agentweb.llm.request import WireRequest, build_request
from agentweb.llm.usage import estimated
from agentweb.llm.written import Written


class OpenAIModel:
    """A model behind an endpoint. ``new_id`` makes the ids of tool calls, ``rest_s`` is for the reader (`Reading`)."""

    def __init__(
        self, config: ModelConfig, new_id: Callable[[], str] = new_call_id, rest_s: Callable[[], float] = no_rest
    ) -> None:
        self.config = config
        self._new_id = new_id
        self._rest_s = rest_s
        self._written = Written()

    @property
    def name(self) -> str:
        return self.config.name

    def prepare(self, request: ModelRequest) -> "OpenAICall":
        reading = Reading(self._new_id, self.config.prices_now(), self.config.total_timeout_s, rest_s=self._rest_s)
        return OpenAICall(self.config, build_request(self.config, request, self._written), reading)


class OpenAICall:
    """One request, ready to be sent; ``body`` is what the audit keeps."""

    def __init__(self, config: ModelConfig, request: WireRequest, reading: Reading) -> None:
        self._config = config
        self._request = request
        self._reading = reading

    @property
    def digest(self) -> str:
        return self._request.digest

    @property
    def body(self) -> dict[str, Json]:
        return self._request.body

    async def stream(self) -> AsyncGenerator[ModelDelta | ModelReply, None]:
        """Deltas, then one reply; closing the iterator closes the connection. Raises ModelError and nothing else."""
        fault: ModelError | None = None
        answering = False
        try:
            async with self._opened() as response:
                answering = True
                reading = self._reading_of(response)
                async with aclosing(read_answer(response.aiter_bytes(), self._request, reading)) as answer:
                    async for part in answer:
                        yield part
        except ModelError as error:
            fault = self._redacted(error)
        except Exception as error:
            fault = self._fault(error, answering)
        # Raised out here, so that no traceback leads back to the request and its headers.
        if fault is not None:
            raise fault

    def _reading_of(self, response: httpx2.Response) -> Reading:
        if self._config.idle_timeout_s < SHORTEST_IDLE_S:
            return self._reading
        held = Held(response)
        return replace(self._reading, held=lambda: held)

    def guess(self, text: str, thinking: str) -> Usage:
        return estimated(len(self._request.content), text, thinking, "", self._reading.prices)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[httpx2.Response]:
        response = await post_completion(self._config, self._request.content)
        try:
            yield response
        finally:
            await response.aclose()

    def _fault(self, error: Exception, answering: bool) -> ModelError:
        if isinstance(error, APIStatusError):
            return self._status_fault(error.response)
        fault = connection_fault(
            error, base_url=self._config.base_url, idle_s=self._config.idle_timeout_s, answering=answering
        )
        return self._redacted(fault)

    def _status_fault(self, response: httpx2.Response) -> ModelError:
        body: Any = response.text
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            body = "" if "<" in body[:200] else body  # a proxy's web page says nothing to people
        return provider_fault(
            read_error(body),
            status=response.status_code,
            wait_s=retry_after(response.headers),
            secrets=self._config.secrets,
        )

    def _redacted(self, error: ModelError) -> ModelError:
        return ModelError(
            error.kind,
            redact(error.message, self._config.secrets),
            retryable=error.retryable,
            retry_after_s=error.retry_after_s,
            code=redact(error.code, self._config.secrets),
        )
