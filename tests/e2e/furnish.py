"""Runs inside `manage.py shell`: agents with other models and limits, and a token of the API for each person.

MODEL_URL names the fake model server. Prints one line of JSON: tokens by user name, ids of agents by name.
"""

import json
import os

from agentweb.registry.models import Agent, ChatModel, Tool
from agentweb.teams.models import User
from agentweb.teams.tokens import create_token

fake = ChatModel.objects.create(name="fake", base_url=os.environ["MODEL_URL"], model_name="fake")
echo = Agent.objects.create(name="Echo", description="Says and does what it is told.", model=fake, max_turns=6)
echo.tools.set(Tool.objects.all())
hasty = Agent.objects.create(name="Hasty", description="Has one turn.", max_turns=1)
hasty.tools.set(Tool.objects.filter(name__in=["current_time", "weather"]))
lines = ChatModel.objects.create(name="lines", kind="scripted", protocol="text")
Agent.objects.create(name="Liner", description="Is told of tools in lines of text.", model=lines).tools.set(
    Tool.objects.all()
)
tokens = {user.username: create_token(user=user, name="tests") for user in User.objects.all()}
agents = {str(agent.name): str(agent.public_id) for agent in Agent.objects.all()}
print(json.dumps({"tokens": tokens, "agents": agents}))
