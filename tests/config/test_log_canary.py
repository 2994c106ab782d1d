"""Keys that go through everything that can fail never appear in a line of the log."""

import json
from collections.abc import Iterator

import pytest
from django.test import Client

from agentweb.engine.enums import Outcome
from agentweb.registry import catalog, services
from agentweb.registry.models import Agent, ChatModel, Tool
from agentweb.runs.models import Call, Run
from agentweb.runs.services import send_message
from agentweb.teams.tokens import create_token
from agentweb.worker.process import Process
from tests.author import in_thread
from tests.cast import Cast, make_cast
from tests.config.log_lines import Written, written
from tests.llm.fake_provider import DONE, event, serve

pytestmark = pytest.mark.django_db(transaction=True)

MODEL_KEY = "Zx81ModelCanary90210quux"  # looks like nothing
TOOL_KEY = "sk-toolcanary0123456789abcdef"
PASSWORD = "canary horse battery staple"


@pytest.fixture
def people(valkey, settings) -> Iterator[Cast]:
    settings.TOOLBOX_MODULES, settings.DRAIN_SECONDS = ["tests.config.leaky"], 1
    catalog.tools.cache_clear()
    cast = make_cast()
    catalog.sync()
    yield cast
    Tool.objects.filter(name="leak").delete()
    catalog.tools.cache_clear()


def agent_with(base_url: str) -> Agent:
    model = ChatModel(name="leaky", base_url=base_url, model_name="m")
    services.give_key(model=model, key=MODEL_KEY)
    model.save()
    agent = Agent.objects.create(name="Leaky", model=model)
    agent.tools.set(Tool.objects.filter(name="leak"))
    return agent


def work_through(people: Cast, base_url: str) -> Run:
    conversation = people.conversation(agent=agent_with(base_url))
    run = send_message(user=people.owner, conversation=conversation, text="Go").run
    process = Process()
    process.start()
    try:
        process.advance(str(run.public_id))
    finally:
        process.stop()
    return Run.objects.get(pk=run.pk)


def calling() -> list[str]:
    arguments = json.dumps({"secret": TOOL_KEY})
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "leak", "arguments": arguments}}
    return [event({"tool_calls": [call]}), event(finish="tool_calls"), DONE]


def refusing() -> list[dict]:
    words = f"Incorrect API key provided: {MODEL_KEY}. Authorization: Bearer {MODEL_KEY}"
    return [{"status": 401, "body": json.dumps({"error": {"message": words}})}]


def silent_about(log: Written, *hidden: str) -> bool:
    return not any(word in log.text for word in hidden)


async def test_a_tool_that_fails_and_a_model_that_refuses(people):
    with written() as log:
        async with serve(calling(), refusing()) as provider:
            run = await in_thread(work_through, people, provider.base_url)
    assert provider.headers[0]["authorization"] == f"Bearer {MODEL_KEY}"
    assert run.outcome == Outcome.FAILED
    assert await in_thread(lambda: Call.objects.get(run=run).is_error)
    failed, ended = log.about("The tool leak failed"), log.about("The run ends: failed, model_error")
    assert "ConnectionError" in failed["exception"] and "Incorrect API key" in ended["event"]
    for line in (failed, ended):
        assert (line["run"], line["user"]) == (str(run.public_id), run.requested_by_id)
    assert silent_about(log, MODEL_KEY, TOOL_KEY)


def test_a_page_that_fails_with_all_that_a_browser_sent(people, settings):
    settings.ROOT_URLCONF = "tests.config.leaky"
    token = create_token(user=people.owner, name="canary")
    client = Client(raise_request_exception=False)
    client.force_login(people.owner)
    session = client.cookies["sessionid"].value
    with written() as log:
        answer = client.post(
            "/fails",
            {"password": PASSWORD, "csrfmiddlewaretoken": "canarycsrf"},
            headers={"Authorization": f"Bearer {token}", "X-Api-Key": TOOL_KEY},
        )
    assert answer.status_code == 500
    assert "RuntimeError" in log.about("Internal Server Error: /fails")["exception"]
    assert "X-Api-Key" in log.about("asked with")["event"]
    assert silent_about(log, token, session, TOOL_KEY, PASSWORD, "canarycsrf")
