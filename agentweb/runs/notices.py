"""Telling people by mail that something waits for them: late, so that most of it has been decided by then."""

import logging
from collections.abc import Sequence
from datetime import UTC, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _

from agentweb.runs import outbox, waiting, webhooks
from agentweb.runs.expiry import in_time
from agentweb.runs.live import presence
from agentweb.runs.models import Approval
from agentweb.runs.notice_models import NoticeWish
from agentweb.teams.models import User

TASK = "notices.send"
AT_ONCE = 200
logger = logging.getLogger(__name__)


def wish(*, user: User, mail: bool) -> None:
    """Keep whether the person wants mail, in the language that they read now."""
    NoticeWish.objects.update_or_create(user=user, defaults={"mail": mail, "language": get_language() or ""})


def wants_mail(user: User) -> bool:
    return NoticeWish.objects.filter(user=user, mail=True).exists()


def ask_for_sending() -> None:
    """Send for a worker's slot when somebody has to be told: mail and requests take their time."""
    if _late().exists() or webhooks.has_work():
        outbox.send(TASK, "")


def send() -> None:
    """Mail what has waited for long, and make the requests that are due."""
    tell_late()
    webhooks.work()


def _late() -> QuerySet[Approval]:
    late = timezone.now() - timedelta(minutes=settings.NOTICE_MINUTES)
    return Approval.objects.filter(in_time(), status=Approval.Status.PENDING, noticed_at=None, created_at__lte=late)


def tell_late() -> int:
    """One mail to each person who wants it, about all that has waited for too long and that nobody has open.

    Each approval is told of once, by whichever worker takes it first; what somebody has open stays for later. Returns
    the number of mails."""
    rows = list(_late().order_by("pk").only("pk", "public_id")[:AT_ONCE])
    open_now = presence.somebody_had([str(row.public_id) for row in rows]) if rows else set()
    due = [row.pk for row in rows if str(row.public_id) not in open_now and _mine(row)]
    if not due:
        return 0
    wishes = NoticeWish.objects.select_related("user").filter(mail=True, user__is_active=True).exclude(user__email="")
    sent, told, lost = 0, set[int](), set[int]()
    for wish in wishes.order_by("pk"):
        if mine := list(waiting.approvals_waiting_for(wish.user).filter(pk__in=due).order_by("pk")):
            went = _mail(wish, mine)
            sent += went
            (told if went else lost).update(row.pk for row in mine)
    # What nobody could be told of is tried anew; what somebody was told of is not, or they would be told each time.
    Approval.objects.filter(pk__in=lost - told).update(noticed_at=None)
    return sent


def _mine(row: Approval) -> bool:
    return bool(Approval.objects.filter(pk=row.pk, noticed_at=None).update(noticed_at=timezone.now()))


def _mail(wish: NoticeWish, rows: Sequence[Approval]) -> bool:
    """Whether the mail was taken."""
    with override(wish.language or settings.LANGUAGE_CODE):
        count = len(rows)
        subject = ngettext("%(count)d call waits for your decision", "%(count)d calls wait for your decision", count)
        try:
            send_mail(subject % {"count": count}, _text(rows), None, [wish.user.email])
        except (OSError, SMTPException):
            logger.exception("A mail about what waits could not be sent.")
            return False
    return True


def _text(rows: Sequence[Approval]) -> str:
    """What the mail says: which tools, how risky, in which team, until when; nothing of what was said."""
    lines = [_("Nobody has decided about these calls yet, and nobody has them open:"), ""]
    for row in rows:
        name = row.call.name if row.call else row.get_question_display()
        lines.append(f"- {name} ({row.get_risk_display()}) · {row.run.conversation.team}{_until(row)}")
    if settings.SITE_URL:
        lines += ["", f"{settings.SITE_URL}/approvals/"]
    ended = _("You get this because you asked for it on the page of approvals, where you can end it.")
    return "\n".join([*lines, "", ended, ""])


def _until(row: Approval) -> str:
    if row.expires_at is None:
        return ""
    return " · " + _("until %(at)s UTC") % {"at": row.expires_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M")}
