"""Models in the admin: keys go in and never come out, and what cannot be called is refused with the field named."""

import pytest

from agentweb.registry.models import ChatModel
from agentweb.registry.secrets import decrypt
from tests.registry.pages import errors, page

MODEL = {
    "name": "paid",
    "kind": "openai",
    "base_url": "https://models.example/v1",
    "model_name": "big",
    "key": "sk-1234567890abcd",
    "headers": '{"X-Team": "blue"}',
    "body": '{"top_p": 0.9}',
    "temperature": "0.5",
    "context_size": "64000",
    "input_price": "1.25",
    "cached_price": "0",
    "output_price": "10",
    "idle_timeout_s": "30",
    "total_timeout_s": "300",
}


def add_model(site, **changes):
    return site.post(page("chatmodel_add"), MODEL | changes)


def test_a_model_is_stored_with_its_key_encrypted(site):
    assert add_model(site).status_code == 302
    row = ChatModel.objects.get(name="paid")
    assert (decrypt(row.encrypted_key), row.key_hint) == ("sk-1234567890abcd", "abcd")
    assert (row.headers, row.body, row.temperature) == ({"X-Team": "blue"}, {"top_p": 0.9}, 0.5)


def test_the_key_is_never_shown_again_but_for_its_end(site):
    add_model(site)
    row = ChatModel.objects.get(name="paid")
    for address in (page("chatmodel_change", row.pk), page("chatmodel_changelist"), page("chatmodel_history", row.pk)):
        html = site.get(address).content.decode()
        assert "sk-1234567890abcd" not in html
        assert row.encrypted_key not in html
    assert "…abcd" in site.get(page("chatmodel_change", row.pk)).content.decode()


def test_a_key_that_was_refused_with_its_form_is_not_shown_either(site):
    response = add_model(site, temperature="hot")
    assert "temperature" in errors(response)
    assert "sk-1234567890abcd" not in response.content.decode()


def change_model(site, **changes):
    row = ChatModel.objects.get(name="paid")
    return site.post(page("chatmodel_change", row.pk), MODEL | {"key": ""} | changes)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"model_name": "bigger"}, "sk-1234567890abcd"),
        ({"key": "sk-another-key-wxyz"}, "sk-another-key-wxyz"),
        ({"forget_key": "on"}, ""),
        ({"base_url": "https://models.example/v2"}, "sk-1234567890abcd"),
        ({"base_url": "https://other.example/v1", "key": "sk-another-key-wxyz"}, "sk-another-key-wxyz"),
        ({"base_url": "https://other.example/v1", "forget_key": "on"}, ""),
    ],
)
def test_the_key_stays_until_another_is_entered_or_it_is_forgotten(site, changes, key):
    add_model(site)
    assert change_model(site, **changes).status_code == 302
    assert decrypt(ChatModel.objects.get(name="paid").encrypted_key) == key


@pytest.mark.parametrize(
    "moved", ["https://other.example/v1", "http://models.example/v1", "https://models.example:9/v1"]
)
def test_a_kept_key_does_not_move_to_another_server(site, moved):
    add_model(site)
    assert "key" in errors(change_model(site, base_url=moved))
    assert ChatModel.objects.get(name="paid").base_url == "https://models.example/v1"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "two words"),
        ("name", "scripted"),
        ("base_url", ""),
        ("base_url", "models.example/v1"),
        ("base_url", "ftp://models.example/v1"),
        ("base_url", "https://me:secret@models.example/v1"),
        ("base_url", "https://models.example/v1?key=secret"),
        ("base_url", "https://[models.example/v1"),
        ("base_url", "https://models.example:99999/v1"),
        ("model_name", ""),
        ("model_name", "   "),
        ("key", "two words"),
        ("key", "ключ"),
        ("forget_key", "on"),
        ("headers", "X-Team: blue"),
        ("headers", '["X-Team"]'),
        ("headers", '{"X-Team": 5}'),
        ("headers", '{"X Team": "blue"}'),
        ("headers", '{"X-Team": "blue\\r\\nX-Evil: yes"}'),
        ("headers", '{"X-Team": "\\u0000"}'),
        ("headers", '{"X-Team": "\\ud800"}'),
        ("body", "{"),
        ("body", "5"),
        ("body", '{"top_p": NaN}'),
        ("body", '{"top_p": 1e999}'),
        ("body", '{"stop": "\\u0000"}'),
        ("body", "[" * 5000),
        ("body", '{"messages": []}'),
        ("body", '{"stream": false}'),
        ("temperature", "hot"),
        ("temperature", "-0.1"),
        ("temperature", "2.5"),
        ("temperature", "nan"),
        ("context_size", "0"),
        ("context_size", "-5"),
        ("input_price", "-1"),
        ("cached_price", "-0.000001"),
        ("output_price", "much"),
        ("output_price", "NaN"),
        ("idle_timeout_s", "0"),
        ("total_timeout_s", "1000000"),
    ],
)
def test_what_cannot_work_is_refused_with_the_field_named(site, field, value):
    response = add_model(site, **{field: value})
    assert response.status_code == 200
    assert list(errors(response)) == [field]
    assert not ChatModel.objects.filter(name="paid").exists()


@pytest.mark.parametrize(
    "address", ["http://localhost:11434/v1", "http://ollama:11434/v1", "http://[::1]:8080", "http://10.0.0.5"]
)
def test_endpoints_inside_a_network_are_fine(site, address):
    assert add_model(site, base_url=address).status_code == 302


def test_the_scripted_model_needs_no_endpoint(site):
    response = add_model(site, kind="scripted", base_url="", model_name="", key="", headers="", body="", temperature="")
    assert response.status_code == 302
