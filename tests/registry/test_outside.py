"""What tools get from outside on this site: as the settings allow it, and what is lacking is said."""

import smtplib
from pathlib import Path

import pytest
from django.core import mail

from agentweb.engine.outside import Mail
from agentweb.engine.ports import ToolError
from agentweb.registry import catalog, outside
from agentweb.registry.mailing import SiteMailer

LETTER = Mail(("ann@example.org",), ("ben@sub.example.org",), "猫", "Hello\n.\nbye")


class Refusing:
    """A mail server that fails as it is told to."""

    failure: Exception = OSError("password hunter2")

    def __init__(self, *args: object, **options: object) -> None:
        pass

    def send_messages(self, messages: object) -> int:
        raise self.failure


@pytest.mark.parametrize(
    ("values", "has"),
    [
        ({}, (False, False)),
        ({"SEARXNG_URL": "http://127.0.0.1:1/"}, (True, False)),
        ({"MAIL_DOMAINS": ["example.org"]}, (False, True)),
    ],
)
def test_search_and_mail_are_there_when_they_are_set_up_and_else_their_tools_are_lacking(settings, values, has):
    settings.SEARXNG_URL, settings.DUCKDUCKGO_SEARCH, settings.MAIL_DOMAINS = "", False, []
    for name, value in values.items():
        setattr(settings, name, value)
    context = outside.context("call", Path("nowhere"))
    assert (context.search is not None, context.mailer is not None) == has
    tools = catalog.tools()
    assert tuple(not outside.lacking(tools[name]) for name in ("web_search", "send_email")) == has
    assert outside.lacking(tools["calculator"]) == ""


def test_a_mail_leaves_through_django_with_the_sites_own_sender(settings):
    settings.DEFAULT_FROM_EMAIL = "agents@example.org"
    mailer = SiteMailer(["*"])
    mailer.check(LETTER)
    mailer.send(LETTER)
    (sent,) = mail.outbox
    assert (sent.from_email, sent.to, sent.cc) == ("agents@example.org", ["ann@example.org"], ["ben@sub.example.org"])
    assert (sent.subject, sent.body) == ("猫", "Hello\n.\nbye")


def test_only_the_named_domains_are_written_to():
    SiteMailer(["EXAMPLE.org", "sub.example.org"]).check(LETTER)
    with pytest.raises(
        ToolError, match=r"^Mail to sub\.example\.org is not allowed on this site, only to example\.org\.$"
    ):
        SiteMailer(["example.org"]).check(LETTER)


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (OSError("password hunter2"), r"could not be used \(OSError\)"),
        (smtplib.SMTPAuthenticationError(535, b"hunter2"), r"could not be used \(SMTPAuthenticationError\)"),
        (smtplib.SMTPRecipientsRefused({"ann@example.org": (550, b"hunter2")}), "takes no mail for ann@example.org"),
    ],
)
def test_a_mail_server_that_fails_is_told_without_its_words(settings, caplog, failure, words):
    settings.EMAIL_BACKEND = f"{__name__}.Refusing"
    Refusing.failure = failure
    with pytest.raises(ToolError, match=words) as failed:
        SiteMailer(["*"]).send(LETTER)
    assert "hunter2" not in str(failed.value) + caplog.text
