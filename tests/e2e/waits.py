"""Runs inside `manage.py shell`: conversations of ann that wait for her, and one with an agent on a budget.

What waits is written as the workers would write it, so nobody has to be killed. Prints one line of JSON: addresses.
"""

import json
from types import SimpleNamespace
from uuid import uuid4

from django.db import transaction

from agentweb.engine import enums, events
from agentweb.engine.digest import question_digest
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult
from agentweb.engine.usage import Usage
from agentweb.registry.models import Agent, Budget
from agentweb.runs import journal, services
from agentweb.runs.models import Conversation, Run
from agentweb.runs.selectors import conversation_for
from agentweb.teams.models import User
from tests.cast import make_worker
from tests.runs.lost_call import suspended_calls, unknown_call

ann = User.objects.get(username="ann")
cast = SimpleNamespace(owner=ann)
echo = Agent.objects.get(name="Echo")
thrifty = Agent.objects.create(name="Thrifty", model=echo.model, max_turns=6)
thrifty.tools.set(echo.tools.all())
of_agent = {"scope": "agent", "agent": thrifty, "period": "run", "deciders": "chats"}
Budget.objects.create(name="A day", **of_agent, unit="tokens", limit=5000, soft_percent=1)


def converse(agent: Agent) -> Conversation:
    return conversation_for(ann, services.create_conversation(user=ann, agent=agent).public_id)


def begin() -> Run:
    return services.send_message(user=ann, conversation=converse(echo), text="Go [[tokens=2 rate=0 ttft=0]]").run


def go_in_circles(run: Run) -> None:
    """The run has called a tool, and people are asked whether it may do so again."""
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    message, call, city = str(uuid4()), str(uuid4()), {"city": "Beijing"}
    said = AssistantMessage(message, "Again.", "", (ToolCall(call, "weather", city, "{}"),), enums.Finish.TOOL_CALLS)
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "fake", "d")))
    journal.append(holder, (events.MessageFinished(said, Usage()), events.ToolStarted(call, "weather", city)))
    told = events.ToolFinished(call, "weather", ToolResult(call, "Sunny"))
    facts = {"sign": "same_call", "name": "weather", "arguments": city}
    about, question = enums.Question.CIRCLES, str(uuid4())
    asked = events.QuestionAsked(question, about, facts, {}, question_digest(about.value, facts, {}), "loop guard")
    paused = events.RunPaused((), Usage(), question=question)
    journal.append(holder, (told, events.TurnFinished(1), asked, paused))


with transaction.atomic():  # no worker sees a run before it waits
    runs = {name: begin() for name in ("unknown", "suspended", "circles")}
    unknown_call(cast, runs["unknown"])
    suspended_calls(cast, runs["suspended"])
    go_in_circles(runs["circles"])
shown = {name: run.conversation for name, run in runs.items()} | {"thrifty": converse(thrifty)}
print(json.dumps({name: f"/c/{conversation.public_id}/" for name, conversation in shown.items()}))
