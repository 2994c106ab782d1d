"""How one model is reached and paid for, as plain values that a run keeps a copy of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from agentweb.engine.messages import Json
from agentweb.llm.usage import FREE, LaterPrice, Prices


class ConfigError(ValueError):
    """A setting of a model is wrong; the text names it."""


class SendThinking(StrEnum):
    """Which assistant messages go back with their thinking, under the field in which it came."""

    NEVER = "never"
    WITH_CALLS = "with_calls"
    ALWAYS = "always"


class Thinking(StrEnum):
    """When a model is asked to think before it answers."""

    AS_IT_DOES = ""
    ALWAYS = "always"
    NEVER = "never"
    COMPLEX = "complex"


class ToolProtocol(StrEnum):
    """How a model is told about tools and asks for them."""

    NATIVE = "native"  # by the fields of the API
    TEXT = "text"  # in lines of text: Thought, Action, Action Input, Observation, Final Answer
    JSON_ACTION = "json_action"  # in one JSON object per answer


class Structured(StrEnum):
    """What a server promises about answers in JSON, by ``response_format``."""

    NONE = ""
    JSON_OBJECT = "json_object"
    JSON_SCHEMA = "json_schema"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model and its server can do. ``streams``: answers come piece by piece; ``stream_usage``: with a count of
    tokens at their end; ``native_tools``: tools are taken, ``parallel_tools``: and several called in one answer."""

    streams: bool = True
    stream_usage: bool = True
    native_tools: bool = True
    parallel_tools: bool = True
    structured: Structured = Structured.NONE


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """``name`` is what people call the model, ``model`` what the endpoint does. Times are in seconds.

    ``api_key`` and ``headers`` may be secret and are kept out of the representation. ``temperature`` None is not sent.
    ``body`` is merged over the request body, before it ``thinking_on`` or ``thinking_off`` unless thinking is left to
    the server. ``prices`` count until the first of the ``later`` ones, by day.
    """

    name: str
    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    temperature: float | None = 0.0
    context_size: int = 128_000
    prices: Prices = FREE
    connect_timeout_s: float = 5.0
    idle_timeout_s: float = 60.0
    total_timeout_s: float = 600.0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, Json] = field(default_factory=dict)
    strict_roles: bool = False
    send_thinking: SendThinking = SendThinking.WITH_CALLS
    later: tuple[LaterPrice, ...] = ()
    can: Capabilities = Capabilities()
    protocol: ToolProtocol = ToolProtocol.NATIVE
    thinking: Thinking = Thinking.AS_IT_DOES
    thinking_on: Mapping[str, Json] = field(default_factory=dict)
    thinking_off: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def from_snapshot(cls, snapshot: Mapping[str, Json], *, api_key: str = "") -> "ModelConfig":
        """From plain JSON; what is not named keeps its default, unknown names are passed over. Raises ConfigError."""
        read = _Reader(snapshot)
        return cls(
            name=read.text("name"),
            base_url=read.text("base_url"),
            model=read.text("model_name") or read.text("model"),
            api_key=api_key,
            temperature=read.number("temperature", None) if "temperature" in snapshot else 0.0,
            context_size=int(read.number("context_size", 128_000) or 0),
            prices=read.prices(),
            connect_timeout_s=read.number("connect_timeout_s", 5.0) or 5.0,
            idle_timeout_s=read.number("idle_timeout_s", 60.0) or 60.0,
            total_timeout_s=read.number("total_timeout_s", 600.0) or 600.0,
            headers=read.headers(),
            body=read.mapping("body"),
            strict_roles=bool(snapshot.get("strict_roles", False)),
            send_thinking=read.send_thinking(),
            later=read.later(),
            can=read.capabilities(),
            protocol=read.protocol(),
            thinking=read.thinking(),
            thinking_on=read.mapping("thinking_on"),
            thinking_off=read.mapping("thinking_off"),
        )

    def prices_now(self) -> Prices:
        """Those of today. A call is paid by the prices of the day on which it is made."""
        return self.prices_on(datetime.now(UTC).date()) if self.later else self.prices

    def prices_on(self, day: date) -> Prices:
        return next((later.prices for later in reversed(self.later) if later.since <= day), self.prices)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Strings that may appear in no sentence."""
        return tuple(secret for secret in (self.api_key, *self.headers.values()) if secret)


class _Reader:
    """Typed looks into a snapshot."""

    def __init__(self, snapshot: Mapping[str, Json]) -> None:
        self._snapshot = snapshot

    def text(self, key: str) -> str:
        value = self._snapshot.get(key) or ""
        if not isinstance(value, str):
            raise ConfigError(f"{key} must be a text.")
        return value.strip()

    def number(self, key: str, default: float | None) -> float | None:
        value = self._snapshot.get(key, default)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise ConfigError(f"{key} must be a number of 0 or more.")
        return value

    def prices(self) -> Prices:
        return Prices(self.price("input"), self.price("cached"), self.price("output"))

    def later(self) -> tuple[LaterPrice, ...]:
        """By day, the earliest first."""
        rows = self._snapshot.get("later_prices") or ()
        try:
            found = [LaterPrice(date.fromisoformat(row["since"]), _Reader(row).prices()) for row in rows]
        except (LookupError, TypeError, ValueError) as error:
            raise ConfigError("Each later price must have a day and prices.") from error
        return tuple(sorted(found, key=lambda later: later.since))

    def thinking(self) -> Thinking:
        try:
            return Thinking(self._snapshot.get("thinking") or "")
        except ValueError:
            raise ConfigError(f"thinking must be one of {', '.join(filter(None, Thinking))}, or empty.") from None

    def protocol(self) -> ToolProtocol:
        value = self._snapshot.get("protocol") or ToolProtocol.NATIVE
        try:
            return ToolProtocol(value)
        except ValueError:
            raise ConfigError(f"protocol must be one of {', '.join(ToolProtocol)}.") from None

    def capabilities(self) -> Capabilities:
        told = self.mapping("capabilities")
        try:
            structured = Structured(told.get("structured") or "")
        except ValueError:
            raise ConfigError(f"structured must be one of {', '.join(filter(None, Structured))}, or empty.") from None
        return Capabilities(
            streams=bool(told.get("streams", True)),
            stream_usage=bool(told.get("stream_usage", True)),
            native_tools=bool(told.get("native_tools", True)),
            parallel_tools=bool(told.get("parallel_tools", True)),
            structured=structured,
        )

    def price(self, kind: str) -> Decimal:
        nested = self.mapping("prices")
        value = nested.get(kind, self._snapshot.get(f"{kind}_price", 0))
        try:
            price = Decimal(str(value))
        except InvalidOperation:
            price = Decimal(-1)
        if not price.is_finite() or price < 0:
            raise ConfigError(f"The price for {kind} tokens must be a number of 0 or more.")
        return price

    def mapping(self, key: str) -> Mapping[str, Json]:
        value = self._snapshot.get(key) or {}
        if not isinstance(value, Mapping):
            raise ConfigError(f"{key} must be an object.")
        return value

    def headers(self) -> Mapping[str, str]:
        headers = self.mapping("headers")
        for name, value in headers.items():
            if not isinstance(value, str) or not f"{name}{value}".isprintable():
                raise ConfigError(f"The header {name!r} must have a text on one line as its value.")
        return dict(headers)

    def send_thinking(self) -> SendThinking:
        value = self._snapshot.get("send_thinking") or SendThinking.WITH_CALLS
        try:
            return SendThinking(value)
        except ValueError:
            raise ConfigError(f"send_thinking must be one of {', '.join(SendThinking)}.") from None
