"""The forms of policies: a rule with a short way to the usual conditions, and a call to be simulated."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agentweb.policy.conditions import Check, ConditionError, condition
from agentweb.registry.drafts import Draft
from agentweb.registry.fields import JsonObjectField
from agentweb.registry.models import Agent, PolicyRule, Tool
from agentweb.teams.models import Team, User

TESTS = [
    ("", "---------"),
    (Check.IS.value, _("is")),
    (Check.ONE_OF.value, _("is one of (with commas between)")),
    (Check.BEGINS.value, _("begins with")),
    (Check.NOT_BEGINS.value, _("does not begin with")),
    (Check.ENDS.value, _("ends with")),
    (Check.CONTAINS.value, _("contains")),
    (Check.AT_LEAST.value, _("is at least")),
    (Check.AT_MOST.value, _("is at most")),
]


class RuleForm(forms.ModelForm):
    """The condition is JSON Schema; the three fields for one argument write it."""

    condition = JsonObjectField(
        label=_("Arguments"),
        required=False,
        help_text=_(
            'JSON Schema that they must fit, such as {"properties": {"path": {"pattern": "^reports/"}}, '
            '"required": ["path"]}. Empty: any.'
        ),
    )
    argument = forms.CharField(label=_("Argument"), required=False, max_length=100)
    test = forms.ChoiceField(label=_("test"), required=False, choices=TESTS)
    value = forms.CharField(
        label=_("value"),
        required=False,
        strip=False,
        max_length=300,
        help_text=_("A short way: becomes JSON Schema when you save. Upper and lower case differ."),
    )

    class Meta:
        model = PolicyRule
        exclude = ["policy"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        written = cleaned.get("condition") or None
        argument, test, value = (cleaned.get(name) or "" for name in ("argument", "test", "value"))
        if (argument or test or value) and "condition" in cleaned:
            written = self._short_way(written, argument, test, value)
        if "condition" in cleaned:
            cleaned["condition"] = written
        self.instance.chosen = {name: cleaned.get(name, ()) for name in ("people", "later_people")}
        return cleaned

    def _short_way(self, written: Any, argument: str, test: str, value: str) -> Any:
        missing = [name for name, said in (("argument", argument), ("test", test), ("value", value)) if not said]
        for name in missing:
            self.add_error(name, _("Argument, test and value belong together."))
        if written and not missing:
            self.add_error("condition", _("Clear this, or the three fields that would replace it."))
        if written or missing:
            return written
        try:
            return condition(argument, Check(test), value)
        except ConditionError:
            self.add_error("value", _("Enter a number, with a point for decimals."))
            return None


class WhyForm(forms.Form):
    """A person, an agent and a tool, for whom the rules are explained."""

    user = forms.ModelChoiceField(User.objects.order_by("username"), label=_("Who asks"), to_field_name="username")
    agent = forms.ModelChoiceField(Agent.objects.order_by("name"), label=_("Agent"))
    tool = forms.ModelChoiceField(Tool.objects.order_by("name"), label=_("Tool"), to_field_name="name")
    team = forms.ModelChoiceField(
        Team.objects.order_by("name"),
        label=_("Team"),
        required=False,
        help_text=_("Empty: that of the agent, else the only one that the person is in."),
    )


class SimulationForm(forms.Form):
    """One call, to be judged and not to be run."""

    agent = forms.ModelChoiceField(Agent.objects.order_by("name"), label=_("Agent"))
    tool = forms.ModelChoiceField(Tool.objects.order_by("name"), label=_("Tool"), to_field_name="name")
    user = forms.ModelChoiceField(User.objects.order_by("username"), label=_("Who asks"), to_field_name="username")
    team = forms.ModelChoiceField(
        Team.objects.order_by("name"),
        label=_("Team"),
        required=False,
        help_text=_("Empty: that of the agent, else the only one that the person is in."),
    )
    arguments = JsonObjectField(label=_("Arguments"), required=False, help_text=_('Such as {"path": "notes.md"}'))
    tainted = forms.BooleanField(label=_("Untrusted text was read before"), required=False)
    unattended = forms.BooleanField(label=_("Nobody attends the run"), required=False)
    draft = forms.BooleanField(label=_("Judge by what is not saved yet"), required=False)

    def __init__(self, *args: Any, draft: Draft | None = None, **kwargs: Any) -> None:
        """``draft``: the policy that this person tried out last; without one there is nothing to choose."""
        super().__init__(*args, **kwargs)
        if draft is None:
            del self.fields["draft"]
        else:
            self.fields["draft"].help_text = _("The rules of %(policy)s, as you last tried them out.") % {
                "policy": draft.name
            }
