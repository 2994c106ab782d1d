"""A mail goes to plain addresses that the site allows, exactly as it was shown before."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentweb.engine.outside import Mail
from agentweb.engine.ports import ToolContext, ToolError
from agentweb.toolbox.send_email import send_email
from tests.toolbox.calling import context_in, run

MAIL = {"to": ["ann@example.org"], "subject": "Cats", "text": "Dear Ann,\nthey purr.", "cc": ["ben@example.org"]}


class Postbox:
    """A mailer that keeps what it is given, for one domain."""

    sender = "agents@example.org"

    def __init__(self) -> None:
        self.sent: list[Mail] = []

    def check(self, mail: Mail) -> None:
        if any(not address.endswith("@example.org") for address in (*mail.to, *mail.cc)):
            raise ToolError("Only example.org.")

    def send(self, mail: Mail) -> None:
        self.sent.append(mail)


@pytest.fixture
def postbox() -> Postbox:
    return Postbox()


@pytest.fixture
def outside(tmp_path: Path, postbox: Postbox) -> ToolContext:
    return replace(context_in(tmp_path), mailer=postbox)


def test_the_mail_is_shown_whole_before_and_sent_as_shown(outside: ToolContext, postbox: Postbox) -> None:
    shown = send_email.preview(MAIL, outside)
    assert shown is not None and shown.effect == "Sends a mail to ann@example.org, ben@example.org"
    assert shown.data["text"] == (
        "From: agents@example.org\nTo: ann@example.org\nCc: ben@example.org\nSubject: Cats\n\nDear Ann,\nthey purr."
    )
    assert postbox.sent == []
    assert "handed to the mail server, for ann@example.org, ben@" in run(send_email, MAIL, outside)
    assert postbox.sent == [Mail(("ann@example.org",), ("ben@example.org",), "Cats", "Dear Ann,\nthey purr.")]


def test_to_whom_the_site_does_not_write_no_mail_is_sent_and_the_preview_says_it(
    outside: ToolContext, postbox: Postbox
) -> None:
    elsewhere = {**MAIL, "cc": ["eve@example.net"]}
    shown = send_email.preview(elsewhere, outside)
    assert shown is not None and shown.effect == "This would fail: Only example.org."
    with pytest.raises(ToolError, match="Only example"):
        run(send_email, elsewhere, outside)
    assert postbox.sent == []


@pytest.mark.parametrize(
    "address",
    [
        "ann",
        "ann@localhost",
        "Ann <ann@example.org>",
        "ann@example.org, eve@example.net",
        "ann@example.org\nBcc: eve@example.net",
        "ann@example.org\n",
        "ann@example.org\r",
        '"a b"@example.org',
        "ann@[127.0.0.1]",
        "ann..b@example.org",
        "@example.org",
        "ann@exa mple.org",
        "ann@-example.org",
        "аnn@example.org",
        "ann%example.net@example.org",
        "ann!x@example.org",
        "-@",
    ],
)
@pytest.mark.parametrize("field", ["to", "cc"])
def test_what_is_no_plain_address_is_refused(address: str, field: str) -> None:
    (found,) = send_email.problems({**MAIL, "to": ["x@example.org"], field: [address]})
    assert found == f"{field}[0]: Must be a plain address such as ann@example.org."


@pytest.mark.parametrize(
    ("change", "start"),
    [
        ({"to": []}, "to: "),
        ({"to": ["a@example.org"] * 21}, "to: "),
        ({"to": ["a@example.org", "A@example.org"]}, "to[1]: This address is there already."),
        ({"cc": ["ANN@example.org"]}, "cc[0]: This address is there already."),
        (
            {"subject": "x\nBcc: eve@example.net"},
            "subject: Must be one line without hidden characters; it holds U+000A",
        ),
        ({"subject": "x\u202ey"}, "subject: Must be one line"),
        ({"subject": " "}, "subject: Must not be empty."),
        ({"text": "\n"}, "text: Must not be empty."),
        ({"text": None}, "text: "),
    ],
)
def test_a_mail_that_hides_or_lacks_something_is_refused(change: dict[str, Any], start: str) -> None:
    (found,) = send_email.problems({**MAIL, **change})
    assert found.startswith(start)


def test_where_no_mail_is_sent_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="This site sends no mail"):
        run(send_email, MAIL, context_in(tmp_path))
