"""What the start page of the admin says before its list of tables."""

from django import template
from django.template import Context

from agentweb.ui.standing import Standing, standing_for

register = template.Library()


@register.simple_tag(takes_context=True)
def site_standing(context: Context) -> Standing:
    return standing_for(context["request"].user)
