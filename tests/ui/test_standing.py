"""The start page of the admin: what waits, what is wrong, and for whom."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agentweb.engine.enums import ErrorKind, Outcome, Reason
from agentweb.engine.events import ModelFault, RunFinished
from agentweb.engine.usage import Usage
from agentweb.registry import catalog
from agentweb.registry.mcp_servers import failed
from agentweb.registry.models import Agent, ChatModel, Tool, ToolSource
from agentweb.runs import journal
from agentweb.runs.models import AccessLog, Approval, Run, WorkerProcess
from tests.cast import make_cast, make_worker
from tests.chat.views.person import text_of
from tests.inline import inline_code
from tests.registry.outside import released
from tests.runs.waiting_call import waiting_approvals

pytestmark = pytest.mark.django_db
SAID = "Incorrect words of the provider"


@pytest.fixture
def cast(settings):
    settings.REDIS_URL, settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, settings.OPENAI_MODEL = "", "", "", ""
    return make_cast()


@pytest.fixture
def site(cast, client):
    client.force_login(cast.admin)
    return client


def start(client, language: str = "en"):
    return client.get(reverse("admin:index"), headers={"Accept-Language": language})


def lines(response, part: str) -> list[str]:
    """The sentences of one part of what the page tells: waits, wrong or offers."""
    return [note.text for note in getattr(response.context["site"], part)]


def long_ago(**amount: int):
    return timezone.now() - timedelta(**amount)


def failed_run(cast) -> Run:
    run = cast.run()
    claimed = journal.claim(str(run.public_id), make_worker("failing"))
    fault = ModelFault(ErrorKind.AUTH, SAID)
    journal.append(claimed, (RunFinished(Outcome.FAILED, Reason.MODEL_ERROR, SAID, Usage(), fault),))
    return run


def test_a_site_in_order_has_nothing_to_say(site, cast):
    make_worker("worker-1")
    page = start(site)
    assert lines(page, "waits") == [] and lines(page, "offers") == []
    [without_redis, check] = page.context["site"].wrong  # the one thing that is missing in this test
    assert without_redis.text.startswith("Redis does not answer") and "REDIS_URL" in check.text
    assert "Nothing waits and nothing is at work." in text_of(page)


def test_what_waits_is_counted_and_leads_to_lists_of_just_that(site, cast):
    waiting_approvals(cast, cast.run(), 2)
    Approval.objects.update(created_at=long_ago(hours=3))
    cast.run()
    waits = {note.text: note.url for note in start(site).context["site"].waits}
    assert [text.replace("\xa0", " ") for text in waits] == [
        "2 approvals wait, the oldest asked for 3 hours ago.",
        "1 run is queued.",
        "1 run waits.",
    ]
    for count, url in zip((2, 1, 1), waits.values(), strict=True):
        assert site.get(url).context["cl"].result_count == count


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"status": "queued", "queued_at": long_ago(minutes=3)}, "1 run has been queued for more than a minute."),
        ({"status": "running", "owner": None}, "1 run has lost its worker."),
        ({"status": "queued", "attempts": 3}, "1 run was begun several times and gets nowhere."),
    ],
)
def test_runs_that_do_not_get_on_are_named_and_found(site, cast, changes, sentence):
    cast.run()
    stuck = cast.run()
    Run.objects.filter(pk=stuck.pk).update(**changes)
    [note] = [note for note in start(site).context["site"].wrong if note.text == sentence]
    assert [row.pk for row in site.get(note.url).context["cl"].result_list] == [stuck.pk]


def test_a_run_whose_worker_is_silent_is_lost_and_one_whose_worker_beats_is_not(site, cast):
    worker = make_worker("worker-1")
    Run.objects.filter(pk=cast.run().pk).update(status="running", owner=worker)
    assert "1 run has lost its worker." not in lines(start(site), "wrong")
    WorkerProcess.objects.update(beat_at=long_ago(hours=1))
    wrong = lines(start(site), "wrong")
    assert "1 run has lost its worker." in wrong
    assert "No worker is alive: what is asked for waits until one starts." in wrong
    assert any(text.startswith("The worker worker-1 was last heard of 1\xa0hour ago") for text in wrong)


def test_each_worker_is_listed_with_its_last_heartbeat_and_its_runs(site, cast):
    worker = make_worker("worker-1")
    Run.objects.filter(pk=cast.run().pk).update(status="running", owner=worker)
    make_worker("worker-2")
    found = {each.name: (each.alive, each.held) for each in start(site).context["site"].workers}
    assert found == {"worker-1": (True, 1), "worker-2": (True, 0)}


def test_a_model_that_cannot_be_used_says_why_and_who_wants_it(site, cast):
    address = "http://127.0.0.1:9/v1"
    broken = ChatModel.objects.create(
        name="lost-key", base_url=address, model_name="m", encrypted_key="of another site"
    )
    nameless = ChatModel.objects.create(name="nameless", base_url="ftp://x", model_name="")
    Agent.objects.create(name="One", model=broken)
    notes = {note.text: note for note in start(site).context["site"].wrong}
    lost = notes["The model lost-key cannot be used."]
    assert "SECRET_KEY" in lost.more and lost.more.endswith("1 agent is given it.")
    bad = notes["The model nameless cannot be used."]
    assert "Base URL: Enter an address such as" in bad.more
    assert bad.url == reverse("admin:registry_chatmodel_change", args=[nameless.pk])


def test_tools_that_agents_are_given_and_cannot_have_are_named(site, cast):
    Tool.objects.create(name="gone", label="Gone", description="…")
    Tool.objects.filter(name="write_file").update(enabled=False)
    notes = {note.text: note.more for note in start(site).context["site"].wrong}
    assert "no such tool in the code" in notes["The tool gone cannot be used."]
    assert notes["The tool write_file cannot be used."] == "It is switched off. 1 agent is given it."


def test_a_server_that_fails_is_named_when_agents_are_given_its_tools(site, cast):
    (tool,) = released(cast.agent)
    failed(tool.source, "A call got no answer in 60 s.")
    ToolSource.objects.filter(pk=tool.source.pk).update(kind="mcp_http")
    notes = {note.text: note for note in start(site).context["site"].wrong}
    note = notes["The MCP server Office does not answer as it should."]
    assert note.more == "A call got no answer in 60 s. 1 agent is given it."
    assert site.get(note.url).status_code == 200
    tool.agents.clear()
    assert "The MCP server Office does not answer as it should." not in lines(start(site), "wrong")


def test_a_module_of_tools_that_is_not_there_breaks_no_page(site, cast, settings):
    settings.TOOLBOX_MODULES = ["no.such.module"]
    catalog.tools.cache_clear()
    try:
        assert any("no.such.module" in text for text in lines(start(site), "wrong"))
        assert site.get(reverse("admin:registry_tool_changelist")).status_code == 200
    finally:
        catalog.tools.cache_clear()


def test_a_key_that_stands_alone_in_the_environment_is_offered(site, cast, settings):
    settings.OPENAI_API_KEY = "sk-alone-0123456789"
    page = start(site)
    [offer] = page.context["site"].offers
    assert "OPENAI_API_KEY is set but OPENAI_MODEL is not" in offer.text
    assert site.get(offer.url).status_code == 200
    assert "sk-alone" not in page.content.decode()


def test_failed_runs_say_who_and_why_in_words_of_ours_and_are_no_look(site, cast):
    run = failed_run(cast)
    page = start(site)
    [failure] = page.context["site"].failures
    assert (failure.agent, failure.person) == ("Assistant", "owner")
    assert failure.why.startswith("The model could not answer.")
    assert failure.url == reverse("admin:runs_run_change", args=[run.pk])
    assert SAID not in page.content.decode() and not AccessLog.objects.exists()


def test_more_of_everything_takes_no_more_queries(site, cast):
    def more(count: int) -> None:
        for _ in range(count):
            waiting_approvals(cast, cast.run(), 1)
            failed_run(cast)
            name = f"model-{ChatModel.objects.count()}"
            ChatModel.objects.create(name=name, base_url="http://127.0.0.1:9/v1", model_name="m")
            Tool.objects.create(name=name, label=name, description=name)

    more(1)
    start(site)
    with CaptureQueriesContext(connection) as few:
        start(site)
    more(4)
    with CaptureQueriesContext(connection) as many:
        start(site)
    assert len(many) == len(few) <= 14


def test_who_may_look_at_nothing_reads_nothing_of_it(cast, client):
    failed_run(cast)
    cast.member.is_staff = True
    cast.member.save()
    client.force_login(cast.member)
    site = start(client).context["site"]
    assert (site.waits, site.wrong, site.offers, site.workers, site.failures) == ([], [], [], None, None)


def test_who_may_look_at_tools_alone_reads_of_tools_alone(cast, client):
    Tool.objects.filter(name="write_file").update(enabled=False)
    cast.run()
    cast.member.is_staff = True
    cast.member.save()
    cast.member.user_permissions.add(Permission.objects.get(codename="view_tool"))
    client.force_login(cast.member)
    page = start(client)
    assert lines(page, "wrong") == ["The tool write_file cannot be used."] and lines(page, "waits") == []


@pytest.mark.parametrize(("language", "words"), [("en", "What is wrong"), ("zh-hans", "存在的问题")])
def test_the_page_has_no_code_in_it_and_speaks_both_languages(site, cast, language, words):
    failed_run(cast)
    page = start(site, language)
    assert words in text_of(page)
    assert inline_code(page.content.decode()) == []
    if language != "en":
        notes = page.context["site"].wrong
        assert not [note for note in notes if note.text.isascii() or (note.more and note.more.isascii())]
