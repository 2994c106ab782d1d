"""Budgets in the admin: what is accepted, and what is refused with the field named."""

import pytest

from agentweb.registry.models import Agent, Budget
from tests.registry.pages import errors, page

GOOD = {
    "name": "A month",
    "enabled": "on",
    "scope": "agent",
    "period": "month",
    "unit": "cost",
    "limit": "12.5",
    "soft_percent": "80",
    "deciders": "admins",
}


def test_a_budget_is_set_up_for_one_agent(site):
    agent = Agent.objects.first()
    assert site.post(page("budget_add"), GOOD | {"agent": agent.pk}).status_code == 302
    found = Budget.objects.get()
    assert (found.agent, found.limit, found.soft_percent) == (agent, 12.5, 80)
    assert f'field-about">{agent.name}<' in site.get(page("budget_changelist")).content.decode()


def test_it_may_be_for_each_agent_and_may_never_ask(site):
    assert site.post(page("budget_add"), GOOD | {"soft_percent": ""}).status_code == 302
    assert Budget.objects.get().soft_percent is None


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"soft_percent": "100"}, "soft_percent"),
        ({"scope": "all", "agent": True}, "agent"),
        ({"scope": "user", "agent": True}, "agent"),
        ({"name": ""}, "name"),
    ],
)
def test_a_bad_budget_is_refused_with_the_field_named(site, wrong, field):
    if "agent" in wrong:
        wrong = wrong | {"agent": Agent.objects.first().pk}
    assert list(errors(site.post(page("budget_add"), GOOD | wrong))) == [field]
