"""`python -m benchmarks` lists the benchmarks; `python -m benchmarks B3 B10` runs some, `python -m benchmarks all` all.

A figure that does not hold is printed as such and is no error of the command: the status is 1 only when something could
not be measured at all.
"""

import argparse
import sys
import traceback

from benchmarks.catalogue import Benchmark, find
from benchmarks.figure import REPETITIONS, Options
from benchmarks.machine import description


def main() -> int:
    known = find()
    arguments = _arguments()
    if not arguments.ids:
        for each in known.values():
            print(f"{each.id:>4}  {each.measures}")
        return 0
    wanted = list(known) if arguments.ids == ["all"] else [name.upper() for name in arguments.ids]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(known)}.", file=sys.stderr)
        return 2
    options = Options(arguments.repetitions, arguments.runs, arguments.seconds)
    print(description(), flush=True)
    broken = [name for name in wanted if not _run(known[name], options)]
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="such as B3; `all` for all of them")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--runs", type=int, help="fewer runs than the figure is about, for development")
    parser.add_argument("--seconds", type=float, help="shorter streams than the figure is about, for development")
    return parser.parse_args()


def _run(benchmark: Benchmark, options: Options) -> bool:
    """Measure and print; the figures come last."""
    print(f"\n{benchmark.id}  {benchmark.measures}", flush=True)
    try:
        figures = benchmark.measure(options)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        print(f"{benchmark.id}: could not be measured: fail", flush=True)
        return False
    for figure in figures:
        if figure.details:
            print(figure.details)
    for figure in figures:
        print(figure.sentence(), flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
