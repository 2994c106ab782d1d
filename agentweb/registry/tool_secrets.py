"""Secrets on their way to tools, and kept from everywhere else: results, previews and errors are cleaned of them."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from agentweb.engine.disguises import without
from agentweb.engine.messages import Json
from agentweb.engine.ports import (
    Done,
    Finding,
    Output,
    Preview,
    Progress,
    Tool,
    ToolContext,
    ToolError,
    ToolSuspension,
    ToolUnavailable,
)
from agentweb.engine.reversing import Reverse
from agentweb.registry import secrets
from agentweb.registry.secret_models import Secret


def with_secrets(tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """The tools, those that ask for secrets with what they may have of them. One query where some do, else none."""
    asking = {name: getattr(tool, "secrets", ()) for name, tool in tools.items()}
    wanted = {secret for names in asking.values() for secret in names}
    if not wanted:
        return dict(tools)
    rows = Secret.objects.filter(name__in=wanted, tools__name__in=[name for name in asking if asking[name]])
    had: dict[str, dict[str, str]] = {name: {} for name in tools}
    for secret, stored, tool in rows.values_list("name", "encrypted_value", "tools__name"):
        if secret in asking[tool] and (plain := _plain(stored)):
            had[tool][secret] = plain
    return {name: DiscreetTool(tool, had[name]) if asking[name] else tool for name, tool in tools.items()}


def _plain(stored: str) -> str:
    """Empty for one that cannot be read: the tool says then that it lacks it, and the checks say why."""
    try:
        return secrets.decrypt(stored)
    except secrets.SecretUnreadable:
        return ""


class Crashed(Exception):
    """A tool failed in a way that it did not foresee; without the secrets that its own words held."""


class DiscreetTool:
    """The tool, given its secrets and held to telling none of them."""

    def __init__(self, tool: Tool, had: Mapping[str, str]) -> None:
        self._tool = tool
        self._had = had
        self.spec = tool.spec

    def problems(self, arguments: Mapping[str, Json]) -> list[str]:
        return self._tool.problems(arguments)

    def preview(self, arguments: Mapping[str, Json], context: ToolContext) -> Preview | None:
        found = self._tool.preview(arguments, self._given(context))
        return None if found is None else Preview(self._text(found.effect), found.kind, self._clean(dict(found.data)))

    def reverse(self, arguments: Mapping[str, Json], result: str, context: ToolContext) -> Reverse | None:
        """Its arguments are recorded, so no secret goes along: what would need one cannot be undone."""
        look = getattr(self._tool, "reverse", None)
        return look(arguments, result, context) if look else None

    async def execute(
        self, arguments: Mapping[str, Json], context: ToolContext
    ) -> AsyncGenerator[Progress | Output, None]:
        try:
            async with aclosing(self._tool.execute(arguments, self._given(context))) as steps:  # type: ignore[type-var]
                async for step in steps:
                    if isinstance(step, Progress):
                        yield Progress(self._text(step.text), step.fraction)
                    else:
                        yield replace(step, content=self._text(step.content), full=self._text(step.full))
        except ToolError as error:
            kind = ToolUnavailable if isinstance(error, ToolUnavailable) else ToolError
            raise kind(self._text(str(error))) from None
        except ToolSuspension as suspension:
            raise ToolSuspension(self._text(suspension.prompt), self._clean(suspension.schema)) from None
        except Exception as error:
            if self._text(str(error)) == str(error):
                raise
            raise Crashed(f"{type(error).__name__}: {self._text(str(error))}") from None

    async def check(self, arguments: Mapping[str, Json], context: ToolContext) -> Finding:
        found = await self._tool.check(arguments, self._given(context))
        return Done(self._text(found.content)) if isinstance(found, Done) else found

    def _given(self, context: ToolContext) -> ToolContext:
        return replace(context, secrets=dict(self._had))

    def _text(self, text: str) -> str:
        return without(text, self._had.values())

    def _clean(self, value: Any) -> Any:
        match value:
            case str():
                return self._text(value)
            case dict():
                return {name: self._clean(each) for name, each in value.items()}
            case list() | tuple():
                return [self._clean(each) for each in value]
        return value
