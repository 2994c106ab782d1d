"""MCP servers in the admin: what is kept of them, what they are given, and what a look takes in."""

import json
import os
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from agentweb.registry import mcp_servers, outside_tools, source_values
from agentweb.registry.checks import check_keys
from agentweb.registry.models import McpServer, Tool, ToolSource
from agentweb.registry.taking_in import take_in
from tests.registry.outside import offer, released
from tests.registry.pages import errors, page
from tests.toolbox.mcp_calls import FAKE, SECRET

STDIO = {"name": "Office", "kind": "mcp_stdio", "enabled": "on", "command": "office", "arguments": "--port\n7"}
HTTP = {"name": "Office", "kind": "mcp_http", "enabled": "on", "url": "https://office.test/mcp"}


def add(site, **fields) -> ToolSource:
    response = site.post(page("mcpserver_add"), fields)
    assert response.status_code == 302, errors(response)
    return ToolSource.objects.get(name=fields["name"])


def test_values_are_stored_encrypted_and_never_shown_again(site):
    row = add(site, **STDIO, environment="GIT_DIR", values=json.dumps({"OFFICE_TOKEN": SECRET}))
    assert SECRET not in row.encrypted_values and source_values.of(row) == {"OFFICE_TOKEN": SECRET}
    shown = site.get(page("mcpserver_change", row.pk)).content.decode()
    assert SECRET not in shown and f"•••• {SECRET[-4:]}" in shown
    kept = {**STDIO, "command": "office2", "environment": "", "values": json.dumps({"OFFICE_TOKEN": "•••• cret"})}
    site.post(page("mcpserver_change", row.pk), kept)
    server = mcp_servers.server_of(ToolSource.objects.get(pk=row.pk))
    assert (server.command, server.arguments, server.inherited) == ("office2", ("--port", "7"), ())
    assert dict(server.values) == {"OFFICE_TOKEN": SECRET}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({**STDIO, "command": ""}, "command"),
        ({**HTTP, "url": ""}, "url"),
        ({**HTTP, "url": "ftp://office.test"}, "url"),
        ({**STDIO, "environment": "SECRET_KEY"}, "environment"),
        ({**STDIO, "environment": "A=1"}, "environment"),
        ({**STDIO, "values": '{"not a name": "x"}'}, "values"),
        ({**STDIO, "values": '{"A": 1}'}, "values"),
        ({**HTTP, "values": '{"Host": "evil.test"}'}, "values"),
        ({**HTTP, "values": '{"X-Key": "•••• abcd"}'}, "values"),
        ({**HTTP, "kind": "openapi"}, "kind"),
    ],
)
def test_what_cannot_work_is_refused(site, fields, field):
    assert list(errors(site.post(page("mcpserver_add"), fields))) == [field]


def test_hidden_values_do_not_go_along_to_another_server(site):
    row = add(site, **HTTP, values=json.dumps({"Authorization": "Bearer of-the-office"}))
    moved = {**HTTP, "url": "https://evil.test/mcp", "values": json.dumps({"Authorization": "•••• fice"})}
    assert list(errors(site.post(page("mcpserver_change", row.pk), moved))) == ["values"]


def test_a_look_takes_in_drafts_and_says_what_cannot_be_used(site, tmp_path):
    book = tmp_path / "book.json"
    tools = [{"name": "日历", "inputSchema": None}, {"name": "bad", "inputSchema": {"type": "string"}}]
    book.write_text(json.dumps({"tools": [{"name": "a.b", "inputSchema": {"type": "object"}}, *tools]}))
    row = McpServer.objects.create(name="Fake", kind="mcp_stdio", command=sys.executable, arguments=[FAKE, str(book)])
    asked = site.get(page("mcpserver_look", row.pk))
    assert asked.context["report"] is None and not row.tools.exists()
    shown = site.post(page("mcpserver_look", row.pk)).content.decode()
    assert "Cannot be used:" in shown and "日历" in shown
    assert list(row.tools.order_by("pk").values_list("true_name", "name", "state", "risk")) == [
        ("a.b", "a_b", "draft", "high"),
        ("日历", "tool_a00f295c", "draft", "high"),
    ]
    row.refresh_from_db()
    assert row.state == "answers" and row.seen_at > timezone.now() - timedelta(minutes=5)


def test_a_tool_is_tried_from_its_page_and_its_server_ends_with_that(site, tmp_path):
    book = tmp_path / "book.json"
    book.write_text(json.dumps({"tools": [{"name": "pid", "inputSchema": {"type": "object"}}]}))
    row = McpServer.objects.create(name="Fake", kind="mcp_stdio", command=sys.executable, arguments=[FAKE, str(book)])
    mcp_servers.look_and_take_in(row)
    shown = site.post(page("tool_try", row.tools.get().pk), {"typed": "pid"})
    with pytest.raises(ProcessLookupError):
        os.kill(int(shown.context["tried"].text), 0)


def test_a_look_at_what_does_not_work_says_why(site):
    row = McpServer.objects.create(name="Fake", kind="mcp_stdio", command="no-such-program")
    assert "no-such-program: No such file" in site.post(page("mcpserver_look", row.pk)).content.decode()
    row.refresh_from_db()
    assert row.state == "fails" and "No such file" in row.last_error
    assert "No such file" in site.get(page("mcpserver_changelist")).content.decode()


def test_what_a_worker_finds_is_kept_and_puts_tools_on_hold(cast):
    (tool,) = released(cast.agent)
    books = mcp_servers.Books(tool.source.pk)
    books.failed("no answer in 60 s")
    assert ToolSource.objects.get().last_error == "no answer in 60 s"
    books.seen((offer(description="Sends two mails."),))
    tool.refresh_from_db()
    assert (tool.state, tool.held_why, tool.source.state) == ("held", "changed", "answers")
    ToolSource.objects.all().delete()
    books.seen(())
    assert not Tool.objects.exclude(source=None).exists()


def test_values_that_cannot_be_read_any_more_are_found_and_must_be_entered_again(site, settings):
    row = add(site, **STDIO, values=json.dumps({"OFFICE_TOKEN": SECRET}))
    settings.SECRET_KEY = "another-key-of-the-same-site-0123456789"
    assert [str(found.msg) for found in check_keys()] == [
        "The secret values of Office cannot be read with this SECRET_KEY."
    ]
    tool = take_in(source=row, offers=[offer()]) and outside_tools.tool_of(row.tools.get())
    assert "Office, where this tool comes from, cannot be used" in tool.preview({}, None).effect


def test_only_who_may_change_servers_sees_them(client, cast):
    row = McpServer.objects.create(name="Fake", kind="mcp_stdio", command="no-such-program")
    client.force_login(cast.owner)
    assert client.post(page("mcpserver_look", row.pk)).status_code == 302
    row.refresh_from_db()
    assert row.state == "unknown"
