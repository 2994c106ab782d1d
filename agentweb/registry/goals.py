"""The goal checks of an agent, as they were when its run began: each looks at the answer or at the workspace."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.db.models import BigAutoField

from agentweb.engine.ports import Goal
from agentweb.registry import validators
from agentweb.registry.models import GoalCheck
from agentweb.schema.json_text import JsonError, parse_json
from agentweb.schema.patterns import compiled
from agentweb.schema.validate import validate
from agentweb.teams import fixed
from agentweb.toolbox.paths import NotFound
from agentweb.toolbox.text_files import read_text
from agentweb.toolbox.threads import shared_threads
from agentweb.toolbox.workspace import Workspace

MOST_PROBLEMS = 5
NOT_REACHED = "It is not."
ANSWER = "The answer"
FENCE = re.compile(r"\s*```\w*\n(.*)\n```\s*", re.DOTALL)

Look = Callable[[str], str]  # from the answer to what is missing, empty when nothing is


@dataclass(frozen=True, slots=True)
class CheckedGoal:
    """Implements the engine's Goal; ``look`` may block, so it runs in a thread."""

    kind: str
    subject: str
    label: str
    words: str
    look: Look

    async def check(self, answer: str) -> str:
        return str(await shared_threads().run(partial(self.look, answer)))


_CHECKS = fixed.Query(lambda agent: GoalCheck.objects.filter(agent=agent), agent=BigAutoField())


def data(agent: Any) -> list[dict[str, Any]]:
    """What a snapshot keeps of the agent's checks."""
    names = ("kind", "label", "path", "schema", "pattern", "function")
    return [{name: getattr(row, name) for name in names} for row in _CHECKS.all(agent=agent.pk)]


def goals_in(snapshot: Mapping[str, Any], *, workspace: Path) -> tuple[Goal, ...]:
    return tuple(_goal(each, Workspace(workspace)) for each in snapshot.get("goals", ()))


def _goal(each: Mapping[str, Any], files: Workspace) -> CheckedGoal:
    path = each["path"]
    look: Look
    match each["kind"]:
        case GoalCheck.Kind.FILE:
            words, look = f"The file {path} exists", partial(_file_exists, files, path)
        case GoalCheck.Kind.JSON:
            words = f"{path or ANSWER} is JSON that fits the schema"
            look = partial(_fits, files, path, each["schema"])
        case GoalCheck.Kind.TEXT:
            words = f"{path or ANSWER} matches the pattern"
            look = partial(_matches, files, path, each["pattern"])
        case _:
            path = each["function"]
            words, look = f"{path} is content", partial(_call, files, path)
    return CheckedGoal(each["kind"], path, each["label"], each["label"] or words, look)


def _file_exists(files: Workspace, path: str, answer: str) -> str:
    try:
        files.stat(path)
    except NotFound:
        return f"There is no file {path}."
    return ""


def _text(files: Workspace, path: str, answer: str) -> str:
    """Raises NotFound, and Refused for a file that is not text."""
    return read_text(files, path) if path else answer


def _fits(files: Workspace, path: str, schema: Any, answer: str) -> str:
    try:
        text = _text(files, path, answer)
    except NotFound:
        return f"There is no file {path}."
    fenced = FENCE.fullmatch(text)
    try:
        value = parse_json(fenced[1] if fenced and not path else text)
    except JsonError as error:
        return f"It is not valid JSON: {error}"
    problems = [f"{found.path}: {found.message}" if found.path else found.message for found in validate(schema, value)]
    return " ".join(problems[:MOST_PROBLEMS])


def _matches(files: Workspace, path: str, pattern: str, answer: str) -> str:
    try:
        text = _text(files, path, answer)
    except NotFound:
        return f"There is no file {path}."
    found = compiled(pattern)
    if len(text) > found.longest:
        return f"It is too long to be checked: more than {found.longest:,} characters."
    return "" if found.regex.search(text) else f"It does not match the pattern {pattern}"


def _call(files: Workspace, function: str, answer: str) -> str:
    """The function gets the answer and the workspace; it returns None or True when it is content, else False or a
    sentence for the model."""
    said = validators.goal_callable(function)(answer, files)
    if said is None or said is True:
        return ""
    return said if isinstance(said, str) else NOT_REACHED
