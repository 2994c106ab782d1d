"""What a benchmark must look like to be found, and how its figures read. Nothing is measured here."""

import inspect
import subprocess
import sys

import pytest

from benchmarks import machine
from benchmarks.catalogue import Benchmark, find
from benchmarks.figure import Figure, Options, at_least, at_most, exactly

BENCHMARKS = list(find().values())


def test_the_list_names_each_benchmark_and_what_it_measures():
    listed = subprocess.run([sys.executable, "-m", "benchmarks"], capture_output=True, text=True, check=True).stdout

    assert [line.split(maxsplit=1) for line in listed.splitlines()] == [[each.id, each.measures] for each in BENCHMARKS]


def test_an_unknown_benchmark_is_refused_by_name():
    ended = subprocess.run([sys.executable, "-m", "benchmarks", "B999"], capture_output=True, text=True, check=False)

    assert ended.returncode == 2
    assert "There is no benchmark B999" in ended.stderr


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda each: each.id)
def test_a_benchmark_says_what_it_measures_and_takes_options_only(benchmark: Benchmark):
    signature = inspect.signature(benchmark.measure)

    assert benchmark.measures.endswith(".")
    assert [parameter.annotation for parameter in signature.parameters.values()] == [Options]
    assert signature.return_annotation == list[Figure]


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        (at_most("B1", 0.46789, "ratio", 0.8, 0.45), "B1: 0.468 ratio (must hold ≤ 0.8, aim ≤ 0.45): pass"),
        (at_most("B3 p95", 131.4, "ms", 105), "B3 p95: 131 ms (must hold ≤ 105): fail"),
        (at_least("B19", 98, "%", 98, 100), "B19: 98 % (must hold ≥ 98, aim ≥ 100): pass"),
        (exactly("B6", 1, "lost tokens", 0), "B6: 1 lost tokens (must hold = 0): fail"),
        (at_most("B2", float("nan"), "ratio", 0.5), "B2: no figure (must hold ≤ 0.5): fail"),
    ],
)
def test_the_last_line_is_the_figure_and_whether_it_holds(figure: Figure, sentence: str):
    assert figure.sentence() == sentence


def test_cpu_and_memory_of_a_process_and_its_children_are_counted():
    code = "import subprocess,sys; subprocess.run([sys.executable, '-c', 'sum(range(10**7))']); print('x'); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        cpu, memory = machine.cpu_seconds([process.pid]), machine.pss_kb([process.pid])
        process.communicate(b"\n")

    assert cpu > 0
    assert memory > 1000
