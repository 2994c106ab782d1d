"""What is wrong with a value or a schema, in words that a page can translate.

A problem's sentence is made from its keyword and its parameters, so another layer can make it again in another
language: `render(problem.keyword, problem.params, gettext)`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_PLAIN_NAME = re.compile(r"[^\s.\[\]\"'\\]+")
_LISTED = 12


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    `path` is for reading ("tags[1]", "meta.k", "" for the whole); `at` is the same in steps, for finding the field.
    """

    path: str
    message: str
    keyword: str
    params: Mapping[str, Any] = field(default_factory=dict)
    at: tuple[str | int, ...] = ()


MESSAGES: dict[str, str] = {
    # About a value, by the schema keyword that it breaks
    "type": "Must be %(expected)s, not %(actual)s.",
    "required": "“%(name)s” is required.",
    "dependentRequired": "“%(name)s” is required when “%(other)s” is given.",
    "enum": "Must be one of: %(allowed)s.",
    "const": "Must be exactly %(allowed)s.",
    "format": "Must be %(expected)s.",
    "format.other": "Must have the format “%(format)s”.",
    "format.length": "Too long to be checked as “%(format)s”: at most %(limit)s characters.",
    "pattern": "Must match the pattern %(pattern)s.",
    "pattern.length": "Too long to be checked against the pattern: at most %(limit)s characters.",
    "minLength": "Length must be at least %(limit)s, but is %(actual)s.",
    "maxLength": "Length must be at most %(limit)s, but is %(actual)s.",
    "minimum": "Must be %(limit)s or more.",
    "maximum": "Must be %(limit)s or less.",
    "exclusiveMinimum": "Must be more than %(limit)s.",
    "exclusiveMaximum": "Must be less than %(limit)s.",
    "multipleOf": "Must be a multiple of %(limit)s.",
    "minItems": "Number of entries must be at least %(limit)s, but is %(actual)s.",
    "maxItems": "Number of entries must be at most %(limit)s, but is %(actual)s.",
    "uniqueItems": "No entry may occur twice.",
    "contains": "No entry is of the kind that must be in the list.",
    "minContains": "Too few entries of the kind that must be in the list: at least %(limit)s.",
    "maxContains": "Too many entries of one kind: at most %(limit)s.",
    "minProperties": "Number of fields must be at least %(limit)s, but is %(actual)s.",
    "maxProperties": "Number of fields must be at most %(limit)s, but is %(actual)s.",
    "additionalProperties": "“%(name)s” is not a known field.",
    "propertyNames": "A field has a name that is not allowed.",
    "unevaluatedProperties": "Has fields that are not allowed.",
    "unevaluatedItems": "Has entries that are not allowed.",
    "items": "Has more entries than allowed.",
    "anyOf": "Fits none of the allowed forms.",
    "oneOf": "Must fit exactly one of the allowed forms.",
    "oneOf.many": "Fits more than one of the forms of which it may have only one.",
    "not": "Has a form that is not allowed.",
    "false": "No value is allowed here.",
    "other": "Breaks the rule “%(keyword)s”.",
    # About effort
    "effort": "Too large to be checked against this schema.",
    "schema": "The description of what is allowed cannot be used: %(reason)s",
    # About JSON
    "json.value": "Not valid JSON: a value was expected at line %(line)s, column %(column)s.",
    "json.comma": "Not valid JSON: a comma or a closing bracket is missing at line %(line)s, column %(column)s.",
    "json.colon": "Not valid JSON: a colon is missing at line %(line)s, column %(column)s.",
    "json.name": "Not valid JSON: a name in double quotes was expected at line %(line)s, column %(column)s.",
    "json.trailing_comma": "Not valid JSON: a comma too many at line %(line)s, column %(column)s.",
    "json.open_text": "Not valid JSON: the text that begins at line %(line)s, column %(column)s has no closing quote.",
    "json.control": "Not valid JSON: a line break or control character in a text at line %(line)s, column %(column)s.",
    "json.escape": "Not valid JSON: an unknown backslash sequence at line %(line)s, column %(column)s.",
    "json.extra": "Not valid JSON: something follows the end of the value at line %(line)s, column %(column)s.",
    "json.depth": "Nested too deeply: at most %(limit)s levels are allowed.",
    "json.size": "Too large: at most %(limit)s values are allowed.",
    "json.constant": "%(name)s is not a number in JSON.",
    "json.number_size": "A number is too large.",
    "json.key": "Names in an object must be text.",
    "json.not_json": "A value of the kind %(name)s cannot be written as JSON.",
    # About what was typed into a form
    "form.integer": "Enter a whole number.",
    "form.number": "Enter a number, with a point for decimals.",
    "form.boolean": "Choose true or false.",
    "form.choice": "Choose one of the offered values.",
    "form.object": "Enter a JSON object.",
    "form.described": "“%(name)s” has a field of its own.",
    # About a schema
    "schema.object": "The schema must be a JSON object.",
    "schema.top": "The schema must describe an object: “type” must be “object”.",
    "schema.draft": "“%(name)s” is not a version of JSON Schema that is known here.",
    "schema.nested_draft": "“%(name)s” is only allowed at the top of a schema.",
    "schema.chars": "The schema is too large: at most %(limit)s characters.",
    "schema.invalid": "Not a valid value for “%(name)s” in a schema.",
    "schema.ref_remote": "Only references inside the same schema are allowed, which begin with #.",
    "schema.ref_missing": "The reference %(name)s leads nowhere.",
    "schema.ref_endless": "The reference leads back to itself without end.",
    "schema.ref_dynamic": "“%(name)s” is not supported.",
    "pattern.syntax": "The pattern cannot be read.",
    "pattern.chars": "The pattern is too long: at most %(limit)s characters.",
    "pattern.complex": "The pattern is too complex.",
    "pattern.slow": "The pattern could take endless time on some texts; make its repetitions unambiguous.",
    "pattern.feature": "The pattern uses what is not supported here (references back, look-around in a repetition).",
}
"""English sentence by keyword; a translating layer wraps exactly these."""

TYPE_WORDS: dict[str, str] = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "decimal": "a number with decimals",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
"""English words by JSON type; `decimal` is for a number where a whole one is due."""

FORMAT_WORDS: dict[str, str] = {
    "date": "a date like 2026-01-31",
    "date-time": "a date and time like 2026-01-31T09:30:00Z",
    "time": "a time like 09:30:00Z",
    "duration": "a duration like P1DT2H",
    "email": "an e-mail address",
    "idn-email": "an e-mail address",
    "hostname": "a host name",
    "idn-hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "uri": "a complete web address",
    "uri-reference": "a web address",
    "iri": "a complete web address",
    "iri-reference": "a web address",
    "uuid": "a UUID",
    "regex": "a regular expression",
}
"""English words by format; others use the sentence `format.other`."""

OR = " or "


def render(keyword: str, params: Mapping[str, Any], say: Callable[[str], str] = str) -> str:
    """The sentence of a problem, each fixed piece of it passed through `say` (such as gettext)."""
    words = dict(params)
    if keyword == "type":
        words["expected"] = say(OR).join(say(TYPE_WORDS.get(name, name)) for name in params["expected"])
        words["actual"] = say(TYPE_WORDS.get(params["actual"], params["actual"]))
    elif keyword == "format":
        words["expected"] = say(FORMAT_WORDS[params["format"]])
    elif keyword == "enum":
        words["allowed"] = ", ".join(params["allowed"][:_LISTED]) + (", …" if len(params["allowed"]) > _LISTED else "")
    elif keyword == "schema":
        words["reason"] = render(params["keyword"], params["params"], say)
    return say(MESSAGES[keyword]) % words


def problem(keyword: str, at: Iterable[str | int] = (), /, **params: Any) -> Problem:
    """A problem with its sentence made. `params` hold short text, numbers and tuples of text only."""
    steps = tuple(at)
    return Problem(path_text(steps), render(keyword, params), keyword, params, steps)


def path_text(steps: Iterable[str | int]) -> str:
    """Steps as people read them: tags[1], meta.k, and ["a b"] for names that would be misread."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step) and len(step) <= 200:
            text += f".{step}" if text else step
        else:
            escaped = step[:200].replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{escaped}"]'
    return text


def summary(problems: Iterable[Problem], limit: int = 20) -> str:
    """All problems as lines "path: sentence", for a model or a log."""
    found = list(problems)
    lines = [f"{each.path}: {each.message}" if each.path else each.message for each in found[:limit]]
    return "\n".join([*lines, "…"] if len(found) > limit else lines)
