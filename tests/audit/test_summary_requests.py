"""The exact request for each summary of older messages, and of each turn after one, made again from the record."""

import json

from agentweb.audit.requests import rebuild
from agentweb.registry.models import Agent, Budget, ChatModel
from agentweb.runs import decisions
from agentweb.runs.models import Run
from agentweb.runs.selectors import approvals_for
from tests.audit.test_requests import advance, say
from tests.chat.views.person import browser, text_of


def numbers(run: Run, kind: str) -> list[int]:
    return list(run.events.filter(kind=kind).order_by("number").values_list("number", flat=True))


def test_requests_for_summaries_and_after_them_match_the_record(worked, process):
    Agent.objects.update(folding="summary", whole_turns=1, fold_every=1)
    first = advance(process, worked.run("What is the date today?", "team"))
    second = say(process, worked.member, first, "And what time is it now?")
    asked = numbers(second, "SummaryRequested")
    rebuilt = [rebuild(second, number) for number in (*asked, *numbers(second, "ModelRequested"))]
    assert len(asked) >= 2 and all(each.matches for each in rebuilt)
    assert "tools" not in rebuilt[0].body
    assert "What is the date today?" not in str(rebuilt[0].body), "the first question stays whole"
    assert "Agent called current_time" in str(rebuilt[0].body)
    assert "Summary of an older part" in str(rebuilt[1].body), "the next summary takes in the one before"
    page = browser(worked.reviewer).get(f"/audit/runs/{second.public_id}/requests/{asked[0]}")
    assert "Matches the record." in text_of(page)


def test_requests_to_the_cheaper_model_that_people_chose_match_too(worked, process):
    Agent.objects.update(cheaper_model=ChatModel.objects.create(name="small", kind="scripted"))
    Budget.objects.create(name="b", limit=5_000, soft_percent=1, period="run", deciders="chats")
    run = advance(process, worked.run("What is the date today?"))
    (question,) = approvals_for(worked.owner, status="pending", run=run)
    question.may_decide = True
    wanted = {"amount": 0, "cheaper": True}
    decisions.decide(user=worked.owner, approval=question, decision="modify", digest=question.digest, arguments=wanted)
    run = advance(process, run)
    first, second = (rebuild(run, number) for number in numbers(run, "ModelRequested"))
    assert (run.outcome, first.matches, second.matches) == (Run.Outcome.ANSWERED, True, True)
    assert (first.asked.model, second.asked.model) == (worked.agent.model or "scripted", "small")
    snapshot = json.loads(run.snapshot.data)
    snapshot["cheaper"] |= {"kind": "openai", "base_url": "http://127.0.0.1:9/v1", "model_name": "another"}
    run.snapshot.data = json.dumps(snapshot)
    first, second = (rebuild(run, number) for number in numbers(run, "ModelRequested"))
    assert (first.matches, second.matches, second.body["model"]) == (True, False, "another")
