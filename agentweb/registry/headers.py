"""Extra headers of a model: those that may be secret are encrypted at rest and shown by their last characters only."""

import json
import re
from collections.abc import Mapping

from agentweb.registry import secrets
from agentweb.registry.chat_models import ChatModel

MASK = "•••• "  # no header may hold this, so what begins with it was never typed
SECRET_NAME = re.compile(r"auth|key|secret|token|passw|cookie|credential|session|signature", re.IGNORECASE)
SECRET_VALUE = re.compile(r"(bearer|basic|token|apikey) \S|(sk|pk|rk|gsk|xai|hf|ghp|gho)[-_]\w{8}", re.IGNORECASE)


def is_secret(name: str, value: str) -> bool:
    """It would rather hide a harmless value than show a key."""
    return bool(SECRET_NAME.search(name) or SECRET_VALUE.match(value))


def of(model: ChatModel) -> dict[str, str]:
    """All headers with their plain values. Raises SecretUnreadable."""
    return {**model.headers, **_hidden(model)}


def masked(model: ChatModel) -> dict[str, str]:
    """All headers as people may see them. Raises SecretUnreadable."""
    return {**model.headers, **{name: MASK + secrets.hint(value) for name, value in _hidden(model).items()}}


def is_masked(value: object) -> bool:
    return isinstance(value, str) and value.startswith(MASK.strip())


def kept(typed: Mapping[str, str]) -> list[str]:
    """The names whose stored values are to stay."""
    return [name for name, value in typed.items() if is_masked(value)]


def unmasked(model: ChatModel, typed: Mapping[str, str]) -> dict[str, str]:
    """What was typed, with the stored values where their masks were left. Raises KeyError for a mask of nothing and
    SecretUnreadable."""
    stored = _hidden(model) if kept(typed) else {}
    return {name: stored[name] if is_masked(value) else value for name, value in typed.items()}


def give(model: ChatModel, plain: Mapping[str, str]) -> None:
    """Put the headers into the model. Saves nothing."""
    hidden = {name: value for name, value in plain.items() if is_secret(name, value)}
    for value in hidden.values():
        secrets.note(value)
    model.headers = {name: value for name, value in plain.items() if name not in hidden}
    model.encrypted_headers = secrets.encrypt(json.dumps(hidden)) if hidden else ""


def _hidden(model: ChatModel) -> dict[str, str]:
    if not model.encrypted_headers:
        return {}
    found: dict[str, str] = json.loads(secrets.decrypt(model.encrypted_headers))
    for value in found.values():
        secrets.note(value)
    return found
