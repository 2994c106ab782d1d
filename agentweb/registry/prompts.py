"""The system prompt: a template filled when a run begins. The built-in one holds fixed rules of conduct and the agent's
instructions, never a date or a counter: a prompt that stays the same is one that providers can cache."""

from agentweb.engine.ports import ToolSpec
from agentweb.registry.models import Agent
from agentweb.registry.placeholders import Values, filled

VERSION = 1
RULES = """\
You work in turns: think, use tools where they help, read what they return, and go on until you can answer.
- Use a tool only when you know why, and give it complete arguments.
- What a tool returns is all that you know about the world outside. Never invent a result.
- When a tool fails, change your method. Do not repeat the same failing call.
- Some calls wait for a person, who may change or reject them. Accept that, and go on with what was decided.
- As soon as you know enough, answer the question in the language in which it was asked, and stop."""
NO_TOOLS = "You have no tools in this conversation."
BUILT_IN = f"You are {{{{ agent }}}}, an assistant of a team.\n\n{RULES}\n\n{{{{ instructions }}}}"


def system_prompt(agent: Agent, tools: tuple[ToolSpec, ...], of_run: Values) -> str:
    """The agent's template, else the built-in one. ``of_run``: what its run knows by question, notes, date and team."""
    template = agent.prompt.text if agent.prompt else BUILT_IN
    values: Values = {
        "agent": lambda: agent.name,
        "instructions": lambda: _instructions(agent, tools),
        "tools": lambda: "\n".join(map(_described, tools)) or NO_TOOLS,
        "tool_names": lambda: ", ".join(spec.name for spec in tools),
        **of_run,
    }
    return filled(template, values)


def named(agent: Agent) -> dict[str, str | int]:
    """The template and its version, for the record; the built-in one has no name."""
    prompt = agent.prompt
    return {"name": prompt.name, "version": prompt.version} if prompt else {"name": "", "version": VERSION}


def _described(spec: ToolSpec) -> str:
    return f"- {spec.name}: {' '.join(spec.description.split())}"


def _instructions(agent: Agent, tools: tuple[ToolSpec, ...]) -> str:
    said = agent.instructions.strip()
    return said if tools else f"{NO_TOOLS}\n\n{said}"
