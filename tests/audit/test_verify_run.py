"""`manage.py verify_run` on records as they were written and on records that somebody touched."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agentweb.runs.models import Event, Run
from tests.cast import Cast
from tests.runs.waiting_call import waiting_approvals


def verify(*arguments: str) -> str:
    out = StringIO()
    try:
        call_command("verify_run", *arguments, stdout=out)
    except CommandError as error:
        return f"{out.getvalue()}FAILED: {error}"
    return out.getvalue()


@pytest.fixture
def run(cast: Cast) -> Run:
    """Seven events: started, claimed, turn, asked, answered, approval wanted, paused."""
    made = cast.builder_run()
    waiting_approvals(cast, made)
    assert made.events.count() == 7
    return made


def remove(*numbers: int):
    return lambda run: run.events.filter(number__in=numbers).delete()


def update(number: int, /, **values: object):
    return lambda run: run.events.filter(number=number).update(**values)


def cut_and_say_so(run: Run) -> None:
    run.events.filter(number__gt=5).delete()
    last = run.events.get(number=5)
    Run.objects.filter(pk=run.pk).update(last_event=5, head_hash=last.hash)


def add_at_the_end(run: Run) -> None:
    last = run.events.get(number=7)
    Event.objects.create(
        run=run, number=8, kind="RunFinished", at=last.at, payload="{}", payload_digest="0" * 64, hash="0" * 64
    )


TOUCHED = [
    (update(5, payload="{}"), "Event 5 (MessageFinished) was changed: its content"),
    (update(3, kind="TurnFinished"), "Event 3 (TurnFinished) was changed, or put in the place of another"),
    (update(2, at="2026-01-01T00:00:00Z"), "Event 2 (RunClaimed) was changed, or put in the place of another"),
    (update(7, number=9), "Event 7 was removed"),
    (remove(4), "Event 4 was removed"),
    (remove(6, 7), "Event 6 was removed"),
    (add_at_the_end, "Event 8 (RunFinished) was added"),
    (cut_and_say_so, "The signature at event 5 is not ours"),
    (lambda run: Run.objects.filter(pk=run.pk).update(head_signature="0" * 64), "The signature at event 7 is not ours"),
    (lambda run: Run.objects.filter(pk=run.pk).update(head_hash="0" * 64), "The last hash is not that of event 7"),
]


def test_a_record_as_it_was_written_is_whole(run):
    assert verify(str(run.public_id)) == "1 checked: the record is whole.\n"


@pytest.mark.parametrize(("touch", "said"), TOUCHED)
def test_a_touched_record_fails_and_names_the_first_event(run, touch, said):
    touch(run)
    answer = verify(str(run.public_id))
    assert f"{run.public_id}: {said}" in answer
    assert answer.endswith("FAILED: 1 of 1 records do not fit.")


def test_all_runs_are_checked_and_only_the_touched_ones_named(cast, run):
    others = [cast.run() for _ in range(3)]
    assert verify("--all") == "4 records checked.\n"
    remove(1)(others[1])
    answer = verify("--all")
    assert answer == f"{others[1].public_id}: Event 1 was removed.\nFAILED: 1 of 4 records do not fit."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name one run"),
        (("--all", "00000000-0000-0000-0000-000000000000"), "Name one run"),
        (("00000000-0000-0000-0000-000000000000",), "There is no run"),
        (("nonsense",), "invalid"),
    ],
)
@pytest.mark.django_db
def test_a_question_that_makes_no_sense_is_refused(arguments, said):
    assert said in verify(*arguments)
