"""How mails of agents leave: through Django, to the domains that the settings name."""

import logging
import smtplib
from collections.abc import Sequence

from django.conf import settings
from django.core.mail import EmailMessage

from agentweb.engine.outside import Mail
from agentweb.engine.ports import ToolError

ANYWHERE = "*"
logger = logging.getLogger(__name__)


class SiteMailer:
    """``domains``: to which mails may go, subdomains not included; ``*`` for all."""

    def __init__(self, domains: Sequence[str]) -> None:
        self._domains = {domain.lower() for domain in domains}

    @property
    def sender(self) -> str:
        return str(settings.DEFAULT_FROM_EMAIL)

    def check(self, mail: Mail) -> None:
        if ANYWHERE in self._domains:
            return
        for address in (*mail.to, *mail.cc):
            domain = address.rpartition("@")[2].lower()
            if domain not in self._domains:
                raise ToolError(f"Mail to {domain} is not allowed on this site, only to {', '.join(self._named())}.")

    def send(self, mail: Mail) -> None:
        message = EmailMessage(mail.subject, mail.text, self.sender, list(mail.to), cc=list(mail.cc))
        try:
            message.send()
        except smtplib.SMTPRecipientsRefused as error:
            refused = ", ".join(sorted(error.recipients))
            raise ToolError(f"The mail server takes no mail for {refused[:300]}. Nothing was sent.") from None
        except (smtplib.SMTPException, OSError) as error:  # their words may hold what was sent to sign in
            logger.warning("A mail could not be sent: %s", type(error).__name__)
            raise ToolError(f"The mail server could not be used ({type(error).__name__}).") from None

    def _named(self) -> list[str]:
        return sorted(self._domains)
