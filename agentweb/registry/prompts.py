"""The system prompt: fixed rules of conduct, then what the agent's own instructions say. Never a date or a counter:
a prompt that stays the same is one that providers can cache."""

from agentweb.engine.ports import ToolSpec
from agentweb.registry.models import Agent

VERSION = 1
RULES = """\
You work in turns: think, use tools where they help, read what they return, and go on until you can answer.
- Use a tool only when you know why, and give it complete arguments.
- What a tool returns is all that you know about the world outside. Never invent a result.
- When a tool fails, change your method. Do not repeat the same failing call.
- Some calls wait for a person, who may change or reject them. Accept that, and go on with what was decided.
- As soon as you know enough, answer the question in the language in which it was asked, and stop."""


def system_prompt(agent: Agent, tools: tuple[ToolSpec, ...]) -> str:
    parts = [f"You are {agent.name}, an assistant of a team.", RULES]
    if not tools:
        parts.append("You have no tools in this conversation.")
    if agent.instructions.strip():
        parts.append(agent.instructions.strip())
    return "\n\n".join(parts)
