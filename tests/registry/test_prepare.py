"""A new site gets all that it needs, and a used one keeps what people have set."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agentweb.registry import catalog, demo
from agentweb.registry.models import Agent, ChatModel, Policy, PolicyRule, Tool
from agentweb.registry.secrets import decrypt
from agentweb.teams.models import Membership, Team, User

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def a_new_site(empty_site, settings):
    settings.OPENAI_BASE_URL = settings.OPENAI_API_KEY = settings.OPENAI_MODEL = ""


def test_an_empty_site_gets_a_team_whose_passwords_work():
    accounts = demo.prepare()
    assert [(account.username, account.role) for account in accounts] == [
        ("admin", "admin"),
        ("ann", "member"),
        ("ben", "member"),
        ("rita", "reviewer"),
    ]
    for account in accounts:
        user = User.objects.get(username=account.username)
        assert user.check_password(account.password)
        assert Membership.objects.get(user=user).role == account.role
        assert user.is_superuser == (account.username == "admin")
    assert len({account.password for account in accounts}) == 4


def test_it_gets_tools_models_a_policy_and_agents():
    demo.prepare()
    assert set(Tool.objects.values_list("name", flat=True)) == set(catalog.tools())
    assert ChatModel.objects.get().kind == ChatModel.Kind.SCRIPTED
    rules = PolicyRule.objects.values_list("risk", "verdict", "requires_comment")
    assert list(rules) == [("low", "allow", False), ("medium", "ask", False), ("high", "ask", True)]
    assistant, builder = Agent.objects.get(name="Assistant"), Agent.objects.get(name="Builder")
    assert not assistant.tools.filter(name="write_file").exists()
    assert builder.tools.filter(name="write_file").exists()
    assert not Tool.objects.filter(name__in=("write_file", "edit_file", "delete_file"), risk="low").exists()


def everything() -> list:
    rows = [User, Team, Membership, Tool, ChatModel, Policy, PolicyRule, Agent]
    return [sorted(model.objects.values_list(), key=str) for model in rows]


def test_doing_it_again_changes_nothing():
    demo.prepare()
    before = everything()
    assert demo.prepare() == []
    assert everything() == before


def test_what_an_admin_changed_stays():
    demo.prepare()
    Tool.objects.filter(name="weather").update(risk="high", enabled=False, timeout_s=5)
    Agent.objects.filter(name="Assistant").update(instructions="Answer in verse.", enabled=False)
    Agent.objects.filter(name="Builder").delete()
    PolicyRule.objects.filter(risk="low").update(verdict="deny")
    ChatModel.objects.filter(name="scripted").update(context_size=9_000)
    before = everything()
    demo.prepare()
    assert everything() == before


def test_a_changed_description_in_the_code_reaches_the_row():
    demo.prepare()
    Tool.objects.filter(name="weather").update(description="what it said before", risk="high")
    demo.prepare()
    row = Tool.objects.get(name="weather")
    assert row.description == catalog.tools()["weather"].spec.description
    assert row.risk == "high"


def test_a_site_with_people_gets_no_demo_people():
    User.objects.create_user("someone")
    assert demo.prepare() == []
    assert User.objects.count() == 1
    assert not Team.objects.exists()


def name_endpoint(settings, **values):
    for name in ("BASE_URL", "API_KEY", "MODEL"):
        setattr(settings, f"OPENAI_{name}", values.get(name.lower(), ""))


def test_an_endpoint_in_the_environment_becomes_the_default_model(settings):
    name_endpoint(settings, base_url="http://127.0.0.1:9/v1", api_key="sk-1234567890abcd", model="small")
    demo.prepare()
    row = ChatModel.objects.get(name="default")
    assert (row.kind, row.base_url, row.model_name) == ("openai", "http://127.0.0.1:9/v1", "small")
    assert (decrypt(row.encrypted_key), row.key_hint) == ("sk-1234567890abcd", "abcd")


def test_a_key_and_a_model_alone_mean_the_well_known_endpoint(settings):
    name_endpoint(settings, api_key="sk-1234567890abcd", model="small")
    demo.prepare()
    assert ChatModel.objects.get(name="default").base_url == "https://api.openai.com/v1"


def test_a_changed_environment_is_followed_and_the_rest_of_the_row_stays(settings):
    name_endpoint(settings, base_url="http://127.0.0.1:9/v1", model="small")
    demo.prepare()
    ChatModel.objects.filter(name="default").update(context_size=4096, temperature=None)
    name_endpoint(settings, base_url="http://127.0.0.1:9/v1", model="large")
    demo.prepare()
    row = ChatModel.objects.get(name="default")
    assert (row.model_name, row.context_size, row.temperature) == ("large", 4096, None)


def test_a_key_that_an_admin_entered_is_kept_for_its_endpoint_and_dropped_for_another(settings):
    name_endpoint(settings, base_url="http://127.0.0.1:9/v1", api_key="sk-entered-by-admin", model="small")
    demo.prepare()
    name_endpoint(settings, base_url="http://127.0.0.1:9/v1", model="small")
    demo.prepare()
    assert decrypt(ChatModel.objects.get(name="default").encrypted_key) == "sk-entered-by-admin"
    name_endpoint(settings, base_url="http://127.0.0.1:7/v1", model="small")
    demo.prepare()
    assert ChatModel.objects.get(name="default").encrypted_key == ""


@pytest.mark.parametrize(
    "values", [{"api_key": "sk-1234567890abcd"}, {"base_url": "http://127.0.0.1:9/v1"}, {"model": "small"}]
)
def test_half_an_endpoint_is_not_used(settings, values):
    name_endpoint(settings, **values)
    demo.prepare()
    assert not ChatModel.objects.filter(name="default").exists()


def test_an_environment_that_names_nothing_any_more_leaves_the_row(settings):
    name_endpoint(settings, base_url="http://127.0.0.1:9/v1", model="small")
    demo.prepare()
    name_endpoint(settings)
    demo.prepare()
    assert ChatModel.objects.filter(name="default").exists()


# --- the command ----------------------------------------------------------------------------------------------------


def prepare(**options) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("prepare", stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_the_command_shows_the_passwords_once():
    shown, _ = prepare()
    password = next(line.split()[1] for line in shown.splitlines() if line.split()[:1] == ["ann"])
    assert User.objects.get(username="ann").check_password(password)
    assert prepare() == ("", "")


def test_the_quiet_command_shows_no_password_and_says_how_to_get_one():
    out, err = prepare(quiet=True)
    assert out == ""
    assert "manage.py changepassword" in err
    assert "admin, ann, ben, rita" in err


def test_what_cannot_work_stops_it_with_a_sentence(settings):
    settings.TOOLBOX_MODULES = ["no.such.module"]
    with pytest.raises(CommandError, match=r"TOOLBOX_MODULES: no\.such\.module cannot be used"):
        prepare()
    assert not User.objects.exists()
