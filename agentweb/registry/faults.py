"""What agents cannot use although an admin has set it up, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Count, F, Q
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentweb.llm.config import ConfigError
from agentweb.llm.recorded import config_of
from agentweb.registry import catalog, headers, outside, secrets, snapshots
from agentweb.registry.models import ChatModel, Tool, ToolSource

IN_USE = Q(agents__enabled=True)


@dataclass(frozen=True, slots=True)
class Fault:
    """``row`` is the model or tool that cannot be used, ``why`` a sentence, ``agents`` how many agents want it."""

    row: ChatModel | Tool | ToolSource
    why: str
    agents: int


def models() -> list[Fault]:
    """Models that would end every run with a sentence. One query."""
    rows = ChatModel.objects.annotate(wanted=Count("agents", filter=IN_USE))
    return [Fault(row, why, row.wanted) for row in rows if (why := _model_fault(row))]


def tools() -> list[Fault]:
    """Tools that agents are given and never see: no code, switched off, on hold, not released. One query."""
    code = tools_in_code()
    rows = Tool.objects.annotate(
        wanted=Count("agents", filter=IN_USE), place=F("source__name"), place_on=F("source__enabled")
    )
    return [Fault(row, why, row.wanted) for row in rows if (why := _tool_fault(row, code))]


def servers() -> list[Fault]:
    """MCP servers that did not answer when they were asked last, and whose tools agents are given. One query."""
    given = Count("tools__agents", filter=Q(tools__agents__enabled=True), distinct=True)
    rows = ToolSource.objects.filter(enabled=True, state=ToolSource.State.FAILS).defer("document")
    return [Fault(row, row.last_error, row.wanted) for row in rows.annotate(wanted=given) if row.wanted]


def _tool_fault(row: Any, code: Mapping[str, Any] | None) -> str:
    """What nobody is given may be off or a draft: that is no fault."""
    if row.state == Tool.State.HELD:
        return _("It is on hold: %(why)s") % {"why": row.get_held_why_display()}
    if not row.enabled:
        return _("It is switched off.") if row.wanted else ""
    if row.place is not None:
        return _outside_fault(row) if row.wanted else ""
    if code is not None and row.name not in code:
        return _("There is no such tool in the code: does TOOLBOX_MODULES lack a module?")
    return outside.lacking(code[row.name]) if code is not None and row.wanted else ""


def _outside_fault(row: Any) -> str:
    if row.state == Tool.State.DRAFT:
        return _("It is a draft, which an admin must release first.")
    return "" if row.place_on else _("%(source)s, where it comes from, is switched off.") % {"source": row.place}


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
