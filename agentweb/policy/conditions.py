"""The usual conditions on one argument, as JSON Schema, so that nobody has to write that for them."""

import re
from contextlib import suppress
from enum import StrEnum

from agentweb.engine.messages import Json


class Check(StrEnum):
    IS = "is"
    ONE_OF = "one_of"
    BEGINS = "begins"
    NOT_BEGINS = "not_begins"
    ENDS = "ends"
    CONTAINS = "contains"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"


NUMBERS = (Check.AT_LEAST, Check.AT_MOST)
SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}/-]")


class ConditionError(ValueError):
    """The value does not suit the test."""


def condition(argument: str, test: Check, value: str) -> dict[str, Json]:
    """What the arguments must fit: this one is there, and passes the test. Values of ONE_OF stand between commas.

    Text is compared as it is, upper and lower case included. Raises ConditionError where a number is due."""
    return {"properties": {argument: _schema(test, value)}, "required": [argument]}


def _schema(test: Check, value: str) -> dict[str, Json]:
    if test in NUMBERS:
        return {"type": "number", "minimum" if test is Check.AT_LEAST else "maximum": _number(value)}
    if test is Check.IS:
        return {"enum": _readings(value)}
    if test is Check.ONE_OF:
        return {"enum": [each for part in value.split(",") if part.strip() for each in _readings(part.strip())]}
    text = SPECIAL.sub(lambda found: f"\\{found[0]}", value)
    if test is Check.NOT_BEGINS:
        return {"type": "string", "not": {"pattern": f"^{text}"}}
    return {"type": "string", "pattern": {Check.BEGINS: f"^{text}", Check.ENDS: f"{text}$"}.get(test, text)}


def _readings(value: str) -> list[Json]:
    """The text, and the number, yes or no that it may stand for: which of them is meant, the tool's own schema says."""
    found: list[Json] = [value]
    if value in ("true", "false"):
        found.append(value == "true")
    with suppress(ConditionError):
        found.append(_number(value))
    return found


def _number(value: str) -> int | float:
    try:
        return int(value) if re.fullmatch(r"-?\d{1,15}", value) else _decimal(value)
    except ValueError as error:
        raise ConditionError(value) from error


def _decimal(value: str) -> float:
    if not re.fullmatch(r"-?\d{1,15}\.\d{1,15}", value):
        raise ValueError(value)
    return float(value)
