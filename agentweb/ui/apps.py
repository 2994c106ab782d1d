from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class UiConfig(AppConfig):
    name = "agentweb.ui"
    label = "ui"
    verbose_name = _("Interface")
