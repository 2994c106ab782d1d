"""The marks that structure an answer in lines of text, as models really write them, and whether one may be coming."""

import re
from dataclasses import dataclass
from enum import Enum, auto


class Mark(Enum):
    THOUGHT = auto()
    ACTION = auto()
    TOOL = auto()  # a line that names a tool in a less usual way; only an action when there is such a tool
    INPUT = auto()
    OBSERVATION = auto()
    RESULTS = auto()  # what some models call an observation, and others a heading of their answer
    ANSWER = auto()


class Unsettled(Enum):
    """The text may yet become a mark."""

    WAIT = auto()


@dataclass(frozen=True, slots=True)
class Found:
    """A mark at the start of a text; ``end`` is where what it marks begins. ``tag``: it is this tag, not a line."""

    mark: Mark
    end: int
    tag: str = ""


# In small letters, without blanks and joints.
_WORDS = {
    Mark.THOUGHT: ("thought", "thoughts", "thinking", "reasoning", "思考", "想法"),
    Mark.ACTION: ("action", "行动", "动作"),
    Mark.TOOL: ("tool", "toolname", "toolcall", "工具"),
    Mark.INPUT: (
        "actioninput",
        "actioninputs",
        "actionarguments",
        "actionargs",
        "toolinput",
        "toolarguments",
        "toolargs",
        "arguments",
        "parameters",
        "input",
        "行动输入",
        "动作输入",
        "输入",
        "参数",
    ),
    Mark.OBSERVATION: ("observation",),
    Mark.RESULTS: ("observations", "toolresult", "tooloutput", "观察", "观察结果"),
    Mark.ANSWER: ("finalanswer", "finalresponse", "最终答案", "最终回答", "最终答复"),
}
_MEANING = {word: mark for mark, words in _WORDS.items() for word in words}
_LONGEST = max(map(len, _MEANING))
_LONGEST_MARK = 100  # characters, with blanks and decoration
_TAGS = {
    Mark.THOUGHT: ("thought", "thinking", "think", "reasoning"),
    Mark.ACTION: ("tool_call", "tool", "action", "function_call"),
    Mark.OBSERVATION: ("observation", "tool_result", "tool_response"),
    Mark.ANSWER: ("answer", "final_answer"),
}
_TAG_MEANING = {tag: mark for mark, tags in _TAGS.items() for tag in tags}

_LEAD = re.compile(r"[ \t]*(?:[>#*_\-]+[ \t]*)*")
_HEADING = re.compile(r"[ \t]*(#|\*\*)")
_LABEL = re.compile(
    r"(?P<word>[A-Za-z][A-Za-z \t_\-]{0,23}|[\u4e00-\u9fff]{1,4})(?P<rest>[ \t]*#?\d{0,3}[ \t]*[*_]*[ \t]*)"
)
_COLON = re.compile(r"[:：][*_]*[ \t]*")
_TAG = re.compile(r"[ \t]*<([a-z_]{4,14})>[ \t]*")
_TAG_BEGUN = re.compile(r"[ \t]*<[a-z_]{0,14}\Z")
_JOINTS = re.compile(r"[ \t_\-]+")


def find_mark(text: str, *, final: bool) -> Found | Unsettled | None:
    """What mark stands at the start of ``text``, which is the start of a line. ``final``: nothing more will come."""
    tag = _TAG.match(text)
    if tag:
        return _settled(Found(mark, tag.end(), tag[1]), text, final) if (mark := _TAG_MEANING.get(tag[1])) else None
    begun = _TAG_BEGUN.match(text)
    if begun and not final and any(name.startswith(text.lstrip()[1:]) for name in _TAG_MEANING):
        return Unsettled.WAIT
    lead = _LEAD.match(text)
    at = lead.end() if lead else 0
    if at == len(text):
        return None if final or at > _LONGEST else Unsettled.WAIT
    label = _LABEL.match(text, at)
    word = _JOINTS.sub("", label["word"]).lower() if label else ""
    if label is None or not word:
        return None
    if label.end() == len(text) < _LONGEST_MARK and not final:
        return Unsettled.WAIT if _may_become(word, label["rest"].strip()) else None
    mark = _MEANING.get(word)
    if mark is None:
        return None
    colon = _COLON.match(text, label.end())
    if colon:
        return _settled(Found(mark, colon.end()), text, final)
    heading = _HEADING.match(text) and (label.end() == len(text) or text[label.end()] == "\n")
    return Found(mark, label.end()) if heading else None


def _settled(found: Found, text: str, final: bool) -> Found | Unsettled:
    """A mark at the very end of the text may have more to it, such as the end of bold type."""
    return Unsettled.WAIT if found.end == len(text) < _LONGEST_MARK and not final else found


def _may_become(word: str, rest: str) -> bool:
    if rest:
        return word in _MEANING
    return any(known.startswith(word) for known in _MEANING)
