"""The exact request of each model call, made again from the record of runs that a real worker moved."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from agentweb.audit.requests import rebuild
from agentweb.engine.messages import UserMessage
from agentweb.registry.models import Agent, ChatModel
from agentweb.runs import decisions, services
from agentweb.runs.errors import NotFound
from agentweb.runs.models import Event, Message, Run
from agentweb.runs.selectors import approvals_for, conversation_for, run_for
from agentweb.teams.models import User
from agentweb.worker.process import Process
from tests.cast import Cast


def advance(process: Process, run: Run) -> Run:
    process.advance(str(run.public_id))
    return Run.objects.select_related("snapshot", "conversation").get(pk=run.pk)


def say(process: Process, person: User, run: Run, text: str) -> Run:
    """Another message in the run's conversation, and its run."""
    conversation = conversation_for(person, run.conversation.public_id)
    return advance(process, services.send_message(user=person, conversation=conversation, text=text).run)


def decide(cast: Cast, run: Run, decision: str, **given: object) -> None:
    (approval,) = approvals_for(cast.owner, status="pending", run=run)
    approval.may_decide = True
    if "content" in given:
        given = {"arguments": approval.arguments | given}
    decisions.decide(user=cast.owner, approval=approval, decision=decision, digest=approval.digest, **given)


def model_calls(run: Run) -> list[int]:
    return list(run.events.filter(kind="ModelRequested").order_by("number").values_list("number", flat=True))


def test_every_request_of_a_conversation_matches_what_was_recorded(worked, process):
    first = advance(process, worked.run("What is the date today?", "team"))
    second = say(process, worked.member, first, "Compare the weather in Beijing and Shenzhen")
    assert len(model_calls(first)) >= 2 and len(model_calls(second)) >= 2
    for run in (first, second):
        assert [rebuild(run, number).matches for number in model_calls(run)] == [True] * len(model_calls(run))


def test_requests_of_a_model_whose_protocol_changes_within_a_conversation_match_too(worked, process):
    runs = [advance(process, worked.run("What is the date today?", "team"))]
    for protocol in ("text", "json_action"):
        ChatModel.objects.filter(name="scripted").update(protocol=protocol)
        runs.append(say(process, worked.member, runs[0], "What is the date today?"))
    for run, opening in zip(runs, ("", "You use tools in lines of text.", "You use tools by JSON."), strict=True):
        asked = [rebuild(run, number) for number in model_calls(run)]
        assert [each.matches for each in asked] == [True, True]
        assert all(opening in each.body["messages"][0]["content"] for each in asked)
        assert run.outcome == Run.Outcome.ANSWERED and run.calls.get().name == "current_time"


def test_requests_after_a_changed_and_a_rejected_call_match_too(worked, process):
    run = worked.builder_run()
    waiting = advance(process, run)
    decide(worked, waiting, "modify", content="changed by a person\n")
    finished = advance(process, waiting)
    while finished.status == Run.Status.WAITING:
        decide(worked, finished, "reject", comment="not this one")
        finished = advance(process, finished)
    assert finished.status == Run.Status.FINISHED
    asked = [rebuild(finished, number) for number in model_calls(finished)]
    assert len(asked) >= 2 and all(each.matches for each in asked)
    assert "changed by a person" in json.dumps(dict(asked[-1].body))


class Shout:
    """An extension that sends what people wrote in capitals, and leaves out all but the last ``most`` messages."""

    most = 9

    async def transform_context(self, messages, about):
        return messages[-self.most :]

    async def convert_message(self, message, about):
        return replace(message, text=message.text.upper()) if isinstance(message, UserMessage) else None


SHOUT = Shout()


def test_requests_match_as_long_as_the_same_extensions_are_installed(worked, process, settings):
    settings.AGENTWEB_SEAMS = [f"{__name__}.SHOUT"]
    run = advance(process, worked.run("What is the date today?"))
    asked = [rebuild(run, number) for number in model_calls(run)]
    assert len(asked) >= 2 and all(each.matches for each in asked)
    assert "WHAT IS THE DATE TODAY?" in json.dumps(dict(asked[0].body))
    settings.AGENTWEB_SEAMS = []
    assert not rebuild(run, model_calls(run)[0]).matches


def test_requests_of_a_run_that_was_tried_again_match_too(worked, process):
    Agent.objects.update(max_turns=1)
    first = advance(process, worked.run("What is the date today?", "team"))
    assert first.outcome == Run.Outcome.LIMIT_REACHED
    again = services.retry_run(user=worked.owner, run=run_for(worked.owner, first.public_id))
    again = advance(process, again)
    assert model_calls(again)
    assert [rebuild(again, number).matches for number in model_calls(again)] == [True] * len(model_calls(again))


def test_a_request_names_the_tools_and_the_prompt_of_then(worked, process):
    run = advance(process, worked.run())
    worked.agent.instructions = "Something else altogether"
    worked.agent.save()
    worked.agent.tools.clear()
    rebuilt = rebuild(run, model_calls(run)[0])
    assert rebuilt.matches
    assert rebuilt.body["tools"] and "Something else" not in rebuilt.body["messages"][0]["content"]


@pytest.mark.parametrize("what", ["question", "result", "snapshot"])
def test_a_request_of_a_changed_record_differs(worked, process, what):
    run = advance(process, worked.run())
    number = model_calls(run)[-1]
    if what == "question":
        Message.objects.filter(run=run, role="user").update(text="What is the time?")
    elif what == "result":
        event = run.events.get(kind="ToolFinished")
        Event.objects.filter(pk=event.pk).update(payload=event.payload.replace('"content":"', '"content":"forged '))
    else:
        run.snapshot.data = run.snapshot.data.replace("Use a tool", "Never use a tool")
    assert not rebuild(run, number).matches


def test_a_record_that_cannot_be_read_says_so(worked, process):
    run = advance(process, worked.run())
    run.events.filter(kind="MessageFinished").update(payload="{}")
    rebuilt = rebuild(run, model_calls(run)[-1])
    assert rebuilt.problem and not rebuilt.matches and not rebuilt.body


def test_only_model_calls_have_a_request(worked, process):
    run = advance(process, worked.run())
    for number in (1, 999):
        with pytest.raises(NotFound):
            rebuild(run, number)


@pytest.mark.parametrize("module", ["agentweb.config.urls", "agentweb.worker.process"])
def test_pages_and_workers_do_without_the_client_that_talks_to_endpoints(module):
    code = f"import django, sys; django.setup(); import {module}; print('openai' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
