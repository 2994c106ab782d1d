"""How much time is left, in words."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def time_left(end: datetime | None) -> str:
    """For people who are to decide until then; empty where there is no end. Rounded down, to promise nothing."""
    if end is None:
        return ""
    left = end - timezone.now()
    if left <= timedelta(0):
        return _("The time to decide is over.")
    if left < MINUTE:
        return _("Less than a minute left to decide")
    if left < 2 * HOUR:
        count = left // MINUTE
        return ngettext("%(count)d minute left to decide", "%(count)d minutes left to decide", count) % {"count": count}
    if left < 2 * DAY:
        return _("%(count)d hours left to decide") % {"count": left // HOUR}
    return _("%(count)d days left to decide") % {"count": left // DAY}
