"""A wrong variable stops every process, also one that no launcher has started, with a sentence that names it."""

import os
import subprocess
import sys

import pytest


def start(folder: object, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from django.conf import settings; settings.DEBUG"]
    env = {**os.environ, "DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "agentweb.config.settings", **variables}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_LEVEL", "loud"),
        ("MAX_ATTEMPTS", "0"),
        ("OPENAI_BASE_URL", "http://["),
        ("BEAT_SECONDS", "20"),
        ("INNER_SERVERS", "http://wiki"),
    ],
)
def test_a_wrong_value_is_named(tmp_path, name, value):
    ended = start(tmp_path, **{name: value})
    assert ended.returncode != 0
    assert (
        ended.stderr.strip().splitlines()[-1].startswith(f"django.core.exceptions.ImproperlyConfigured: {name} must be")
    )


def test_what_only_the_launcher_reads_is_its_own_matter(tmp_path):
    assert start(tmp_path, HOST="my-machine", PORT="none").returncode == 0
