"""Takes secrets out of what is written to a log: those that this process knows, and all that looks like one.

It would rather remove a harmless word than keep a key: who needs the value has it elsewhere.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

REMOVED = "[removed]"
SHORTEST = 6  # characters; a shorter secret would blank out ordinary words
MOST_CHARACTERS = 100_000  # of one text; what is longer is cut before it is searched

# `tokens` counts and is no secret; `token` is one.
_NAME = (
    r"(?:api[_-]?key|secret|passw(?:or)?d|passphrase|authori[sz]ation|cookie|credential|token(?!s)|csrf\w*token"
    r"|session[_-]?(?:id|key)|private[_-]?key)"
)
_NAMES = re.compile(_NAME, re.IGNORECASE)
_SHAPES = (
    # keys as their issuers mark them, our own tokens, JSON web tokens
    (re.compile(r"\b(?:sk|rk|pk|gsk|xai|hf|gh[pousr]|github_pat|pplx|nvapi|aw)[-_][\w-]{8,}"), REMOVED),
    (re.compile(r"\bAIza[\w-]{20,}|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"), REMOVED),
    (re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]{6,}", re.IGNORECASE), rf"\1 {REMOVED}"),
    # the address at which a program answers a call: whoever has it may answer
    (re.compile(r"(/answers/)[\w:.=-]{10,}"), rf"\1{REMOVED}"),
    # user:password@ in an address
    (re.compile(r"(\b\w{2,20}://[^\s/:@]{0,200}):[^\s/@]{1,500}@"), rf"\1:{REMOVED}@"),
    # a header that holds several values: the rest of its line
    (
        re.compile(r"((?:set-)?cookie|(?:proxy-)?authori[sz]ation)(\s*[:=]\s*)(?![\"'{\[])[^\r\n]+", re.IGNORECASE),
        rf"\1\2{REMOVED}",
    ),
    # "name": "value", name='value', "name": ['value'], (b"name", b"value")
    (
        re.compile(rf"({_NAME}[\w-]{{0,40}}[\"']?\s*(?:=>|[:=,])\s*[\[(]?b?)([\"'])(?:\\.|(?!\2).)*\2", re.IGNORECASE),
        rf"\1\2{REMOVED}\2",
    ),
    # name=value
    (
        re.compile(rf"({_NAME}[\w-]{{0,40}}[\"']?\s*[:=]\s*)(?!\[?[\"']|\[removed)[^\s,;&\"'<>)}}\]]+", re.IGNORECASE),
        rf"\1{REMOVED}",
    ),
)


def text_without(text: str, known: Iterable[str] = ()) -> str:
    """``text`` without the known secrets and without anything that looks like one."""
    for secret in sorted({each for each in known if len(each) >= SHORTEST}, key=len, reverse=True):
        text = text.replace(secret, REMOVED)
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text


def value_without(value: Any, known: Iterable[str] = (), name: str = "") -> Any:
    """The same for a value of any depth. What stands under a name that speaks of a secret goes as a whole; what is
    neither text, number nor a collection of them becomes text."""
    if name and _NAMES.search(name):
        return REMOVED
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): value_without(each, known, str(key)) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [value_without(each, known) for each in value]
    return text_without(value if isinstance(value, str) else repr(value), known)
