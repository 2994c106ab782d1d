from django.apps import AppConfig
from django.core.checks import register
from django.utils.translation import gettext_lazy as _

from agentweb.runs import checks


class RunsConfig(AppConfig):
    name = "agentweb.runs"
    label = "runs"
    verbose_name = _("Runs")

    def ready(self) -> None:
        register(checks.check_redis, "agentweb")
