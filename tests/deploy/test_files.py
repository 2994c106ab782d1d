"""What the Dockerfile and the compose file promise, read without a container engine."""

import importlib.util
import re
from pathlib import Path

import pytest

from agentweb.launch import commands, environment, rules
from tests.deploy import compose
from tests.deploy.compose import ROOT, NotGiven, services

GIVEN = {
    "SECRET_KEY": "s" * 50,
    "POSTGRES_PASSWORD": "p1",
    "VALKEY_PASSWORD": "v1",
    "ALLOWED_HOSTS": "chat.example.org",
    "CSRF_TRUSTED_ORIGINS": "https://chat.example.org",
}
OURS = ("prepare", "web", "worker")


def dockerfile() -> list[str]:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def documented_variables() -> set[str]:
    return set(re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_there_is_a_database_a_broker_a_preparation_the_site_and_workers():
    found = services(GIVEN)
    assert set(found) == {"postgres", "valkey", *OURS}
    assert {name for name, service in found.items() if service.is_ours} == set(OURS)


@pytest.mark.parametrize("name", sorted(GIVEN))
def test_what_must_be_given_is_named_when_it_is_not(name):
    with pytest.raises(NotGiven, match=f"^{name}: give "):
        services({other: value for other, value in GIVEN.items() if other != name})


def test_no_secret_stands_in_the_file():
    for number, line in enumerate(compose.FILE.read_text().splitlines(), 1):
        if re.match(r"\s+\w*(SECRET|PASSWORD|KEY|AUTH)\w*:", line):
            assert re.search(r":\s+\$\{\w+:[?-]", line), f"line {number}"
    assert not re.search(r"://[^$\s{]*:[^$\s{]+@", compose.FILE.read_text())


@pytest.mark.parametrize("name", OURS)
def test_each_of_our_services_has_the_same_valid_environment(name):
    found = services(GIVEN)
    env = found[name].env
    assert env == found["web"].env
    assert rules.first_broken({variable: value for variable, value in env.items() if value}) is None
    assert set(env) <= documented_variables()


def test_every_variable_that_is_checked_is_documented_where_all_are():
    assert set(rules.RULES) <= documented_variables()


@pytest.mark.parametrize("name", OURS)
def test_our_services_share_the_data_and_can_do_little_else(name):
    data = services(GIVEN)[name].data
    assert data["volumes"] == ["data:/data"] and data["environment"]["DATA_DIR"] == "/data"
    assert data["read_only"] and data["cap_drop"] == ["ALL"] and data["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in data and "user" not in data  # the image's own account


@pytest.mark.parametrize("name", OURS)
def test_each_command_names_what_is_there(name):
    python, *rest = services(GIVEN)[name].command
    assert python == "python"
    if rest[0] == "-m":
        assert importlib.util.find_spec(rest[1]) is not None
    else:
        assert (ROOT / rest[0]).exists()
        assert any((ROOT / "agentweb").glob(f"*/management/commands/{rest[1]}.py"))


def test_workers_run_as_the_launcher_runs_them(tmp_path: Path):
    settings = environment.load({"WORKER_SLOTS": "64"}, tmp_path)
    launched = list(commands.worker(1, settings, {}).argv)[1:]
    composed = services(GIVEN)["worker"].command[1:]
    launched[launched.index("-n") + 1] = composed[composed.index("-n") + 1] = "name"
    assert [each.lower() for each in composed] == [each.lower() for each in launched]


def test_the_number_of_workers_is_a_variable_and_they_have_time_to_stop():
    worker = services(GIVEN | {"WORKERS": "3"})["worker"]
    assert worker.data["deploy"]["replicas"] == "3"
    grace = int(worker.data["stop_grace_period"].removesuffix("s"))
    assert grace > float(worker.env["DRAIN_SECONDS"]) + commands.ROUNDING_SECONDS


def test_the_site_and_the_workers_wait_for_the_preparation_and_the_servers():
    found = services(GIVEN)
    for name in ("web", "worker"):
        wanted = {other: on["condition"] for other, on in found[name].data["depends_on"].items()}
        assert wanted == {
            "prepare": "service_completed_successfully",
            "postgres": "service_healthy",
            "valkey": "service_healthy",
        }
    assert found["prepare"].data["restart"] == "no"
    for name in ("postgres", "valkey", "web"):
        assert found[name].data["healthcheck"]["test"]
    assert found["web"].data["healthcheck"]["test"][1:] == ["python", "-m", "agentweb.launch.health", "live"]


def test_only_the_site_has_a_port_and_only_for_this_machine():
    published = {name: service.data.get("ports") for name, service in services(GIVEN).items()}
    assert {name: ports for name, ports in published.items() if ports} == {"web": ["127.0.0.1:8000:8000"]}


def test_every_volume_is_declared():
    used = {
        volume.partition(":")[0] for service in services(GIVEN).values() for volume in service.data.get("volumes", ())
    }
    assert used == set(compose.read()["volumes"])


def test_the_image_is_slim_pinned_and_not_root():
    lines = dockerfile()
    assert any(line.startswith("FROM python:") and line.endswith("-slim") for line in lines)
    install = next(line for line in lines if "pip install" in line)
    assert "--constraint constraints.txt" in install and "[postgres]" in install
    assert "USER agentweb" in lines and not any(
        line.startswith("RUN") for line in lines[lines.index("USER agentweb") :]
    )
    assert not any("collectstatic" in line for line in lines)


def test_the_image_holds_what_the_site_needs_and_nothing_that_is_not_its():
    copied = {source for line in dockerfile() if line.startswith("COPY") for source in line.split()[1:-1]}
    assert all((ROOT / source).exists() for source in copied)
    assert {"manage.py", "agentweb", "templates", "static"} <= copied
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignore and "**/.env" in ignore
    assert copied - {"agentweb/__init__.py"} == {line[1:] for line in ignore if line.startswith("!")}


def test_the_image_starts_the_site_as_the_compose_file_does():
    command = next(line for line in dockerfile() if line.startswith("CMD"))
    assert re.findall(r'"([^"]+)"', command) == services(GIVEN)["web"].command
