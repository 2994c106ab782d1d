"""Send a mail, to whom the site allows."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json
from agentweb.engine.outside import Mail
from agentweb.engine.ports import Preview, ToolContext, ToolError
from agentweb.toolbox.invisible import first_in_name
from agentweb.toolbox.needs import Need
from agentweb.toolbox.parameters import Length
from agentweb.toolbox.tool import tool

LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
ADDRESS = re.compile(rf"(?=.{{3,254}}\Z)[A-Za-z0-9_+=~'-]+(?:\.[A-Za-z0-9_+=~'-]+)*@{LABEL}(?:\.{LABEL})+", re.ASCII)
NO_MAIL = "This site sends no mail."

Addresses = Annotated[list[Annotated[str, Length(1, 254)]], Length(1, 20)]


def check(arguments: Mapping[str, Json]) -> Iterator[str]:
    """Plain addresses only, each once: no names, lists or routes, in which a header could be hidden."""
    known: set[str] = set()
    for name in ("to", "cc"):
        for number, address in enumerate(arguments.get(name) or ()):
            if not ADDRESS.fullmatch(address):
                yield f"{name}[{number}]: Must be a plain address such as ann@example.org."
            elif address.casefold() in known:
                yield f"{name}[{number}]: This address is there already."
            known.add(address.casefold())
    if not arguments["subject"].strip():
        yield "subject: Must not be empty."
    if hidden := first_in_name(arguments["subject"]):
        yield f"subject: Must be one line without hidden characters; it holds {hidden}."
    if not arguments["text"].strip():
        yield "text: Must not be empty."


def preview(context: ToolContext, to: list[str], subject: str, text: str, cc: list[str] | None = None) -> Preview:
    """The mail as it would leave."""
    mail = _mail(to, cc, subject, text)
    if context.mailer is None:
        raise ToolError(NO_MAIL)
    context.mailer.check(mail)
    head = [f"From: {context.mailer.sender}", f"To: {', '.join(mail.to)}"]
    head += [f"Cc: {', '.join(mail.cc)}"] if mail.cc else []
    whole = "\n".join([*head, f"Subject: {mail.subject}", "", mail.text])
    return Preview(f"Sends a mail to {', '.join((*mail.to, *mail.cc))}", "text", {"text": whole})


@tool(
    label="Send e-mail",
    category="people",
    risk=Risk.HIGH,
    timeout_s=60,
    check=check,
    preview=preview,
    outbound=True,
    needs=Need.MAIL,
)
def send_email(
    context: ToolContext,
    to: Addresses,
    subject: Annotated[str, Length(1, 200)],
    text: Annotated[str, Length(1, 50_000)],
    cc: Addresses | None = None,
) -> str:
    """Send a mail in plain text. Write only to people who expect it, and only what they need.

    Args:
        to: Plain addresses, such as ann@example.org.
        subject: One line.
        text: The whole text, with greeting and signature.
        cc: Plain addresses of those who get a copy.
    """
    if context.mailer is None:
        raise ToolError(NO_MAIL)
    mail = _mail(to, cc, subject, text)
    context.mailer.check(mail)
    context.mailer.send(mail)
    return f"The mail was handed to the mail server, for {', '.join((*mail.to, *mail.cc))}."


def _mail(to: list[str], cc: list[str] | None, subject: str, text: str) -> Mail:
    return Mail(tuple(to), tuple(cc or ()), subject.strip(), text)
