"""The test of a model in the admin, and the look for servers on this machine: nothing happens before a click."""

import logging
from urllib.parse import urlsplit

import pytest
from django.urls import reverse

from agentweb.registry import services, tryouts
from agentweb.registry.model_admin import free_name
from agentweb.registry.models import ChatModel
from tests.model_server import ModelServer, serving
from tests.registry.pages import page

KEY = "sk-canary-0123456789abcd"


def model_at(base_url: str, **values) -> ChatModel:
    model = ChatModel(name="paid", base_url=base_url, model_name="small", **values)
    services.give_key(model=model, key=KEY)
    model.save()
    return model


def test_the_page_says_what_will_happen_and_sends_nothing(site):
    with serving(ModelServer()) as server:
        html = site.get(page("chatmodel_test", model_at(server.base_url).pk)).content.decode()
    assert not server.paths
    assert "…abcd" in html and KEY not in html and "Test now" in html


def test_a_click_tests_the_model_and_a_yes_stores_what_was_found(site):
    with serving(ModelServer([{"id": "small", "context_length": 4096}], formats=("json_schema",), calls=1)) as server:
        model = model_at(server.base_url)
        response = site.post(page("chatmodel_test", model.pk))
    report = response.context["report"]
    assert [(change.label, change.before, change.after) for change in report.changes] == [
        ("Calls several tools at once", "yes", "no"),
        ("Structured output", "No promise", "JSON that fits a schema"),
        ("Context size, tokens", "128000", "4096"),
    ]
    model.refresh_from_db()
    assert (model.tested_at, model.structured) == (None, "")
    chosen = [change.name for change in report.changes]
    stored = site.post(page("chatmodel_found", model.pk), {"token": report.token, "take": chosen}, follow=True)
    assert "What the test found is stored." in stored.content.decode()
    model.refresh_from_db()
    assert (model.structured, model.parallel_tools, model.native_tools, model.context_size) == (
        "json_schema",
        False,
        True,
        4096,
    )
    assert model.tested_at is not None


def test_what_is_not_chosen_stays_as_it_was(site):
    with serving(ModelServer(refuses=("tools",), formats=("json_object",))) as server:
        model = model_at(server.base_url)
        report = site.post(page("chatmodel_test", model.pk)).context["report"]
    offered = {change.name: change.after for change in report.changes}
    assert (offered["native_tools"], offered["protocol"]) == ("no", "One JSON object")
    site.post(page("chatmodel_found", model.pk), {"token": report.token, "take": ["protocol", "name", "base_url"]})
    model.refresh_from_db()
    assert (model.protocol, model.native_tools, model.name) == ("json_action", True, "paid")


def test_a_yes_counts_only_for_the_model_that_was_tested_and_as_it_was(site):
    with serving(ModelServer()) as server:
        model = model_at(server.base_url)
        token = site.post(page("chatmodel_test", model.pk)).context["report"].token
    other = ChatModel.objects.create(name="other", base_url=model.base_url, model_name="small")
    ChatModel.objects.filter(pk=model.pk).update(model_name="large")
    for pk, said in ((model.pk, token), (other.pk, token), (model.pk, token + "x"), (model.pk, "")):
        response = site.post(page("chatmodel_found", pk), {"token": said}, follow=True)
        assert "Nothing was stored" in response.content.decode()
    assert not ChatModel.objects.exclude(tested_at=None).exists()


LIST = [{"id": "large"}, {"id": "tiny"}]


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (ModelServer(status=401, answer=f'{{"error": "bad key {KEY}"}}'), "refused the access (HTTP 401)"),
        (ModelServer(LIST, status=404, answer='{"error": "no"}'), "The server does not offer the model small."),
        (ModelServer(answer="<html>a portal</html>"), "a web page instead of an answer"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_what_is_wrong_is_said_in_words_and_nothing_can_be_stored(site, server, words, language):
    with serving(server):
        model = model_at(server.base_url)
        site.cookies["django_language"] = language
        response = site.post(page("chatmodel_test", model.pk))
    html = response.content.decode()
    assert (words in html) or language != "en"
    assert response.context["report"].token == "" and KEY not in html
    assert ('<code dir="ltr">tiny</code>' in html) == (server.models == LIST)


def test_a_test_whose_key_cannot_be_read_says_so(site):
    model = model_at("http://127.0.0.1:9/v1")
    ChatModel.objects.filter(pk=model.pk).update(encrypted_key="nonsense")
    assert "cannot be read with this SECRET_KEY" in site.post(page("chatmodel_test", model.pk)).content.decode()


def test_no_more_tests_run_at_once_than_leave_the_site_alive(site):
    held = [tryouts.PLACES.acquire(blocking=False) for _ in range(tryouts.AT_ONCE)]
    try:
        words = site.post(page("chatmodel_test", model_at("http://127.0.0.1:9/v1").pk)).content.decode()
    finally:
        tryouts.PLACES.release(len(held))
    assert "Other tests are under way" in words


def test_the_scripted_model_is_not_tested(site):
    scripted = ChatModel.objects.get(name="scripted")
    assert "needs no test" in site.post(page("chatmodel_test", scripted.pk)).content.decode()


@pytest.mark.parametrize("name", ["chatmodel_test", "chatmodel_found"])
def test_a_test_takes_a_token_against_forgery(cast, client, name):
    client.handler.enforce_csrf_checks = True
    client.force_login(cast.admin)
    assert client.post(page(name, model_at("http://127.0.0.1:9/v1").pk)).status_code == 403


def test_who_is_no_admin_neither_tests_nor_looks(cast, client):
    client.force_login(cast.owner)
    with serving(ModelServer()) as server:
        pk = model_at(server.base_url).pk
        for address in (
            page("chatmodel_test", pk),
            page("chatmodel_found", pk),
            reverse("admin:registry_chatmodel_look"),
        ):
            assert client.post(address).status_code == 302
    assert not server.paths


def test_a_look_at_this_machine_offers_models_that_are_used_only_after_they_are_saved(site, settings):
    with serving(ModelServer([{"id": "llama3.2:3b", "max_model_len": 4096}, {"id": "mine"}])) as server:
        settings.LOCAL_MODEL_SERVERS = [("Ollama", urlsplit(server.base_url).port)]
        ChatModel.objects.create(name="mine", base_url=server.base_url, model_name="mine")
        assert "No key is sent" in site.get(page("chatmodel_look")).content.decode() and not server.paths
        response = site.post(page("chatmodel_look"))
    [(found, [offer, known])] = response.context["servers"]
    assert (found.kind, offer.name, offer.known, known.known) == ("Ollama", "llama3.2:3b", False, True)
    assert not ChatModel.objects.filter(model_name="llama3.2:3b").exists() and set(server.keys) == {""}
    form = site.get(offer.add).context["adminform"].form
    typed = [form[name].value() for name in ("name", "base_url", "model_name", "context_size")]
    assert typed == ["llama3-2-3b", server.base_url, "llama3.2:3b", "4096"]


@pytest.mark.parametrize(
    ("model_name", "name"),
    [
        ("meta-llama/Llama-3.1-8B", "llama-3-1-8b"),
        ("paid", "paid-2"),
        ("default", "default-2"),
        ("scripted", "scripted-2"),
        ("模型", "local"),
    ],
)
def test_a_name_is_proposed_that_is_free_and_makes_a_model_no_agents_default(cast, model_name, name):
    model_at("http://127.0.0.1:9/v1")
    assert free_name(model_name) == name


def test_no_key_is_in_the_log_of_a_test(site, caplog):
    caplog.set_level(logging.DEBUG)
    with serving(ModelServer(status=401, answer=f'{{"error": "bad key {KEY}"}}')) as server:
        site.post(page("chatmodel_test", model_at(server.base_url).pk))
    assert KEY not in caplog.text
