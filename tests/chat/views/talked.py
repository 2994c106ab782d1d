"""A conversation that went on for long, as rows."""

from agentweb.runs.models import Conversation, Message, Run
from tests.cast import Cast


def talked(cast: Cast, runs: int, *, answers: int = 1) -> Conversation:
    """So many finished runs; each is asked "question n!" and says so many times "answer n!"."""
    return lengthen(cast.run("question 0!"), runs, answers)


def lengthen(first: Run, runs: int, answers: int = 1) -> Conversation:
    """The same for the conversation that begins with that run."""
    same = {field: getattr(first, field) for field in ("conversation", "agent", "requested_by", "snapshot")}
    done = {"status": Run.Status.FINISHED, "outcome": Run.Outcome.ANSWERED, "turns": answers, "model_calls": answers}
    Run.objects.filter(pk=first.pk).update(**done)
    Run.objects.bulk_create(Run(**same, **done) for _ in range(1, runs))
    rows = list(first.conversation.runs.order_by("pk"))
    Message.objects.filter(run=first).delete()
    Message.objects.bulk_create(
        message for number, run in enumerate(rows) for message in _messages(run, number, answers)
    )
    return first.conversation


def _messages(run: Run, number: int, answers: int) -> list[Message]:
    place = {"conversation_id": run.conversation_id, "run": run}
    question = Message(**place, role="user", author_id=run.requested_by_id, text=f"question {number}!")
    said = (Message(**place, role="assistant", text=f"answer {number}!", turn=turn + 1) for turn in range(answers))
    return [question, *said]
