"""A conversation to take away: as Markdown to be read, and as JSON for programs. What was said, and what tools did."""

import re
from datetime import datetime
from typing import Any

from django.db.models import Prefetch
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.runs.models import Call, Conversation, Message
from agentweb.runs.moment import as_of_one_moment
from agentweb.schema.json_text import pretty

SPOKEN = (Message.Role.USER, Message.Role.ASSISTANT)
NAME_LENGTH = 60


@as_of_one_moment
def spoken(conversation: Conversation) -> list[Message]:
    """The finished messages of people and of the agent, oldest first, each with its calls; two queries."""
    rows = conversation.messages.filter(status=Message.Status.FINISHED, role__in=SPOKEN).select_related("author")
    return list(rows.prefetch_related(Prefetch("calls", Call.objects.order_by("position"))))


def file_name(conversation: Conversation, ending: str) -> str:
    """The title as the name of a file, in its own script."""
    plain = re.sub(r"[^\w\- ]+", " ", str(conversation)).split()
    return f"{' '.join(plain)[:NAME_LENGTH].strip() or 'conversation'}.{ending}"


def as_json(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": str(conversation.public_id),
        "title": conversation.title,
        "agent": conversation.agent.name,
        "team": conversation.team.name,
        "created_at": conversation.created_at.isoformat(),
        "exported_at": timezone.now().isoformat(),
        "messages": [_message(row) for row in spoken(conversation)],
    }


def _message(row: Message) -> dict[str, Any]:
    calls = [
        {
            "id": str(call.public_id),
            "name": call.name,
            "arguments": call.arguments,
            "status": str(call.status),
            "result": _result(call),
        }
        for call in row.calls.all()
    ]
    said = {
        "id": str(row.public_id),
        "role": str(row.role),
        "author": row.author.username if row.author else None,
        "created_at": row.created_at.isoformat(),
        "text": row.text,
    }
    return said | ({"thinking": row.thinking, "tool_calls": calls} if row.role == Message.Role.ASSISTANT else {})


def as_markdown(conversation: Conversation) -> str:
    head = (
        f"# {_one_line(str(conversation))}\n\n{_one_line(conversation.agent.name)}, {_time(conversation.created_at)}\n"
    )
    return "\n".join([head, *(part for row in spoken(conversation) for part in _parts(row, conversation))])


def _parts(row: Message, conversation: Conversation) -> list[str]:
    calls = list(row.calls.all())
    if not row.text.strip() and not calls:
        return []
    who = row.author.display_name if row.author else conversation.agent.name
    said = [f"## {_one_line(who)}, {_time(row.created_at)}\n"]
    if row.text.strip():
        said.append(f"{row.text.strip()}\n")
    return said + [_called(call) for call in calls]


def _called(call: Call) -> str:
    lines = [f"**{_('Tool')}: {_one_line(call.name)}** ({call.get_status_display()})\n"]
    lines.append(fenced(pretty(call.arguments) or call.raw if call.arguments is not None else call.raw, "json"))
    if result := _result(call):
        lines += [f"{_('Result')}:\n", fenced(result)]
    return "\n".join(lines)


def _result(call: Call) -> str | None:
    return call.result_full or call.result


def fenced(text: str, language: str = "") -> str:
    """A block of code that nothing in the text can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
