"""What an action says that stands in lines of text: which tool, with which arguments, in any spelling that is clear."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentweb.engine.messages import Json
from agentweb.llm.arguments import Arguments, parse_arguments, split_values
from agentweb.llm.protocols.offered import Offered

NAME_KEYS = ("action", "tool", "tool_name", "action_name", "name", "function")
ARGUMENT_KEYS = (
    "action_input",
    "arguments",
    "args",
    "parameters",
    "params",
    "tool_input",
    "tool_args",
    "tool_arguments",
    "input",
)
FINAL = frozenset({"finalanswer", "final", "finish", "answer"})
_NOTHING = frozenset({"", "none", "null", "n/a", "no input", "()", "无"})
_FENCES = re.compile(r"^[ \t]*`{3,}[\w+-]*[ \t]*$", re.MULTILINE)
_INLINE_INPUT = re.compile(r"[\s,;]action[ _]?input[ \t]*[:：]", re.IGNORECASE)
_APPLIED = re.compile(r"(?P<name>[^\s(\[{]{1,80})\s*(?P<open>[(\[])(?P<inner>.*)[)\]]\s*\Z", re.DOTALL)
_TAGGED = re.compile(r"<(?P<tag>[a-z_]{4,20})>(?P<body>.*?)(?:</(?P=tag)>|\Z)", re.DOTALL)
_QUOTES = "`*\"' \t\r\n.:：,;"


@dataclass(frozen=True, slots=True)
class Action:
    """``name`` as the model wrote it; ``raw`` is the text of its arguments. ``final``: it is no call but the answer."""

    name: str
    raw: str
    final: bool = False


def read_block(text: str) -> Action | None:
    """An object that names a tool, or the final answer; None for any other text."""
    try:
        return from_object(json.loads(split_values(text.strip())[0], strict=False))
    except (ValueError, RecursionError):
        return None


def is_call(text: str, offered: Offered) -> bool:
    """Whether an object that nothing announces is a call, and not data that people asked for."""
    action = read_block(text)
    if action is None:
        return False
    known = action.final or offered.find(action.name) is not None
    told = any(f'"{key}"' in text for key in (*ARGUMENT_KEYS, "action"))
    return (known and told) or ('"action"' in text and '"action_input"' in text)


def from_object(value: Json) -> Action | None:
    if not isinstance(value, Mapping):
        return None
    name = next((value[key] for key in NAME_KEYS if key in value), None)
    arguments: Any = next((value[key] for key in ARGUMENT_KEYS if key in value), None)
    if isinstance(name, Mapping):  # {"function": {"name": …, "arguments": …}}
        return from_object(name)
    if not isinstance(name, str) or not name.strip():
        return None
    raw = (
        arguments
        if isinstance(arguments, str)
        else ""
        if arguments is None
        else json.dumps(arguments, ensure_ascii=False)
    )
    return Action(name.strip(), raw, final=is_final(name))


def is_final(name: str) -> bool:
    return re.sub(r"[\s_\-]+", "", name).lower().strip(_QUOTES) in FINAL


def read_labelled(head: str, given: str | None) -> Action | None:
    """``head`` stands behind the mark of the action, ``given`` behind that of its input, if there is one."""
    head = _FENCES.sub("", head).strip()
    if given is None and (inline := _INLINE_INPUT.search(head)):
        head, given = head[: inline.start()], head[inline.end() :]
    if given is None:
        return read_block(head) or _applied(head)
    name, given = head.strip(_QUOTES), _FENCES.sub("", given).strip()
    if given.startswith("`{") and given.endswith("`"):
        given = given.strip("`")
    return Action(name, given, final=is_final(name)) if name else read_block(given)


def _applied(head: str) -> Action | None:
    """``name {"a": 1}``, ``name({"a": 1})``, ``name[text]``, or the bare name."""
    if head.startswith("{"):
        return None
    brace = head.find("{")
    before = head[:brace].rstrip("( \t\r\n") if brace > 0 else ""
    if before and not re.search(r"\s", before.strip(_QUOTES)):
        name = before.strip(_QUOTES)
        return Action(name, head[brace:].rstrip().removesuffix(")") if "(" in head[:brace] else head[brace:])
    applied = _APPLIED.match(head)
    if applied:
        return Action(applied["name"].strip(_QUOTES), applied["inner"].strip(), final=is_final(applied["name"]))
    name = (head.splitlines() or [""])[0].strip(_QUOTES)
    return Action(name, "", final=is_final(name)) if name else None


def read_tagged(text: str) -> Action | None:
    """``<tool_call>{…}</tool_call>`` with an object in it, or ``<tool>name</tool>`` with a block of input behind it."""
    blocks = list(_TAGGED.finditer(text))
    if not blocks:
        return None
    body = _FENCES.sub("", blocks[0]["body"]).strip()
    found = read_block(body)
    if found:
        return found
    if len(blocks) > 1:
        name = body.strip(_QUOTES)
        return Action(name, _FENCES.sub("", blocks[1]["body"]).strip(), final=is_final(name)) if name else None
    rest = text[blocks[0].end() :].strip()
    return _applied(f"{body} {rest}" if rest.startswith("{") else body)


def arguments_of(action: Action, offered: Offered, *, cut_off: bool) -> Arguments:
    """The arguments, never completed by guessing. A plain text stands for the only parameter of a tool that takes one
    text, a word for nothing is nothing where a tool takes nothing."""
    true = offered.find(action.name) or action.name
    raw = action.raw.strip()
    if offered.takes_nothing(true) and raw.lower().strip(_QUOTES) in _NOTHING:
        return parse_arguments("", cut_off=cut_off)
    if raw.startswith(("{", "[")) or (raw.startswith('"') and _unquoted(raw).lstrip().startswith("{")):
        return parse_arguments(split_values(raw)[0], cut_off=cut_off)
    only = offered.only_text(true)
    if only and raw and not cut_off:
        return parse_arguments(json.dumps({only: _unquoted(raw)}, ensure_ascii=False), cut_off=False)
    return parse_arguments(raw, cut_off=cut_off)


def _unquoted(raw: str) -> str:
    if len(raw) > 1 and raw[0] == raw[-1] == '"':
        try:
            value = json.loads(raw, strict=False)
        except ValueError:
            return raw
        return value if isinstance(value, str) else raw
    return raw
