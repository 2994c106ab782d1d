"""The decorator that makes a tool of a Python function."""

import inspect
import re
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json
from agentweb.engine.ports import (
    Done,
    Finding,
    NotDone,
    Output,
    Preview,
    Progress,
    ToolContext,
    ToolError,
    ToolSpec,
    ToolSuspension,
    ToolUnavailable,
    Unsure,
)
from agentweb.engine.reversing import Reverse
from agentweb.schema.check import check_any
from agentweb.schema.json_text import digest
from agentweb.schema.problems import Problem
from agentweb.schema.validate import validate
from agentweb.toolbox import apart as processes
from agentweb.toolbox.docstrings import read_docstring
from agentweb.toolbox.needs import Need
from agentweb.toolbox.parameters import CONTEXT, Parameters, read_parameters
from agentweb.toolbox.results import MOST_CHARACTERS, for_model, to_output
from agentweb.toolbox.threads import shared_threads

Check = Callable[[Mapping[str, Json]], Iterable[str]]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what every model provider accepts


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool whose work is one Python function. Immutable, so agents can share it."""

    spec: ToolSpec
    category: str
    function: Callable[..., Any]
    parameters: Parameters
    checker: Check | None
    previewer: Callable[..., Preview | None] | None
    detective: Callable[..., Any] | None
    most_characters: int
    apart: bool = False
    untrusted: bool = False
    outbound: bool = False
    needs: Need = Need.NONE
    undo: Callable[..., tuple[str, Mapping[str, Json]] | None] | None = None
    secrets: tuple[str, ...] = ()

    def reverse(self, arguments: Mapping[str, Json], result: str, context: ToolContext) -> Reverse | None:
        if self.undo is None:
            return None
        more = {CONTEXT: context} if CONTEXT in inspect.signature(self.undo).parameters else {}
        found = self.undo(arguments=arguments, result=result, **more)
        return None if found is None else Reverse(*found)

    def problems(self, arguments: Mapping[str, Json]) -> list[str]:
        """Sentences that name the parameter, as ``path: The path is empty …``."""
        found = [_sentence(each) for each in validate(self.spec.parameters, arguments)]
        if not found and self.checker is not None:
            found.extend(self.checker(arguments))
        return found

    def preview(self, arguments: Mapping[str, Json], context: ToolContext) -> Preview | None:
        """What the call would do; where it is already clear that it would fail, the effect says so."""
        if self.previewer is None:
            return None
        try:
            return self.previewer(**self._values_for(self.previewer, arguments, context))
        except ToolError as error:
            return Preview(effect=f"This would fail: {error}")

    async def check(self, arguments: Mapping[str, Json], context: ToolContext) -> Finding:
        """What became of a call whose worker was lost; Unsure where the tool cannot tell."""
        if self.detective is None:
            return Unsure()
        look = partial(self.detective, **self._values_for(self.detective, arguments, context))
        found = await (look() if inspect.iscoroutinefunction(self.detective) else shared_threads().run(look))
        match found:
            case Done(content=content):
                return Done(for_model(content, self.most_characters))
            case NotDone() | Unsure():
                return found
            case _:
                raise TypeError(f"{self.spec.name}: what became of a call is Done, NotDone or Unsure, not {found!r}")

    def _values_for(
        self, function: Callable[..., Any], arguments: Mapping[str, Json], context: ToolContext
    ) -> dict[str, Any]:
        """The arguments as Python values, with the context where the function wants it."""
        values = self.parameters.values(arguments)
        if CONTEXT in inspect.signature(function).parameters:
            values[CONTEXT] = context
        return values

    async def execute(self, arguments: Mapping[str, Json], context: ToolContext) -> AsyncIterator[Progress | Output]:
        """Arguments must have no problems. A function in a thread sees a cancel by ``context.cancelled()`` only; one
        that works ``apart`` is ended by it."""
        if self.apart:
            work = processes.steps(self.function.__module__, self.spec.name, arguments, context)
            async with aclosing(work) as steps:
                async for step in steps:
                    yield step
            return
        closed = threading.Event()
        values = self.parameters.values(arguments)
        if self.parameters.wants_context:
            values[CONTEXT] = replace(context, cancelled=lambda: closed.is_set() or context.cancelled())
        call = partial(self.function, **values)
        try:
            if inspect.isasyncgenfunction(self.function):
                async with aclosing(_steps(call)) as steps:
                    async for step in steps:
                        yield step if isinstance(step, Progress) else to_output(step, self.most_characters)
            else:
                result = await (call() if inspect.iscoroutinefunction(self.function) else shared_threads().run(call))
                yield to_output(result, self.most_characters)
        except ToolError as error:
            text = for_model(str(error), self.most_characters)
            kind = ToolUnavailable if isinstance(error, ToolUnavailable) else ToolError
            raise error if text == str(error) else kind(text) from error
        except ToolSuspension as suspension:
            raise _drawable(suspension) from suspension.__cause__
        finally:
            closed.set()


async def _steps(call: Callable[[], Any]) -> AsyncGenerator[Any, None]:
    """What an async generator yields, held to progress first and exactly one result last."""
    done, result = False, None
    async with aclosing(call()) as steps:
        async for step in steps:
            if done:
                raise RuntimeError("A tool yielded something after its result.")
            if isinstance(step, Progress):
                yield step
            else:
                done, result = True, step
    if not done:
        raise RuntimeError("A tool ended without a result.")
    yield result


def tool(
    *,
    label: str,
    name: str = "",
    category: str = "general",
    reads: bool = False,
    repeatable: bool = False,
    deterministic: bool = False,
    risk: Risk = Risk.HIGH,
    timeout_s: float = 60.0,
    check: Check | None = None,
    preview: Callable[..., Preview | None] | None = None,
    outcome: Callable[..., Any] | None = None,
    most_characters: int = MOST_CHARACTERS,
    apart: bool = False,
    untrusted: bool = False,
    outbound: bool = False,
    needs: Need = Need.NONE,
    undo: Callable[..., tuple[str, Mapping[str, Json]] | None] | None = None,
    secrets: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], FunctionTool]:
    """Make a tool of a function: plain (it runs in a thread), async, or an async generator of progress and a result.

    Its docstring is what the model reads, its type hints are the schema. ``check`` gives further problems of
    arguments that fit the schema; ``preview`` takes the same parameters and says what the call would do; ``outcome``
    takes them too and finds out what became of a call whose worker was lost: Done, NotDone or Unsure. What is not said
    is taken for the worst: it writes, may not run twice, and is of high risk.

    ``repeatable``: it may be run twice; when it fails without saying so itself, or with ToolUnavailable, it is tried
    again. ``deterministic``: the same arguments give the same answer for a while, so one may be kept and given again.

    ``untrusted``: others have written what it returns (web, mail); ``outbound``: it reads only, but what it asks for
    leaves the site. Both are what admins find when the tool is new.

    ``needs``: what the site must have, else the tool is offered to nobody. ``secrets``: names of those that it gets
    from ``context.secret`` once an admin has entered them and allowed it; what it tells is cleaned of them.

    ``undo`` takes ``arguments`` and ``result`` of a call that has run, and its ``context`` if it names that, and gives
    the name of a tool and the arguments with which that takes the call back; None where nothing does.

    ``apart``: each call has a process of its own (0.2 s more, no Django in it), which a cancel, a time-out or the end
    of the worker kills, with all that it has started. For what blocks, burns CPU or starts other programs: nothing
    can end a function in a thread.
    """

    def make(function: Callable[..., Any]) -> FunctionTool:
        called = name or function.__name__
        if not _NAME.fullmatch(called):
            raise TypeError(f"{called!r}: a tool's name has 1 to 64 letters, digits, underscores and hyphens")
        if deterministic and not reads:
            raise TypeError(f"{called}: only a tool that reads can be deterministic, since a kept answer does nothing")
        if inspect.isgeneratorfunction(function):
            raise TypeError(f"{called}: a tool that yields must be async")
        description, described = read_docstring(function.__doc__ or "")
        if not description:
            raise TypeError(f"{called}: a tool needs a docstring; it is what the model reads")
        parameters = read_parameters(function, described)
        spec = ToolSpec(
            called,
            label,
            description,
            parameters.schema,
            reads,
            repeatable,
            deterministic,
            shared=not parameters.wants_context,
            risk=risk,
            timeout_s=timeout_s,
        )
        spec = replace(spec, digest=_definition(spec))
        return FunctionTool(
            spec,
            category,
            function,
            parameters,
            check,
            preview,
            outcome,
            most_characters,
            apart,
            untrusted,
            outbound,
            needs,
            undo,
            secrets,
        )

    return make


def _definition(spec: ToolSpec) -> str:
    """The digest of what an approval or a grant was given for; label, risk and time-out may change without harm."""
    return digest(
        {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
            "reads": spec.reads,
            "repeatable": spec.repeatable,
        }
    )


def _drawable(suspension: ToolSuspension) -> ToolSuspension:
    """The same. Raises TypeError where nobody could ever answer: a form needs a schema of an object."""
    schema = suspension.schema
    if schema is None:
        return suspension
    wrong = [_sentence(each) for each in check_any(schema)]
    if wrong or schema.get("type") != "object":
        raise TypeError(f"The schema of the answer is none of an object. {' '.join(wrong)}".strip())
    return suspension


def _sentence(found: Problem) -> str:
    empty = found.keyword == "minLength" and found.params["actual"] == 0
    message = "Must not be empty." if empty else found.message
    return f"{found.path}: {message}" if found.path else message
