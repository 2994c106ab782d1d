"""A conversation can be taken away as a file, whole, and in a form that nothing said in it can break."""

import json
from urllib.parse import unquote

import pytest

from agentweb.runs import decisions
from agentweb.runs.models import Call, Conversation, Message
from agentweb.ui.exporting import fenced
from tests.chat.views.person import browser
from tests.chat.views.test_conversations import answered
from tests.runs.waiting_call import waiting_approvals


@pytest.fixture
def conversation(cast) -> Conversation:
    run = cast.run("What is\nthe date?")
    answered(run, "It is **Monday**.", "I asked the clock.")
    Conversation.objects.filter(pk=run.conversation_id).update(title="日期/plan: 1")
    return run.conversation


def test_markdown_has_who_said_what_and_when(cast, conversation):
    answer = browser(cast.owner).get(f"/c/{conversation.public_id}/export.md")
    text = answer.content.decode()
    assert text.startswith("# 日期/plan: 1\n")
    assert f"## {cast.owner.display_name}, " in text
    assert "What is\nthe date?" in text
    assert f"## {conversation.agent.name}, " in text
    assert text.index("the date?") < text.index("It is **Monday**.")
    assert unquote(answer["Content-Disposition"]).endswith("日期 plan 1.md")
    assert answer["Content-Disposition"].startswith("attachment")


def test_tools_are_in_it_with_their_arguments_and_results(cast):
    run = cast.builder_run()
    approval = waiting_approvals(cast, run, arguments={"path": "a.txt", "content": "```\n# not a title"})[0]
    decisions.decide(user=cast.owner, approval=approval, decision="approve", digest="digest")
    call = Call.objects.get()
    Call.objects.filter(pk=call.pk).update(status="finished", result="Wrote a.txt", result_kind="ok")
    text = browser(cast.owner).get(f"/c/{run.conversation.public_id}/export.md").content.decode()
    assert "**Tool: write_file**" in text
    assert '"content": "```\\n# not a title"' in text
    assert "\n````json\n" in text
    assert "Wrote a.txt" in text
    data = browser(cast.owner).get(f"/c/{run.conversation.public_id}/export.json").json()
    (tool,) = data["messages"][-1]["tool_calls"]
    assert (tool["name"], tool["arguments"]["path"], tool["result"]) == ("write_file", "a.txt", "Wrote a.txt")


def test_json_has_the_same_for_programs(cast, conversation):
    data = json.loads(browser(cast.owner).get(f"/c/{conversation.public_id}/export.json").content)
    assert (data["id"], data["title"]) == (str(conversation.public_id), "日期/plan: 1")
    assert [(one["role"], one["author"], one["text"]) for one in data["messages"]] == [
        ("user", cast.owner.username, "What is\nthe date?"),
        ("assistant", None, "It is **Monday**."),
    ]
    assert data["messages"][1]["thinking"] == "I asked the clock."


def test_what_broke_off_and_what_the_system_told_the_agent_is_not_in_it(cast, conversation):
    for fields in ({"role": "assistant", "status": "interrupted"}, {"role": "system"}):
        Message.objects.create(conversation=conversation, text="left out", **fields)
    for ending in ("md", "json"):
        assert b"left out" not in browser(cast.owner).get(f"/c/{conversation.public_id}/export.{ending}").content


@pytest.mark.parametrize(("text", "fence"), [("plain", "```"), ("a ``` b", "````"), ("`````", "``````")])
def test_a_block_of_code_cannot_be_ended_from_inside(text, fence):
    assert fenced(text) == f"{fence}\n{text}\n{fence}\n"
