from django.apps import AppConfig
from django.core.checks import register
from django.utils.translation import gettext_lazy as _

from agentweb.registry import checks


class RegistryConfig(AppConfig):
    name = "agentweb.registry"
    label = "registry"
    verbose_name = _("Registry")

    def ready(self) -> None:
        for check in (
            checks.check_endpoint,
            checks.check_toolbox,
            checks.check_sandbox,
            checks.check_seams,
            checks.check_keys,
        ):
            register(check, checks.TAG)
