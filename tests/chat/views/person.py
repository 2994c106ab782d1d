"""A browser for tests: a client that is signed in, and what it finds in a page."""

import re
from html import unescape

from django.test import Client

from agentweb.teams.models import User

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/c/here/"}


def browser(user: User | None = None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def text_of(response) -> str:
    """The words of a page, without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", response.content.decode())).split())


def html_of(response) -> str:
    return response.content.decode()


def hidden_value(response, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]*value="([^"]*)"', html_of(response))
    assert found, f"the page has no field {name}"
    return unescape(found[1])
