"""The example of docs/seams.md, installed as the document says and taken by a real run."""

import re
import sys
from pathlib import Path

import pytest
from django.conf import settings as site

from agentweb.engine.seams import Block, Point
from agentweb.registry.seams import installed
from agentweb.runs.models import Call, Message, Run
from agentweb.worker.process import Process
from tests.cast import make_cast

TEXT = (Path(site.BASE_DIR) / "docs" / "seams.md").read_text()


def pasted(kind: str) -> str:
    """The one block of that kind in the document."""
    [found] = [
        code for named, code in re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE) if named == kind
    ]
    return found


@pytest.fixture
def as_written(tmp_path, monkeypatch, settings):
    """The module and the setting, pasted from the document."""
    (tmp_path / "house_rules.py").write_text(pasted("python"))
    monkeypatch.syspath_prepend(tmp_path)
    name, _equals, paths = pasted("").strip().partition("=")
    assert name == "AGENTWEB_SEAMS"
    settings.AGENTWEB_SEAMS = paths.split(",")
    settings.WORKSPACES_DIR = tmp_path / "workspaces"
    yield installed()
    sys.modules.pop("house_rules", None)


def test_every_point_is_described():
    assert set(re.findall(r"^\| `(\w+)\(", TEXT, re.MULTILINE)) == set(Point)


def test_the_built_in_extensions_stay_installed(as_written):
    assert [type(seam).__name__ for seam in as_written.installed] == ["Redaction", "Recovery", "HouseRules"]


def test_the_example_blocks_what_it_says(as_written):
    rules = as_written.installed[-1]
    call = type("Asked", (), {"name": "delete_file"})
    assert rules.before_tool(call, None, {"path": "archive/a.txt"}, None) == Block("Nothing in archive/ is deleted.")
    assert rules.before_tool(call, None, {"path": "a.txt"}, None) is None


@pytest.mark.django_db(transaction=True)
def test_a_run_follows_the_example(as_written, valkey):
    cast = make_cast()
    process = Process()
    process.start()
    try:
        run = cast.run("What is the date today?")
        process.advance(str(run.public_id))
    finally:
        process.stop()
    assert Run.objects.get(pk=run.pk).outcome == Run.Outcome.ANSWERED
    assert Call.objects.get(run=run, name="current_time").arguments == {"timezone": "Asia/Shanghai"}
    note = Message.objects.get(run=run, role=Message.Role.SYSTEM)
    assert (note.text.split(",")[0], note.extra) == ("Our office is in Shanghai", {"by": "house rules"})
    assert list(run.events.filter(kind__in=("ArgumentsRewritten", "SeamFailed")).values_list("kind", flat=True)) == [
        "ArgumentsRewritten"
    ]
