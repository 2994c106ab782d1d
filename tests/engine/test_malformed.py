"""A model that asks for what cannot be run is asked again with the exact error, and not for ever."""

from agentweb.engine.enums import Invalid, Outcome, Purpose, Reason
from agentweb.engine.events import RunFinished
from agentweb.engine.messages import ToolCall
from agentweb.engine.usage import Limits
from tests.engine.fakes import Shell, tool
from tests.engine.scripted_model import Says, call

REASKS = 3


def unusable(turns: int, first: int = 0) -> list[Says]:
    """Each turn asks in another wrong way, so that it is no circle."""
    made = []
    for n in range(first, first + turns):
        wrong = ToolCall(f"b{n}", "write", None, f'{{"x{n}', invalid=Invalid.MALFORMED, detail=f"At character {n}.")
        made.append(Says("", ((wrong, call(f"b{n}", f"wirte{n}"), call(f"b{n}", bad=n))[n % 3],)))
    return made


def shell(*script: Says) -> Shell:
    return Shell(*script, tools=(tool("write"),), limits=Limits(max_turns=30, max_reasks=REASKS))


def end(run: Shell) -> tuple[Outcome, Reason]:
    last = run.events[-1]
    assert isinstance(last, RunFinished)
    return last.outcome, last.reason


async def test_each_error_goes_back_to_the_model_and_it_may_do_better() -> None:
    run = await shell(*unusable(REASKS), Says("", (call("a", x=1),)), Says("Done")).go()

    told = list(run.results().values())
    assert "At character 0." in told[0]
    assert "Available tools: write." in told[1]
    assert "bad is unknown" in told[2]
    assert end(run) == (Outcome.ANSWERED, Reason.DONE)


async def test_after_so_many_times_the_run_is_wrapped_up() -> None:
    run = await shell(*unusable(REASKS + 1), Says("It does not work")).go()

    assert run.model.requests[-1].purpose is Purpose.WRAP_UP
    assert end(run) == (Outcome.LIMIT_REACHED, Reason.MALFORMED)
    run.model.done()


async def test_what_could_be_used_in_between_forgives_nothing_and_costs_nothing() -> None:
    """The bound is on the whole run; a message of which one call could be used is no failure."""
    good = [Says("", (call(f"g{n}", x=n), call(f"h{n}", bad=n))) for n in range(3)]
    run = await shell(*unusable(REASKS), *good, *unusable(1, REASKS), Says("It does not work")).go()
    assert end(run) == (Outcome.LIMIT_REACHED, Reason.MALFORMED)


async def test_another_worker_goes_on_counting() -> None:
    run = shell(*unusable(REASKS + 1), Says("It does not work"))
    await run.crash(lambda step: len(run.model.requests) == REASKS)
    await run.resume()
    assert end(run) == (Outcome.LIMIT_REACHED, Reason.MALFORMED)
