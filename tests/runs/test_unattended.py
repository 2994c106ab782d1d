"""Runs that nobody attends: what would be asked is refused, with the reason, and everything else is as ever."""

import pytest

from agentweb.engine.ports import Allow, Ask, Deny
from agentweb.runs import services
from agentweb.runs.errors import Invalid
from agentweb.runs.models import Run
from agentweb.runs.selectors import conversation_for
from tests.runs.judged_run import claimed_verdict


def begin(cast, conversation, **more) -> Run:
    return services.send_message(user=cast.owner, conversation=conversation, text="Write a file", **more).run


@pytest.mark.parametrize(
    ("attended", "kinds"), [(True, [Allow, Ask, Ask]), (False, [Allow, Deny, Deny])], ids=["attended", "unattended"]
)
def test_without_anybody_there_a_question_is_a_refusal(cast, attended, kinds):
    run = begin(cast, cast.conversation(agent=cast.builder), attended=attended)
    names = ("read_file", "write_file", "delete_file")
    assert [type(claimed_verdict(run, {}, name)[1]) for name in names] == kinds


def test_the_model_is_told_why(cast):
    run = begin(cast, cast.conversation(agent=cast.builder), attended=False)
    refused = claimed_verdict(run)[1]
    assert refused.reason == "a person would have to decide, and nobody attends this run"


def test_what_was_found_in_text_runs_only_where_a_person_sees_it(cast):
    run = begin(cast, cast.conversation(agent=cast.builder), attended=False)
    assert isinstance(claimed_verdict(run, {}, "read_file", recovered=True)[1], Deny)


def test_a_run_stays_as_it_was_started_and_the_next_one_is_attended(cast):
    conversation = cast.conversation(agent=cast.builder)
    run = begin(cast, conversation, attended=False)
    begin(cast, conversation)  # steering
    assert not Run.objects.get(pk=run.pk).attended
    assert '"attended":false' in run.events.get(kind="RunStarted").payload
    Run.objects.filter(pk=run.pk).update(status="finished", outcome="answered")
    assert begin(cast, conversation_for(cast.owner, conversation.public_id)).attended


def test_the_same_key_for_the_other_way_of_starting_is_another_request(cast):
    conversation = cast.conversation(agent=cast.builder)
    begin(cast, conversation, key="k", attended=False)
    with pytest.raises(Invalid):
        begin(cast, conversation, key="k")
