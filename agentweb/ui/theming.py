"""The colours that a person chose, kept in a cookie so that the first byte of a page already has them."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse

COOKIE = "theme"
CHOICES = ("light", "dark")
YEAR = 365 * 24 * 3600


def chosen(request: HttpRequest | None) -> str:
    value = request.COOKIES.get(COOKIE, "") if request is not None else ""
    return value if value in CHOICES else ""


def remember(response: HttpResponse, value: str) -> None:
    """Keep a choice; anything that is none follows the device again."""
    if value in CHOICES:
        response.set_cookie(
            COOKIE, value, max_age=YEAR, samesite="Lax", httponly=True, secure=settings.SESSION_COOKIE_SECURE
        )
    else:
        response.delete_cookie(COOKIE, samesite="Lax")
