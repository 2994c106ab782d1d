"""What templates need beyond Django's own tags: icons, theme, language, safe text, and parts of a conversation."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import template
from django.template import Context
from django.utils.formats import date_format, number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from agentweb.engine.enums import NoteKind
from agentweb.policy.retelling import retold
from agentweb.runs import halting, halts, taint, waiting
from agentweb.runs.models import Conversation, Halt, Message
from agentweb.toolbox.workspace import readable_size
from agentweb.ui import addresses, hidden, icons, message_html, notes, reasons, theming, timeline

register = template.Library()


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    """A decorative icon; a word must stand beside it."""
    return icons.icon(name, css)


@register.simple_tag(takes_context=True)
def theme(context: Context) -> str:
    """ "light" or "dark" when the person chose one, else an empty string."""
    return theming.chosen(context.get("request"))


@register.simple_tag(takes_context=True)
def theme_attribute(context: Context) -> SafeString:
    chosen = theming.chosen(context.get("request"))
    return mark_safe(f'data-theme="{chosen}"' if chosen else "")


@register.simple_tag
def page_language() -> str:
    return html_language(get_language() or "en")


@register.filter
def html_language(code: str) -> str:
    """A Django language code as HTML wants it: ``zh-hans`` becomes ``zh-Hans``."""
    first, _dash, script = code.partition("-")
    return f"{first}-{script.title()}" if len(script) == 4 else code


@register.simple_tag(takes_context=True)
def pending_count(context: Context) -> int:
    """How much waits for this person; asked once per page."""
    request = context["request"]
    if not hasattr(request, "pending_approvals"):
        request.pending_approvals = waiting.waiting_count(request.user)
    return request.pending_approvals


@register.simple_tag
def taint_of(conversation: int, may_clear: bool) -> dict[str, Any]:
    """The untrusted texts of a conversation (its row id) that nobody has cleared; one query."""
    rows = taint.standing(conversation)
    return {"rows": rows, "may_clear": may_clear, "digest": taint.digest(rows)}


@register.simple_tag
def halts_of(conversation: Conversation) -> list[Halt]:
    """The emergency stops that people of the conversation should know of."""
    return halts.concerning(conversation)


@register.simple_tag(takes_context=True)
def may_halt(context: Context) -> bool:
    return bool(halting.teams_for(context["request"].user))


@register.simple_tag
def tool_label(label: str) -> str:
    return _(label)


@register.simple_tag
def moment(value: datetime) -> SafeString:
    """A time as text in UTC; a script turns it into the viewer's own zone."""
    utc = value.astimezone(UTC)
    shown = date_format(utc, "SHORT_DATETIME_FORMAT")
    return format_html('<time datetime="{}" data-local>{} UTC</time>', utc.isoformat(timespec="seconds"), shown)


@register.filter
def rule_words(recorded: str) -> str:
    """A rule as it is recorded, in the reader's language."""
    return retold(recorded, _)


@register.filter
def visible(text: Any) -> SafeString:
    """Escaped text in which every character that people cannot see is marked."""
    return hidden.visible_html(str(text))


@register.filter
def hides_something(text: Any) -> bool:
    return hidden.hides_something(str(text))


@register.filter
def rendered(message: Message) -> SafeString:
    """The message's markdown as safe HTML."""
    return message_html.message_html(message)


@register.filter
def note(message: Message) -> str:
    """What the system did, in one sentence."""
    if message.why == NoteKind.FOLDED:
        return notes.folded(message.extra["count"], message.extra["strategy"])
    return notes.sentence(message.why, message.extra.get("by", ""))


@register.filter
def broke_off(message: Message) -> tuple[str, str] | None:
    """Why a message broke off, and how the run went on; nothing where it did not."""
    recorded = str(message.extra.get("fault", ""))
    fault = reasons.fault(message.why) if timeline.speaks_otherwise() else recorded
    if "wait" in message.extra:
        words = _("The model was asked again after %(wait)s s.") % {"wait": seconds(message.extra["wait"])}
    elif "by" in message.extra:
        words = _("The fallback model %(by)s was asked instead.") % {"by": message.extra["by"]}
    else:
        return None
    return fault, words


@register.filter
def originals(message: Message) -> str:
    """Where the messages stand that were folded: above, or further up than the page begins."""
    anchor = message.extra["first"]
    return f"#{anchor}" if message.extra.get("run") == message.run_id else addresses.place(message.conversation, anchor)


@register.simple_tag
def at(conversation: Conversation, kind: str, public_id: UUID | str) -> str:
    """The address of a message, call, question or run in its conversation."""
    return addresses.place(conversation, f"{kind}-{public_id}")


@register.filter
def count(number: int) -> str:
    return number_format(number, use_l10n=True, force_grouping=True)


@register.filter
def seconds(value: float) -> str:
    """A duration in seconds as people read it: 0.4, 12, 184."""
    places = 1 if value < 9.95 else 0
    return number_format(round(value, places), decimal_pos=places, use_l10n=True)


@register.filter
def money(value: Decimal) -> str:
    """An amount without trailing zeros, and not rounded to nothing."""
    plain = f"{value:f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return plain or "0"


@register.filter
def about(value: str, estimated: int) -> str:
    """An amount, marked when a part of it is a guess."""
    return f"≈ {value}" if estimated else value


@register.filter
def file_size(size: int) -> str:
    return readable_size(size)
