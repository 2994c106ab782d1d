"""`manage.py ask`: a Redis and a worker are there before Django is loaded, and what was started is gone afterwards."""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence

from agentweb.launch import services
from agentweb.launch.refusal import Refusal

APPROVE = ("ask", "all", "none")
INTERRUPTED = 130

RunDjango = Callable[[list[str]], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line, which is read twice: here, before anything is started, and by Django's command."""
    parser.add_argument("question", metavar="QUESTION", type=_question, help="what to ask")
    parser.add_argument("--agent", metavar="NAME", help="the agent; else the conversation's, else the first one")
    parser.add_argument("--conversation", metavar="ID", help="go on with this conversation")
    parser.add_argument(
        "--approve",
        choices=APPROVE,
        default="ask",
        help="who decides about calls that must be approved: you at the terminal, or all or none of them run",
    )
    parser.add_argument("--user", metavar="NAME", default="admin", help="in whose name (admin)")
    parser.add_argument("--jsonl", action="store_true", help="print the run's events, one JSON object a line")


def main(arguments: Sequence[str], run_django: RunDjango) -> int:
    """`arguments` as in sys.argv. Ends with the status of Django's command; with 1 or 2 where nothing could start."""
    program, _command, *given = arguments
    if {"-h", "--help"} & set(given):
        run_django(list(arguments))
        return 0
    parser = argparse.ArgumentParser(prog="manage.py ask", add_help=False)
    add_arguments(parser)
    parser.parse_known_args(given)
    os.umask(0o077)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))

    def prepare(redis_url: str) -> None:
        _choose(redis_url)
        run_django([program, "prepare", "--quiet"])

    try:
        with services.running_or_started(before_worker=prepare) as running:
            _choose(running.redis_url)
            try:
                run_django(list(arguments))
            finally:
                print(running.obituary(), end="", file=sys.stderr)
    except Refusal as refusal:
        print(f"agentweb: {refusal.sentence}", file=sys.stderr)
        return refusal.status
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _choose(redis_url: str) -> None:
    """Django's settings read the environment once, so this comes before it is loaded."""
    os.environ["REDIS_URL"] = redis_url
    os.environ.setdefault("LOG_LEVEL", "warning")


def _question(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("the question is empty")
    return text
