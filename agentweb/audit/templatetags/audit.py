"""What the side column needs to know about the audit."""

from django import template
from django.template import Context

from agentweb.audit import selectors

register = template.Library()


@register.simple_tag(takes_context=True)
def may_audit(context: Context) -> bool:
    return selectors.may_audit(context["request"].user)
