"""Models in the admin: keys go in and never come out, and what cannot be called is refused with the field named."""

from datetime import timedelta

import pytest

from agentweb.registry import headers
from agentweb.registry.chat_models import today
from agentweb.registry.models import ChatModel, ModelPrice
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
    "connect_timeout_s": "5",
    "idle_timeout_s": "30",
    "total_timeout_s": "300",
    "streams": "on",
    "native_tools": "on",
    "protocol": "json_action",
    "thinking": "complex",
    "thinking_off": '{"enable_thinking": false}',
    "structured": "json_schema",
    "prices-TOTAL_FORMS": "0",
    "prices-INITIAL_FORMS": "0",
}


def add_model(site, **changes):
    return site.post(page("chatmodel_add"), MODEL | changes)


def test_a_model_is_stored_with_its_key_encrypted(site):
    assert add_model(site).status_code == 302
    row = ChatModel.objects.get(name="paid")
    assert (decrypt(row.encrypted_key), row.key_hint) == ("sk-1234567890abcd", "abcd")
    assert (row.headers, row.body, row.temperature) == ({"X-Team": "blue"}, {"top_p": 0.9}, 0.5)
    assert (row.protocol, row.structured) == ("json_action", "json_schema")
    assert (row.thinking, row.thinking_on, row.thinking_off) == ("complex", {}, {"enable_thinking": False})


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
    "moved",
    ["https://other.example/v1", "http://models.example/v1", "https://models.example:9/v1", "https://[models.example"],
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
        ("body", '{"model": "another"}'),
        ("body", '{"stream": false}'),
        ("temperature", "hot"),
        ("temperature", "-0.1"),
        ("temperature", "2.5"),
        ("temperature", "nan"),
        ("context_size", "0"),
        ("context_size", "-5"),
        ("headers", '{"Host": "elsewhere"}'),
        ("headers", '{"content-length": "5"}'),
        ("headers", '{"X-Team": "a", "x-team": "b"}'),
        ("headers", '{"X-Api-Key": "•••• abcd"}'),
        ("body", '{"api_key": "sk-1"}'),
        ("body", '{"Authorization": "Bearer x"}'),
        ("structured", "yaml"),
        ("connect_timeout_s", "0"),
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


SECRET_HEADERS = '{"X-Team": "blue", "api-key": "azure-0123456789ab", "X-Note": "Bearer xyz-0123456789"}'


def test_headers_that_may_be_secret_are_stored_encrypted_and_shown_by_their_ends(site):
    add_model(site, headers=SECRET_HEADERS)
    row = ChatModel.objects.get(name="paid")
    assert row.headers == {"X-Team": "blue"}
    assert headers.of(row)["api-key"] == "azure-0123456789ab"
    html = site.get(page("chatmodel_change", row.pk)).content.decode()
    assert "•••• 89ab" in html and "azure-0123456789ab" not in html and "xyz-0123456789" not in html


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ('{"api-key": "•••• 89ab"}', {"api-key": "azure-0123456789ab"}),
        ('{"api-key": "another-0123456789"}', {"api-key": "another-0123456789"}),
        ('{"X-Team": "red"}', {"X-Team": "red"}),
        ("", {}),
    ],
)
def test_a_hidden_header_stays_until_another_is_typed_or_it_is_taken_out(site, typed, stored):
    add_model(site, headers=SECRET_HEADERS)
    assert change_model(site, headers=typed).status_code == 302
    assert headers.of(ChatModel.objects.get(name="paid")) == stored


def test_a_hidden_header_does_not_move_to_another_server(site):
    add_model(site, headers=SECRET_HEADERS, key="")
    moved = {"base_url": "https://other.example/v1", "headers": '{"api-key": "•••• 89ab"}'}
    assert list(errors(change_model(site, **moved))) == ["headers"]
    assert change_model(site, base_url="https://other.example/v1", headers="").status_code == 302


def price(row: int, days: int, **values) -> dict[str, str]:
    """What a line of the table of prices posts. ``days``: from today."""
    day = (today() + timedelta(days=days)).isoformat()
    typed = {"valid_from": day, "input_price": "1.25", "cached_price": "0", "output_price": "10"} | values
    return {f"prices-{row}-{name}": value for name, value in typed.items()}


def with_prices(*rows: dict[str, str], stored: int = 0) -> dict[str, str]:
    lines = {name: value for row in rows for name, value in row.items()}
    return {"prices-TOTAL_FORMS": str(len(rows)), "prices-INITIAL_FORMS": str(stored)} | lines


def test_prices_are_given_from_a_day_on(site):
    assert add_model(site, **with_prices(price(0, 0), price(1, 31, output_price="8"))).status_code == 302
    rows = ModelPrice.objects.filter(model__name="paid")
    assert [(row.valid_from - today(), row.output_price) for row in rows] == [(timedelta(0), 10), (timedelta(31), 8)]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (price(0, -1), "valid_from"),
        (price(0, 0, valid_from="soon"), "valid_from"),
        (price(0, 0, input_price="-1"), "input_price"),
        (price(0, 0, cached_price="-0.000001"), "cached_price"),
        (price(0, 0, output_price="much"), "output_price"),
        (price(0, 0, output_price="NaN"), "output_price"),
    ],
)
def test_a_price_that_cannot_be_is_refused_with_its_field_named(site, wrong, field):
    response = add_model(site, **with_prices(wrong))
    assert list(response.context["inline_admin_formsets"][0].formset.errors[0]) == [field]
    assert not ChatModel.objects.filter(name="paid").exists()


def test_a_day_has_one_price(site):
    assert add_model(site, **with_prices(price(0, 2), price(1, 2))).status_code == 200


def test_what_counted_on_a_past_day_cannot_be_changed_or_taken_out(site):
    add_model(site)
    model = ChatModel.objects.get(name="paid")
    old = ModelPrice.objects.create(model=model, valid_from=today() - timedelta(days=3), output_price="7")
    row = {"id": str(old.pk), "model": str(model.pk), "DELETE": "on"}
    assert change_model(site, **with_prices(price(0, 5, **row), stored=1)).status_code == 302
    old.refresh_from_db()
    assert (old.valid_from, old.output_price) == (today() - timedelta(days=3), 7)
