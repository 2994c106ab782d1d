"""A run whose model fails for good goes on with the agent's fallback: its own address, key, prices, and record."""

from agentweb.audit.requests import rebuild
from agentweb.registry.models import Agent, ChatModel, ModelPrice
from agentweb.registry.services import give_key
from agentweb.runs.models import Run
from tests.audit.test_requests import advance
from tests.audit.test_summary_requests import numbers
from tests.chat.views.person import browser, text_of
from tests.model_server import ModelServer, serving


def model_at(server: ModelServer, name: str, price: int) -> ChatModel:
    model = ChatModel(name=name, base_url=server.base_url, model_name=name)
    give_key(model=model, key=f"sk-key-of-{name}")
    model.save()
    ModelPrice.objects.create(model=model, output_price=price)
    return model


def test_the_fallback_answers_and_all_of_it_is_on_record(worked, process):
    dead = ModelServer(status=401, answer='{"error": {"message": "this key has expired"}}')
    with serving(dead), serving(ModelServer()) as spare:
        Agent.objects.update(model=model_at(dead, "main", 1), fallback_model=model_at(spare, "spare", 500_000))
        run = advance(process, worked.run("Are you there?", "team"))
    assert (run.outcome, run.model_calls, run.cost) == (Run.Outcome.ANSWERED, 2, 1)
    assert (dead.keys[-1], spare.keys[-1]) == ("Bearer sk-key-of-main", "Bearer sk-key-of-spare")
    asked = [rebuild(run, number) for number in numbers(run, "ModelRequested")]
    assert [(each.asked.model, each.matches) for each in asked] == [("main", True), ("spare", True)]
    audit = text_of(browser(worked.reviewer).get(f"/audit/runs/{run.public_id}/"))
    assert "main has failed for good, so spare is asked for the rest of the run" in audit
    page = text_of(browser(worked.member).get(f"/c/{run.conversation.public_id}/"))
    assert "this key has expired The fallback model spare was asked instead." in page
