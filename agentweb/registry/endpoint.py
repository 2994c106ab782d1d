"""The model endpoint that the environment names, if it names one completely."""

from django.conf import settings
from django.utils.translation import gettext as _

STANDARD_URL = "https://api.openai.com/v1"


def is_named() -> bool:
    """Whether there is enough to call a model: endpoint or key, and the model."""
    return bool(settings.OPENAI_MODEL and (settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY))


def lone_setting() -> str:
    """What is missing before the endpoint in the environment is used, as a sentence; empty if nothing."""
    named = settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY
    if settings.OPENAI_MODEL and not named:
        return _("OPENAI_MODEL is set but neither OPENAI_BASE_URL nor OPENAI_API_KEY: the model is not used.")
    if named and not settings.OPENAI_MODEL:
        name = "OPENAI_API_KEY" if settings.OPENAI_API_KEY else "OPENAI_BASE_URL"
        words = _("%(name)s is set but OPENAI_MODEL is not: name a model to use it; nothing is spent until then.")
        return words % {"name": name}
    return ""
