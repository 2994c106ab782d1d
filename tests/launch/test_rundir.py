"""The lock and the records of a launcher."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentweb.launch import process, rundir
from agentweb.launch.refusal import Refusal
from agentweb.launch.rundir import MARK, RunDirectory
from tests.waiting import until


@pytest.fixture
def place(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path / "run" / "up")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen]:
    """A process that nobody started through a run directory."""
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as sleeping:
        yield sleeping
        sleeping.kill()


def test_one_holder_at_a_time(place: RunDirectory):
    place.take()
    other = RunDirectory(place.path)
    assert place.is_held()
    with pytest.raises(Refusal, match=f"Process {os.getpid()} already runs agentweb on {place.path.parent.parent}"):
        other.take()
    place.release()
    assert not place.is_held()
    other.take()
    other.release()


def test_a_place_that_was_never_taken_is_not_held(place: RunDirectory):
    assert not place.is_held()


def test_a_recorded_process_that_still_runs_is_ended(place: RunDirectory, sleeper):
    place.take()
    place.record("web", sleeper.pid)
    assert place.end_leftovers() == ["web"]
    assert process.identify(sleeper.pid) is None
    assert list(place.recorded()) == []


def test_another_process_with_a_recorded_number_is_left_alone(place: RunDirectory, sleeper):
    place.take()
    (place.path / "web.process").write_text(json.dumps({"pid": sleeper.pid, "started": "long ago"}))
    assert place.end_leftovers() == []
    assert process.identify(sleeper.pid)
    assert list(place.recorded()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "started": "x", "more": 2}'])
def test_an_unreadable_record_is_dropped(place: RunDirectory, text):
    place.take()
    (place.path / "web.process").write_text(text)
    assert place.end_leftovers() == []
    assert not (place.path / "web.process").exists()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system does not show environments")
def test_a_process_without_a_record_is_known_by_its_mark(place: RunDirectory):
    place.take()
    with subprocess.Popen(["sleep", "300"], env={**os.environ, MARK: str(place.path)}) as lost:
        until(lambda: list(process.marked(MARK, str(place.path))))
        assert place.end_leftovers() == [f"process {lost.pid}"]
        assert lost.wait(5) < 0


def test_a_borrowed_place_clears_those_of_killed_programs(tmp_path: Path):
    with subprocess.Popen(["true"]) as killed:
        killed.wait()
    abandoned = tmp_path / f"ask-{killed.pid}"
    abandoned.mkdir()
    (abandoned / "worker.log").touch()
    own = rundir.borrowed(tmp_path, "ask")
    assert [path.name for path in tmp_path.iterdir()] == [f"ask-{os.getpid()}"]
    own.discard()
    assert list(tmp_path.iterdir()) == []
