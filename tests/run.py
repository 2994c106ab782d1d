"""All checks and all tests, as `make test` runs them: three at a time, since many of them wait for processes.

Tests that touch the database run on SQLite and, but for those of forms and words, on PostgreSQL, and both counts are
printed. Of those that drive real processes, the ones in which the database matters most run on both. Tests in a browser
have runs of their own, since synchronous Playwright and asyncio tests cannot share a process. The last line is plain:
`N passed, N failed`, where a check that fails counts as one.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests import chromium, databases, real_model

ROOT = Path(__file__).resolve().parent.parent
PYTHON = (sys.executable, "-m")
AT_ONCE = 3  # on two cores: somebody always waits for a process, a page or the database
LINT = (
    ("style", (*PYTHON, "ruff", "check", "--quiet", ".")),
    ("format", (*PYTHON, "ruff", "format", "--check", "--quiet", ".")),
    ("import order", ("lint-imports", "--no-cache")),
    ("templates", (*PYTHON, "djlint", "templates", "--lint", "--quiet")),
)
TYPES = (("types", (*PYTHON, "mypy")),)
HARDEST_ON_DATABASES = ("tests/crash/test_stopped_worker.py", "tests/crash/test_random_kills.py")
WHOLE_TASKS = tuple(f"tests/e2e/test_{name}.py" for name in ("example_tasks", "up", "readme", "snake", "audit"))
DECIDING_IN_THE_BROWSER = ("tests/e2e/test_approvals.py",)
PAGE = ("tests/e2e", *(f"--ignore={path}" for path in WHOLE_TASKS))
CORE = tuple(f"tests/{name}" for name in ("engine", "schema", "llm", "toolbox", "render", "policy", "launch"))
SERVICES = ("tests/deploy", "tests/worker/test_ask.py")
SITE = ("tests", *(f"--ignore={path}" for path in ("tests/e2e", "tests/crash", *CORE, *SERVICES)))
FORMS_AND_WORDS = (  # no query in them that others do not make: on one database is enough
    "tests/benchmarks",
    "tests/config",
    "tests/ui/test_catalogue.py",
    "tests/registry/test_admin_models.py",
    "tests/registry/test_policy_admin.py",
    "tests/registry/test_goals.py",
)
ON_POSTGRES = (*SITE, *(f"--ignore={path}" for path in FORMS_AND_WORDS))
SPREAD = ("-n", str(cores - 1), "--dist", "loadfile") if (cores := os.cpu_count() or 1) > 2 else ()  # one core is left
OURS = (
    "OPENAI_",
    "DJANGO_",
    "AGENTWEB_",
    "REDIS_URL",
    "DATABASE_URL",
    "DATA_DIR",
    "SECRET_KEY",
    "PORT",
    "HOST",
    "DEBUG",
)


@dataclass(frozen=True)
class Counts:
    """How many tests of one run ended how."""

    title: str
    passed: int
    failed: int
    skipped: int
    seconds: float

    def sentence(self) -> str:
        """One line of the summary."""
        failed = f", {self.failed} failed" if self.failed else ""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.title}: {self.passed} passed{failed}{skipped} ({self.seconds:.0f} s)"


def main() -> int:
    """0 when everything passed."""
    options = _options()
    os.chdir(ROOT)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # started in the background, all children would ignore it
    checks = {"lint": LINT, "types": TYPES, "tests": ()}.get(options.only, (*LINT, *TYPES))
    with tempfile.TemporaryDirectory(prefix="agentweb-checks-") as name, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = Path(name)
        env = _surroundings(folder)
        done = [pool.submit(_check, name, command, env) for name, command in checks]
        with _tests(pool, folder, env, options) as tests:
            broken = [name for (name, _), fine in zip(checks, done, strict=True) if not fine.result()]
            counts = [test.result() for test in tests]
    return _summary(counts, broken)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("lint", "types", "tests"), default="", help="run this part alone")
    parser.add_argument("pytest", nargs=argparse.REMAINDER, help="after --: arguments for each run of pytest")
    return parser.parse_args()


def _surroundings(folder: Path) -> dict[str, str]:
    """The environment without what a developer has set for a site of their own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # the tests start many processes, each of which would compile everything
    tools = f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    return env | {"PATH": tools, "DATA_DIR": str(folder / "data"), "PYTHONPATH": str(ROOT)}


def _check(name: str, command: Sequence[str], env: dict[str, str]) -> bool:
    began = time.monotonic()
    ended = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    verdict = "failed" if ended.returncode else "fine"
    print(f"{name}: {verdict} ({time.monotonic() - began:.0f} s)", flush=True)
    if ended.returncode:
        print(ended.stdout + ended.stderr, flush=True)
    return ended.returncode == 0


@contextmanager
def _tests(
    pool: ThreadPoolExecutor, folder: Path, env: dict[str, str], options: argparse.Namespace
) -> Iterator[list[Future[Counts]]]:
    """The runs of pytest, the longest first, on one PostgreSQL server; none where only checks are wanted."""
    if options.only not in ("", "tests"):
        yield []
        return
    sqlite = {**env, databases.CHOICE: databases.SQLITE}
    with _postgres(env) as postgres:
        browser = pool.submit(_browser)
        run = partial(_pytest, folder, options.pytest[1:])
        yield [
            pool.submit(run, "PostgreSQL", [*ON_POSTGRES, *SPREAD, "--only-database"], postgres),
            pool.submit(run, "SQLite", [*SITE, *SPREAD], sqlite),
            pool.submit(_in_browser, browser, run, "Browser on SQLite: the page", [*PAGE], sqlite),
            pool.submit(_in_browser, browser, run, "Browser on SQLite: whole tasks", [*WHOLE_TASKS], sqlite),
            pool.submit(run, "No database", [*CORE, *SPREAD], sqlite),
            pool.submit(run, "Commands and services", [*SERVICES], sqlite),
            pool.submit(run, "Real processes on SQLite", ["tests/crash"], sqlite),
            pool.submit(_in_browser, browser, run, "Browser on PostgreSQL", [*DECIDING_IN_THE_BROWSER], postgres),
            pool.submit(run, "Real processes on PostgreSQL", [*HARDEST_ON_DATABASES], postgres),
        ]


def _browser() -> list[str] | None:
    """Install what browser tests need; the arguments that choose those that can run, None if there is no browser."""
    try:
        chromium.find_or_install()
    except chromium.NoBrowser as reason:
        print(reason, flush=True)
        return None
    if real_model.install():
        return []
    print("No real language model for this system: the tests that talk to one are left out.", flush=True)
    return ["-m", f"not {real_model.MARKER}"]


def _in_browser(
    browser: Future[list[str] | None], run: Callable[..., Counts], title: str, which: list[str], env: dict[str, str]
) -> Counts:
    """A run that fails where there is no browser."""
    chosen = browser.result()
    return Counts(title, 0, 1, 0, 0.0) if chosen is None else run(title, [*which, *chosen], env)


@contextmanager
def _postgres(env: dict[str, str]) -> Iterator[dict[str, str]]:
    """One server for all runs."""
    with databases.postgres_server() as address:
        yield {**env, databases.CHOICE: databases.POSTGRES, databases.SERVER: address}


def _pytest(folder: Path, arguments: list[str], title: str, which: list[str], env: dict[str, str]) -> Counts:
    name = title.lower().replace(" ", "-").replace(":", "")
    report, output = folder / f"{name}.xml", folder / f"{name}.log"
    print(f"{title} …", flush=True)
    pictures = f"--output=test-results/{name}"  # emptied as a run begins, thus no two may share it
    command = [*PYTHON, "pytest", "-q", *which, f"--junitxml={report}", pictures, *arguments]
    began = time.monotonic()
    with output.open("wb") as log:
        ended = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
    status, seconds = ended.returncode, time.monotonic() - began
    print(f"\n{title}\n{output.read_text(errors='replace')}", flush=True)
    if not report.exists():
        return Counts(title, 0, 1, 0, seconds)
    suite = ElementTree.parse(report).getroot()[0]
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    chosen_away = status == pytest.ExitCode.NO_TESTS_COLLECTED and arguments
    if status and not failed and not chosen_away:
        failed, total = 1, total + 1  # such as a broken conftest.py, which no test stands for
    return Counts(title, total - failed - skipped, failed, skipped, seconds)


def _summary(counts: list[Counts], broken: list[str]) -> int:
    print()
    for count in counts:
        print(count.sentence())
    if broken:
        print(f"Checks that failed: {', '.join(broken)}")
    passed, failed, skipped = (
        sum(getattr(count, name) for count in counts) for name in ("passed", "failed", "skipped")
    )
    failed += len(broken)
    if counts:
        print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
