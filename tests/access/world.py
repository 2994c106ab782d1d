"""One of everything in a conversation, and the addresses that lead to it."""

import re
from dataclasses import dataclass
from functools import cached_property

from agentweb.registry import answer_addresses
from agentweb.runs import grants, services, workspaces
from agentweb.runs.models import Approval, Conversation, Grant, Halt, Message, QueuedMessage, Run
from agentweb.runs.selectors import conversation_for
from tests.cast import Cast
from tests.runs.waiting_call import waiting_approvals

PATH = "notes.txt"
VISIBILITIES = ("private", "team")


@dataclass(frozen=True)
class World:
    """A run that waits for one approval, with a question, a queued message and a file."""

    conversation: Conversation
    run: Run
    approval: Approval
    question: Approval
    message: Message
    queued: QueuedMessage
    grant: Grant
    halt: Halt

    @cached_property
    def ids(self) -> dict[str, str]:
        """What stands for each name in an address."""
        return {
            "conversation": str(self.conversation.public_id),
            "run": str(self.run.public_id),
            "approval": str(self.approval.public_id),
            "call": str(self.approval.call.public_id),
            "message": str(self.message.public_id),
            "question": str(self.question.public_id),
            "grant": str(self.grant.public_id),
            "halt": str(self.halt.public_id),
            "queued": str(self.queued.public_id),
            "path": PATH,
            "token": answer_addresses.token_of(str(self.approval.call.public_id)),
            "tool": "write_file",
            "request": str(self.run.events.get(kind="ModelRequested").number),
        }


def make_world(cast: Cast, visibility: str) -> World:
    run = cast.builder_run(visibility)
    conversation = conversation_for(cast.owner, run.conversation.public_id)
    approval = waiting_approvals(cast, run)[0]
    services.send_message(user=cast.owner, conversation=conversation, text="later", delivery="follow_up")
    workspaces.of(conversation).write_bytes(PATH, b"hello")
    return World(
        conversation=conversation,
        run=run,
        approval=approval,
        question=Approval.objects.create(
            run=run, question="circles", facts={}, arguments={}, risk="medium", digest="digest", rule="rule"
        ),
        message=conversation.messages.order_by("pk").first(),
        queued=QueuedMessage.objects.get(run=run),
        grant=grants.give(user=cast.owner, approval=approval, wish=grants.Wish("conversation")),
        halt=Halt.objects.create(kind="tool", tool="no_such_tool", team=cast.team, reason="test", by=cast.admin),
    )


def address(route: str, world: World) -> str:
    """Where a route leads to in this world."""
    ids = world.ids
    return "/" + re.sub(r"<(\w+)>", lambda found: ids[found[1]], route)
