"""What is read with several statements is of one moment, whatever is written in between."""

import threading
from collections.abc import Callable
from uuid import uuid4

import pytest
from django.db import connection, transaction

from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage, ToolCall
from agentweb.engine.usage import Usage
from agentweb.runs import journal, selectors, timeline, waiting
from agentweb.runs.models import Approval, Call, Run
from agentweb.runs.moment import one_moment
from tests.cast import Cast, make_cast, make_worker

pytestmark = pytest.mark.django_db(transaction=True)
ARGUMENTS = {"path": "a.txt", "content": "hello"}


def asked(cast: Cast) -> tuple[Run, Call, Callable[[], object]]:
    """A call that does not wait yet, and what makes it wait for a decision."""
    run = cast.builder_run()
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    message, call = str(uuid4()), ToolCall(str(uuid4()), "write_file", ARGUMENTS, "{}")
    said = AssistantMessage(message, "", "", (call,), enums.Finish.TOOL_CALLS)
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    journal.append(holder, (events.MessageFinished(said, Usage()),))
    ask = events.ApprovalRequested(
        str(uuid4()), call.id, call.name, ARGUMENTS, enums.Risk.MEDIUM, "digest", "rule", requires_comment=False
    )
    return run, Call.objects.get(), lambda: journal.append(holder, (ask,))


def elsewhere(act: Callable[[], object]) -> None:
    """Do it in another connection, and wait for it."""

    def done() -> None:
        try:
            act()
        finally:
            connection.close()

    thread = threading.Thread(target=done)
    thread.start()
    thread.join()


def one_call(cast: Cast, run: Run, call: Call) -> list[Call]:
    return [selectors.call_for(cast.owner, call.public_id)]


def of_run(cast: Cast, run: Run, call: Call) -> list[Call]:
    return selectors.calls_of(run)


def whole(cast: Cast, run: Run, call: Call) -> list[Call]:
    return timeline.whole_run(selectors.run_for(cast.owner, run.public_id)).calls


def on_the_page(cast: Cast, run: Run, call: Call) -> list[Call]:
    (view,) = timeline.window(selectors.conversation_for(cast.owner, run.conversation.public_id)).views
    return view.calls


@pytest.mark.parametrize("read", [one_call, of_run, whole, on_the_page])
def test_a_call_and_what_was_asked_about_it_are_read_as_of_one_moment(read):
    """The call begins to wait behind the statement that reads the calls, before the one that reads the approvals."""
    cast = make_cast()
    run, call, wait = asked(cast)
    table, waits = f'FROM "{Call._meta.db_table}"', []

    def behind_the_calls(execute, sql, params, many, context):
        answer = execute(sql, params, many, context)
        if table in sql and not waits:
            waits.append(sql)
            elsewhere(wait)
        return answer

    with connection.execute_wrapper(behind_the_calls):
        (seen,) = read(cast, run, call)
    assert waits
    assert (seen.status, bool(seen.asked)) == (Call.Status.OPEN, False)
    (later,) = read(cast, run, call)
    assert (later.status, bool(later.asked)) == (Call.Status.WAITING, True)


def test_reading_waits_for_no_writer():
    cast = make_cast()
    run, call, wait = asked(cast)
    with transaction.atomic():
        wait()
        elsewhere(lambda: one_call(cast, run, call))
    assert waiting.inbox(cast.owner, 5)[0][0].status == Approval.Status.PENDING


def test_inside_a_transaction_its_own_changes_are_seen():
    cast = make_cast()
    with transaction.atomic():
        run, call, wait = asked(cast)
        wait()
        with one_moment():
            assert one_call(cast, run, call)[0].approval is not None
        assert Run.objects.filter(pk=run.pk).update(turns=5) == 1
