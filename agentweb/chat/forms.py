"""Reading what a browser posts."""

import secrets

from django.http import HttpRequest


def key_for_form() -> str:
    """A new idempotency key: the form that holds it can be sent twice and counts once."""
    return secrets.token_urlsafe(18)


def text_of(request: HttpRequest, name: str = "text") -> str:
    """A posted text with plain line ends; browsers send CRLF."""
    return request.POST.get(name, "").replace("\r\n", "\n")
