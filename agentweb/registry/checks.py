"""What `manage.py check` says about models, keys and tools, and how to mend it.

Loaded before the models are, so it asks for them by name."""

from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning
from django.core.exceptions import ValidationError
from django.db import DatabaseError, connection
from django.utils.translation import gettext as _

from agentweb.engine.seams import Point
from agentweb.registry import endpoint, seams, secrets, validators
from agentweb.toolbox import catalog, sandbox

TAG = "agentweb"


def check_endpoint(**options: Any) -> list[CheckMessage]:
    """The OPENAI_* variables: complete, and of a form that can be sent and recorded."""
    found: list[CheckMessage] = []
    for variable, validate in (("OPENAI_BASE_URL", validators.http_address), ("OPENAI_API_KEY", validators.api_key)):
        value = getattr(settings, variable)
        try:
            if value:
                validate(value)
        except ValidationError as error:
            text = _("%(variable)s cannot be used. %(why)s") % {"variable": variable, "why": " ".join(error.messages)}
            found.append(Error(text, id="registry.E001"))
    if sentence := endpoint.lone_setting():
        hint = _("Set OPENAI_MODEL and OPENAI_BASE_URL or OPENAI_API_KEY together; agents use the scripted model else.")
        found.append(Info(sentence, hint=hint, id="registry.I001"))
    return found


def check_toolbox(**options: Any) -> list[CheckMessage]:
    """Each module of TOOLBOX_MODULES can be imported and holds tools whose names are free."""
    found: list[CheckMessage] = []
    good = list(catalog.BUILT_IN)
    for module in settings.TOOLBOX_MODULES:
        try:
            catalog.load((*good, module))
        except Exception as error:  # whatever the module does when it is imported
            why = f"{type(error).__name__}: {error}"
            text = _("TOOLBOX_MODULES: %(module)s cannot be used (%(why)s).") % {"module": module, "why": why}
            hint = _("Name modules by their dotted path, on PYTHONPATH, each with at least one tool, or leave it out.")
            found.append(Error(text, hint=hint, id="registry.E002"))
        else:
            good.append(module)
    return found


def check_sandbox(**options: Any) -> list[CheckMessage]:
    """Whether programs can be shut in here: where not, no agent gets the tools that start some."""
    if not (why := sandbox.unusable()):
        return []
    text = _("Agents cannot be given run_shell here. %(why)s") % {"why": why}
    hint = _("It needs Linux with bubblewrap and user namespaces, which many containers forbid. All else works.")
    return [Info(text, hint=hint, id="registry.I003")]


def check_seams(**options: Any) -> list[CheckMessage]:
    """Each entry of AGENTWEB_SEAMS leads to something that the loop can ask; recovery is left out on purpose only."""
    found: list[CheckMessage] = []
    for path in settings.AGENTWEB_SEAMS:
        try:
            seams.load((path,))
        except Exception as error:  # whatever the module does when it is imported, or the class when it is called
            hint = _("Name a class or an object by its dotted path, on PYTHONPATH, or leave it out.")
            found.append(Error(f"AGENTWEB_SEAMS: {error}", hint=hint, id="registry.E003"))
    if not found and not seams.load(settings.AGENTWEB_SEAMS).at(Point.RECOVER):
        text = _("A run whose worker is lost waits until a person lets it go on: AGENTWEB_SEAMS names no recovery.")
        hint = _("Add agentweb.engine.recovering.Recovery to change that.")
        found.append(Info(text, hint=hint, id="registry.I002"))
    return found


def check_keys(**options: Any) -> list[CheckMessage]:
    """Every stored key can be read. Nothing is said as long as there is no database to look into."""
    found: list[CheckMessage] = []
    models = _stored(
        "ChatModel", "encrypted_key", _("The key of the model %(name)s cannot be read with this SECRET_KEY.")
    )
    tools = _stored("Secret", "encrypted_value", _("The secret %(name)s cannot be read with this SECRET_KEY."))
    places = _stored(
        "ToolSource", "encrypted_values", _("The secret values of %(name)s cannot be read with this SECRET_KEY.")
    )
    for name, stored, words in (*models, *tools, *places):
        try:
            secrets.decrypt(stored)
        except secrets.SecretUnreadable:
            text = words % {"name": name}
            hint = _("Add the secret key of before to SECRET_KEY_FALLBACKS, or enter the key again in the admin.")
            found.append(Warning(text, hint=hint, id="registry.W001"))
    return found


def _stored(model: str, column: str, words: str) -> list[tuple[str, str, str]]:
    """Names and what is encrypted, each with the words for one that cannot be read."""
    database = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite" and "memory" not in str(database) and not Path(database).exists():
        return []  # looking would make the file
    rows = apps.get_model("registry", model).objects
    try:
        return [(*row, words) for row in rows.exclude(**{column: ""}).values_list("name", column)]
    except DatabaseError:
        return []
