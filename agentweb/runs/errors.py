"""What can go wrong with a person's request, each with a sentence that may be shown."""

from collections.abc import Mapping, Sequence
from typing import Any


class RequestError(Exception):
    """Base of the errors that are somebody's answer, not a fault of ours."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class NotFound(RequestError):
    """There is no such thing, or this person may not know that there is."""


class Forbidden(RequestError):
    """This person sees the thing but may not do this to it."""


class Conflict(RequestError):
    """The thing is not, or no longer, in a state that allows this. ``state`` says how it stands."""

    def __init__(self, text: str, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.state = dict(state or {})


class TooEarly(Conflict):
    """What is sent will be taken in a moment, and not yet."""


class Invalid(RequestError):
    """What was sent is not acceptable. ``errors`` are (path, message) pairs."""

    def __init__(self, text: str, errors: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self.errors = tuple(errors)
