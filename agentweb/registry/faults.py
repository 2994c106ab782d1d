"""What agents cannot use although an admin has set it up, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentweb.llm.config import ConfigError
from agentweb.llm.recorded import config_of
from agentweb.registry import catalog, headers, secrets, snapshots
from agentweb.registry.models import ChatModel, Tool

IN_USE = Q(agents__enabled=True)


@dataclass(frozen=True, slots=True)
class Fault:
    """``row`` is the model or tool that cannot be used, ``why`` a sentence, ``agents`` how many agents want it."""

    row: ChatModel | Tool
    why: str
    agents: int


def models() -> list[Fault]:
    """Models that would end every run with a sentence. One query."""
    rows = ChatModel.objects.annotate(wanted=Count("agents", filter=IN_USE))
    return [Fault(row, why, row.wanted) for row in rows if (why := _model_fault(row))]


def tools() -> list[Fault]:
    """Tools that agents are given and never see: no code, or switched off. One query."""
    code = tools_in_code()
    found = []
    for row in Tool.objects.annotate(wanted=Count("agents", filter=IN_USE)):
        why = ""
        if not row.enabled:
            why = _("It is switched off.") if row.wanted else ""
        elif code is not None and row.name not in code:
            why = _("There is no such tool in the code: does TOOLBOX_MODULES lack a module?")
        if why:
            found.append(Fault(row, why, row.wanted))
    return found


def tools_in_code() -> Mapping[str, Any] | None:
    """By name; None when a module cannot be loaded: the checks say which one and why."""
    try:
        return catalog.tools()
    except Exception:  # whatever the module does when it is imported
        return None


def wanted_by(fault: Fault) -> str:
    """How many agents that concerns, as a sentence; empty for none."""
    words = ngettext("%(count)d agent is given it.", "%(count)d agents are given it.", fault.agents)
    return words % {"count": fault.agents} if fault.agents else ""


def _model_fault(row: ChatModel) -> str:
    try:
        row.clean_fields()
        row.clean()
        key = secrets.decrypt(row.encrypted_key)
        config_of({**snapshots.settings_of(row), "headers": headers.of(row)}, api_key=key)
    except ValidationError as error:
        return " ".join(_named(name, words) for name, words in error.message_dict.items())
    except secrets.SecretUnreadable:
        return _("Its key cannot be read with this SECRET_KEY: enter it again, or add the old one to the fallbacks.")
    except ConfigError as error:
        return str(error)
    return ""


def _named(name: str, words: list[str]) -> str:
    label = getattr(ChatModel._meta.get_field(name), "verbose_name", name)
    return f"{capfirst(label)}: {' '.join(words)}"
