"""Runs inside `manage.py shell`: agents that use the fake model at MODEL_URL, and a token of the API for each person.

Prints one line of JSON: tokens by user name, ids of agents by name.
"""

import json
import os

from agentweb.registry.models import Agent, ChatModel, Tool
from agentweb.teams.models import User
from agentweb.teams.tokens import create_token

fake = ChatModel.objects.create(name="fake", base_url=os.environ["MODEL_URL"], model_name="fake")
echo = Agent.objects.create(name="Echo", description="Says and does what it is told.", model=fake, max_turns=100)
echo.tools.set(Tool.objects.all())
Agent.objects.create(name="Plain", description="Says what it is told.", model=fake)
tokens = {user.username: create_token(user=user, name="benchmarks") for user in User.objects.all()}
agents = {str(agent.name): str(agent.public_id) for agent in Agent.objects.all()}
print(json.dumps({"tokens": tokens, "agents": agents}))
