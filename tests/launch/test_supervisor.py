"""Real processes: a launcher, its children, and what becomes of them."""

import os
import re
import signal

import pytest

from agentweb.launch.process import identify, is_running
from tests.waiting import until

STEADY = "echo here; exec sleep 300"
FORKING = "sleep 300 & echo started $!; wait"
STUBBORN = "trap '' TERM; echo here; while :; do sleep 0.05; done"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_ends_all_children_and_exits_with_0(launch, number):
    launcher = launch(f"web={STEADY}", f"worker-1={STEADY}")
    children = [launcher.running("web"), launcher.running("worker-1")]
    launcher.says("started")
    launcher.process.send_signal(number)
    assert launcher.ends() == 0
    assert not any(map(is_running, children))


def test_lines_of_children_carry_their_name_and_go_to_their_log_file(launch):
    launcher = launch("web=echo from the web; exec sleep 300", "worker-1=echo from the worker >&2; exec sleep 300")
    launcher.says("web      | from the web")
    launcher.says("worker-1 | from the worker")
    assert (launcher.folder / "logs" / "web.log").read_text() == "from the web\n"


def test_a_child_that_dies_is_started_again(launch):
    launcher = launch(f"web={STEADY}")
    first = launcher.running("web")
    os.kill(first.pid, signal.SIGKILL)
    second = until(lambda: (who := launcher.child("web")) and who != first and who)
    assert second.pid != first.pid
    assert "web was ended by SIGKILL; it starts again in 0.5 s" in launcher.says("starts again")


def test_what_a_dead_child_had_started_is_ended_before_it_starts_again(launch):
    launcher = launch(f"web={FORKING}")
    first = launcher.running("web")
    grandchild = int(re.search(r"started (\d+)", launcher.says("started "))[1])
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: (who := launcher.child("web")) and who != first)
    assert identify(grandchild) is None


def test_three_deaths_within_a_minute_stop_everything_with_the_last_lines(launch):
    launcher = launch(f"worker-1={STEADY}", "web=echo cannot bind; exit 3")
    other = launcher.running("worker-1")
    assert launcher.ends() == 1
    assert "web failed: ['cannot bind', 'cannot bind', 'cannot bind']" in launcher.output()
    assert launcher.output().count("web ended with status 3; it starts again") == 2
    assert not is_running(other)


def test_a_child_that_ignores_the_request_is_killed_after_its_grace(launch):
    launcher = launch(f"web={STUBBORN}")
    launcher.says("here")
    child = launcher.running("web")
    launcher.process.terminate()
    assert launcher.ends() == 3
    assert not is_running(child)


def test_stop_signals_in_the_same_moment_are_one_and_a_later_one_kills(launch):
    launcher = launch(f"patient={STUBBORN}")
    launcher.says("here")
    child = launcher.running("patient")
    for _ in range(3):
        launcher.process.send_signal(signal.SIGTERM)
    until(lambda: '"stopping": true' in (launcher.folder / "run" / "up" / "holder.json").read_text())
    assert is_running(child)

    def asked_again() -> bool:
        launcher.process.send_signal(signal.SIGINT)
        return launcher.process.poll() is not None

    until(asked_again)
    assert launcher.ends() == 3
    assert not is_running(child)


def test_a_launcher_killed_hard_leaves_nothing_to_the_next_start(launch):
    first = launch("valkey", f"web={STUBBORN}")
    left = [first.running("valkey"), first.running("web")]
    first.says("here")
    first.process.kill()
    first.ends()

    second = launch("valkey", f"web={STEADY}")
    assert "ended web" in second.says("started")
    assert not any(map(is_running, left))
    assert second.running("valkey")
    second.process.terminate()
    assert second.ends() == 0


def test_a_second_launcher_on_the_same_folder_names_the_first_and_leaves_it_alone(launch):
    first = launch(f"web={STEADY}")
    first.says("started")
    second = launch(f"web={STEADY}")
    assert second.ends() == 2
    assert f"Process {first.process.pid} already runs agentweb" in second.output()
    assert first.child("web")


def test_a_launcher_waits_for_one_that_is_about_to_stop(launch):
    first = launch(f"web={STUBBORN}")
    first.says("here")
    first.process.terminate()
    until(lambda: '"stopping": true' in (first.folder / "run" / "up" / "holder.json").read_text())
    second = launch(f"web={STEADY}")
    second.says("started")
    assert first.ends() == 3
