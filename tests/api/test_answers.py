"""A program answers a call that waits, at the address that it was given: once, with no account, and with reasons."""

from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone

from agentweb.registry import answer_addresses
from agentweb.runs import transcripts
from agentweb.runs.models import Call, Conversation, Run
from tests.runs.lost_call import suspended_calls

WANTED = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ROME = '{"city": "Rome"}'


@pytest.fixture
def asked(cast):
    return suspended_calls(cast, cast.builder_run("team"), schema=WANTED)[0]


def post(path: str, body: str | bytes = ROME):
    answer = Client(enforce_csrf_checks=True).post(path, body, content_type="application/json")
    return answer.status_code, answer.json()


def at(call) -> str:
    return answer_addresses.address(str(call.public_id))


def test_the_run_goes_on_with_the_answer_of_a_program(cast, asked):
    status, said = post(at(asked))
    assert (status, said) == (202, {"call": str(asked.public_id), "status": "taken"})
    run = Run.objects.get()
    told = transcripts.load(run)[0].calls[str(asked.public_id)].answer
    assert (run.status, told.content, told.by) == ("queued", ROME, "a program")


def test_a_program_that_is_too_fast_is_told_to_try_again(asked):
    Call.objects.update(status="started")
    answer = Client().post(at(asked), ROME, content_type="application/json")
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    Call.objects.update(status="suspended")
    assert post(at(asked))[0] == 202


def test_an_address_counts_once(asked):
    post(at(asked))
    status, said = post(at(asked))
    assert status == 409 and said["detail"] == "a program was faster: Result given."


def test_text_is_taken_as_it_is_where_the_tool_has_said_no_form(cast):
    (call,) = suspended_calls(cast, cast.builder_run())
    assert post(at(call), "Rome, I think")[0] == 202


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ('{"city": 5}', 422, "Must be text"),
        ("Rome", 422, "JSON"),
        ("", 422, "empty"),
        (b"\xff", 400, "UTF-8"),
    ],
)
def test_what_does_not_fit_is_refused_and_can_be_put_right(asked, body, status, words):
    got, said = post(at(asked), body)
    assert got == status and words in str(said)
    assert post(at(asked))[0] == 202


def test_a_forged_address_and_one_of_another_purpose_are_refused(asked):
    other = signing.dumps(str(asked.public_id), salt="another purpose")
    for token in (at(asked).rpartition("/")[2][:-1] + "A", other, signing.dumps([1], salt=answer_addresses.SALT), "x"):
        status, said = post(f"/api/v1/answers/{token}")
        assert status == 403 and said["detail"] == "This site did not give out this address."


def test_an_address_expires(asked, time_machine):
    address = at(asked)
    time_machine.move_to(timezone.now() + timedelta(days=31))
    assert post(address)[1]["detail"] == "This address has expired."


def test_nothing_is_taken_for_a_run_that_is_over_or_a_conversation_that_is_gone(asked):
    Run.objects.update(cancel_requested_at=timezone.now())
    assert post(at(asked))[0] == 409
    Conversation.objects.update(deleted_at=timezone.now())
    assert post(at(asked))[0] == 404
