"""The ask command before it asks: every wrong use ends with status 2 and a sentence."""

from io import StringIO

import pytest
from django.core.management import call_command

from agentweb.registry.models import Agent, ChatModel
from agentweb.runs.models import Conversation, Run


def refused(*arguments: str) -> str:
    """What the command says beside standard output when it ends with status 2."""
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("ask", *arguments, stdout=out, stderr=err)
    assert ended.value.code == 2
    assert out.getvalue() == ""
    assert not Run.objects.exists()
    return err.getvalue().strip()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["Hello", "--user", "nobody"], "There is no active user named 'nobody'."),
        (["Hello", "--user", "member"], "There is no active user named 'member'."),
        (["Hello", "--agent", "Nobody"], "There is no agent named 'Nobody'. There are: Assistant, Builder."),
        (["Hello", "--agent", "assistant"], "There is no agent named 'assistant'. There are: Assistant, Builder."),
        (["Hello", "--conversation", "5"], "There is no such conversation, or it is not yours to see."),
        (["\x00"], "The message is empty."),
        (["x" * 100_001], "The message is longer than 100000 characters."),
        (["Hello", "--user", "reviewer"], "You can start conversations only in a team of which you are a member."),
    ],
)
def test_wrong_use_is_named(cast, arguments, sentence):
    cast.member.is_active = False
    cast.member.save()
    assert refused(*arguments) == sentence


def test_a_conversation_of_somebody_else_is_not_there(cast):
    conversation = cast.conversation()
    for user in ("member", "stranger"):
        assert "no such conversation" in refused("Hello", "--conversation", str(conversation.public_id), "--user", user)


def test_a_conversation_that_may_only_be_read_is_not_written_to(cast):
    conversation = cast.conversation()
    said = refused("Hello", "--conversation", str(conversation.public_id), "--user", "reviewer")
    assert said == "You can read this conversation but not change it."


def test_a_conversation_keeps_its_agent(cast):
    conversation = cast.conversation()
    given = ["--conversation", str(conversation.public_id), "--user", "owner", "--agent", "Builder"]
    assert refused("Hello", *given) == "This conversation is with the agent Assistant."


def test_an_agent_that_is_switched_off_is_named(cast):
    conversation = cast.conversation()
    Agent.objects.update(enabled=False)
    given = ["--conversation", str(conversation.public_id), "--user", "owner"]
    assert "switched off" in refused("Hello", *given)


def test_without_a_model_a_sentence_says_so(cast):
    ChatModel.objects.all().delete()
    assert refused("Hello") == "No model is set up. Ask an admin."
    assert not Conversation.objects.exists()
