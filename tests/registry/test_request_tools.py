"""Templates of requests in the admin: written once, each a draft tool, on hold when it changes after its release."""

import pytest

from agentweb.registry import catalog, source_values
from agentweb.registry.models import RequestTemplates, Tool
from tests.registry.pages import errors, page

LOOK = """find_ticket:
  description: Find tickets.
  method: GET
  path: /tickets
  query: {q: "{words}", key: "{secret:TICKETS_KEY}"}
  parameters: {words: {type: string}}
"""
VALUE = "ours-0123456789"
FILLED = {
    "name": "Tickets",
    "enabled": "on",
    "url": "https://tickets.test/v1",
    "values": f'{{"TICKETS_KEY": "{VALUE}"}}',
    "document": LOOK,
}


@pytest.fixture
def templates(site) -> RequestTemplates:
    assert site.post(page("requesttemplates_add"), FILLED).status_code == 302
    return RequestTemplates.objects.get(name="Tickets", kind="request")


def test_each_template_becomes_a_draft_with_the_risk_of_its_method(site, templates):
    assert list(templates.tools.values_list("name", "risk", "state", "untrusted", "outbound")) == [
        ("find_ticket", "medium", "draft", True, True)
    ]
    assert VALUE not in templates.encrypted_values
    assert VALUE not in site.get(page("requesttemplates_change", templates.pk)).content.decode()


def test_its_tool_says_where_it_goes_and_keeps_its_secret(templates):
    tool = catalog.find_one("find_ticket")
    shown = tool.preview({"words": "cats"}, None).effect
    assert shown.startswith("Sends GET to https://tickets.test/v1/tickets?q=cats&key=%E2%80%A2")
    assert VALUE not in shown and source_values.of(templates) == {"TICKETS_KEY": VALUE}


def test_what_was_released_is_on_hold_when_its_template_changes(site, templates):
    templates.tools.update(state=Tool.State.ACTIVE)
    changed = {**FILLED, "document": LOOK.replace("/tickets", "/everything"), "values": '{"TICKETS_KEY": "••••6789"}'}
    assert site.post(page("requesttemplates_change", templates.pk), changed).status_code == 302
    tool = templates.tools.get()
    assert tool.state == Tool.State.HELD and "/everything" in tool.proposed
    templates.refresh_from_db()
    assert source_values.of(templates) == {"TICKETS_KEY": VALUE}


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"document": "["}, "document", "cannot be read as YAML"),
        ({"document": "a: b"}, "document", "a: it is no object"),
        ({"document": LOOK.replace("GET", "FETCH")}, "document", "find_ticket: method: must be one of"),
        ({"values": "{}"}, "values", "which are not entered: TICKETS_KEY"),
        ({"values": '{"tickets-key": "x", "TICKETS_KEY": "y"}'}, "values", "not tickets-key"),
        ({"url": "ftp://x"}, "url", ""),
    ],
)
def test_what_could_not_be_used_is_not_taken_and_says_why(site, change, field, words):
    shown = site.post(page("requesttemplates_add"), {**FILLED, **change})
    assert words in " ".join(errors(shown)[field])
    assert not RequestTemplates.objects.exists()
