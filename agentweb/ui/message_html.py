"""The HTML of a message's text: rendered once, kept beside the text, made again when the renderer changes."""

from django.utils.safestring import SafeString, mark_safe

from agentweb.render import RENDERER_VERSION, document
from agentweb.runs.models import Message


def message_html(message: Message) -> SafeString:
    """Safe HTML, one ``div.block`` for each top-level block. A finished message's HTML is stored with it."""
    if message.html_version == RENDERER_VERSION:
        return mark_safe(message.html)
    html = blocks_html(message.text)
    if message.status != Message.Status.STREAMING:
        Message.objects.filter(pk=message.pk, text=message.text).update(html=html, html_version=RENDERER_VERSION)
        message.html, message.html_version = html, RENDERER_VERSION
    return mark_safe(html)


def blocks_html(text: str) -> str:
    return "".join(f'<div class="block" dir="auto">{block.html}</div>' for block in document(text))
