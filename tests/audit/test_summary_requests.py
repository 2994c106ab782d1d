"""The exact request for each summary of older messages, and of each turn after one, made again from the record."""

from agentweb.audit.requests import rebuild
from agentweb.registry.models import Agent
from agentweb.runs.models import Run
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
