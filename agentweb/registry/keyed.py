"""A model whose key is had from an extension each time that it is called, so that a key may be short-lived."""

from collections.abc import AsyncGenerator, Callable

from django.core.exceptions import ValidationError

from agentweb.engine.asking import consult
from agentweb.engine.enums import ErrorKind
from agentweb.engine.ports import Model, ModelDelta, ModelError, ModelReply, ModelRequest, PreparedCall
from agentweb.engine.racing import close
from agentweb.engine.seams import Point, Seams, name_of
from agentweb.engine.usage import Usage
from agentweb.llm.config import ConfigError
from agentweb.registry import validators

NO_KEY = "There is no key for the model {model}: the extension {seam} failed. Try again, or ask an admin."


class KeyedModel:
    """``make`` builds the model with a key; ``stored`` is the key that an admin entered, perhaps none."""

    def __init__(self, make: Callable[[str], Model], stored: str, base_url: str, seams: Seams) -> None:
        self._make = make
        self._stored = make(stored)
        self._base_url = base_url
        self._seams = seams

    @property
    def name(self) -> str:
        return self._stored.name

    def prepare(self, request: ModelRequest) -> "KeyedCall":
        return KeyedCall(self, request, self._stored.prepare(request))

    async def with_key(self) -> Model:
        """The model with the first key that an extension gives, else with the stored one. Raises ModelError."""
        for seam in self._seams.at(Point.API_KEY):
            said = await consult(None, seam, Point.API_KEY, self.name, self._base_url, effect="")
            failed = ModelError(ErrorKind.AUTH, NO_KEY.format(model=self.name, seam=name_of(seam)), retryable=True)
            if said.failure:  # its text may hold a key, so it goes nowhere
                raise failed
            if said.value is not None:
                try:
                    validators.api_key(said.value)
                    return self._make(said.value)
                except (ValidationError, ConfigError):
                    raise failed from None
        return self._stored


class KeyedCall:
    """A request, sent with the key of the moment; its body does not depend on the key."""

    def __init__(self, model: KeyedModel, request: ModelRequest, prepared: PreparedCall) -> None:
        self._model = model
        self._request = request
        self._prepared = prepared

    @property
    def digest(self) -> str:
        return self._prepared.digest

    def guess(self, text: str, thinking: str) -> Usage:
        return self._prepared.guess(text, thinking)

    async def stream(self) -> AsyncGenerator[ModelDelta | ModelReply, None]:
        model = await self._model.with_key()
        parts = model.prepare(self._request).stream()
        try:
            async for part in parts:
                yield part
        finally:
            await close(parts)
