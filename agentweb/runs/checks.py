"""What `manage.py check` says about the way to the workers."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning
from django.utils.translation import gettext as _


def check_redis(**options: Any) -> list[CheckMessage]:
    """Without Redis messages are stored and wait: nothing runs and nothing is shown live."""
    if settings.REDIS_URL:
        return []
    text = _("No Redis is known: REDIS_URL is not set, and `manage.py up` does not run on this data folder.")
    hint = _("Start everything with `manage.py up`, which brings a Redis of its own, or set REDIS_URL to yours.")
    return [Warning(text, hint=hint, id="runs.W001")]
