"""Secrets are found in whatever form a server echoes them."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from agentweb.engine.disguises import without, without_bytes

SECRET = 'p"ss wörd/ü+1'


@pytest.mark.parametrize(
    "echo",
    [
        SECRET,
        quote_plus(SECRET),
        f"?key={quote(SECRET)}",
        f"?key={quote(SECRET, safe='')}",
        json.dumps({"key": SECRET}),
        f"Basic {base64.b64encode(SECRET.encode()).decode()}",
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
    ],
)
def test_no_form_of_a_secret_is_left(echo):
    told = without(f"before {echo} after", [SECRET])
    assert "[secret removed]" in told
    assert "rd/" not in told and told.startswith("before ") and told.endswith(" after")
    assert b"[secret removed]" in without_bytes(b"\xff" + echo.encode(), [SECRET])


def test_what_is_too_short_to_be_told_apart_stays():
    assert without("an ordinary text", ["text"]) == "an ordinary text"
