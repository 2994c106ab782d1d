"""Text from people and models: the one place that cleans it, and the one that makes hidden characters visible."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agentweb.schema.json_text import rebuild

_BAD = re.compile("[\x00\ud800-\udfff]")
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")

# Characters that show nothing although their category does not say so.
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
# Spaces that look like the ordinary one; the wide one of Chinese and Japanese text is ordinary there.
_SPACES = "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f"
_FORMATS = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
)
_FAR_FORMATS = (
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_HIDDEN = re.compile(
    f"\r(?!\n)|[{_CONTROLS}{_BLANKS}{_SELECTORS}{_SPACES}{_FORMATS}{_FAR_FORMATS}\ud800-\udfff\ue000-\uf8ff\ufff0-\ufff8]"
)
_TAG = range(0xE0000, 0xE0080)
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"

# Letters of other alphabets that are drawn like Latin ones.
_LOOK_ALIKE = (
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf"
    "\u03c1\u03c3\u03c5\u03f2\u03f3\u03f9\u0405\u0406\u0408\u0410\u0412\u0415\u0417\u041a\u041c\u041d\u041e\u0420\u0421\u0422"
    "\u0423\u0425\u0430\u0432\u0433\u0435\u043a\u043c\u043d\u043e\u043f\u0440\u0441\u0442\u0443\u0445\u044c\u0455\u0456\u0458"
    "\u0475\u04ae\u04af\u04bb\u04c0\u04cf\u0501\u050c\u051b\u051c\u051d\u0555\u0561\u0563\u0566\u0570\u0575\u0578\u057d\u0581"
    "\u0585\u13a0\u13a1\u13a2\u13aa\u13ab\u13b3\u13b7\u13bb\u13c0\u13c2\u13c3\u13da\u13de\u13df\u13e2\u1d00\u1d04\u1d0f\u2170"
    "\u217c\u217d\u217e\u0251\u0261\u0269\u2010\u2011\u2024\u2044\u2215\u2236\ua789"
    "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff"
)
_LETTER = re.compile(f"[{_LOOK_ALIKE}]")
# What can be one word or one address: letters, digits and the marks between them.
_TOKEN = re.compile(r"[^\s\x00-\x2c\x3b-\x3f\x5b-\x5e\x60\x7b-\x7e\u3000-\u303f]+")
# Its parts: a foreign name may well stand beside a Latin ending.
_LABEL = re.compile(r"[^./:@]+")
_LATIN = re.compile("[A-Za-z]")


@dataclass(frozen=True)
class Segment:
    """A piece of text. `text` is what to show, `source` the characters that it stands for.

    Plain pieces have no name. Marked ones have the character's name: `hidden` when nothing would be seen of it
    ("U+202E" is shown for it), not hidden when it is a letter of another alphabet that looks like a Latin one.
    """

    text: str
    name: str = ""
    hidden: bool = False
    source: str = ""


def visible(text: str) -> tuple[Segment, ...]:
    """The text in plain and marked segments; their sources together are the text, unchanged.

    A run of the same hidden character is one segment ("U+200B ×3"), and a run of tag characters one with the text that
    they spell. Line breaks, tabs and the joiners inside emoji stay plain.
    """
    marks = sorted([*_hidden(text), *_look_alikes(text)], key=lambda mark: mark[0])
    segments, done = [], 0
    for start, end, segment in marks:
        if start > done:
            segments.append(Segment(text[done:start], source=text[done:start]))
        segments.append(segment)
        done = end
    if done < len(text):
        segments.append(Segment(text[done:], source=text[done:]))
    return tuple(segments)


def has_marks(text: str) -> bool:
    """Whether anything in the text is hidden or looks like something else."""
    return any(True for _ in _hidden(text)) or any(True for _ in _look_alikes(text))


Mark = tuple[int, int, Segment]


def _hidden(text: str) -> Iterator[Mark]:
    done = 0
    for found in _HIDDEN.finditer(text) if not text.isascii() or _HIDDEN.search(text) else ():
        start = found.start()
        if start < done or _in_emoji(text, start):
            continue
        char = text[start]
        tags = ord(char) in _TAG
        done = start + 1
        while done < len(text) and (ord(text[done]) in _TAG if tags else text[done] == char):
            done += 1
        yield start, done, _segment(text[start:done], tags)


def _segment(run: str, tags: bool) -> Segment:
    code = f"U+{ord(run[0]):04X}"
    if len(run) == 1:
        return Segment(code, name_of(run), True, run)
    if not tags:
        return Segment(f"{code} ×{len(run)}", name_of(run[0]), True, run)
    spelled = "".join(chr(ord(char) - 0xE0000) for char in run if 0x20 <= ord(char) - 0xE0000 < 0x7F)
    return Segment(f"{code}…U+{ord(run[-1]):04X} {spelled}".rstrip(), "TAG CHARACTERS", True, run)


def _in_emoji(text: str, at: int) -> bool:
    """A joiner between two pictures, or the sign that asks for a picture, right after one."""
    if at == 0 or text[at] not in (_JOINER, _EMOJI_STYLE):
        return False
    before = text[at - 1]
    if text[at] == _EMOJI_STYLE:
        return unicodedata.category(before) == "So" or before in "#*0123456789©®‼⁉™↔↕↩↪"
    after = text[at + 1 : at + 2]
    picture_before = before == _EMOJI_STYLE or unicodedata.category(before) in ("So", "Sk")
    return picture_before and after != "" and unicodedata.category(after) == "So"


def _look_alikes(text: str) -> Iterator[Mark]:
    if text.isascii() or not _LETTER.search(text):
        return
    for token in _TOKEN.finditer(text):
        if not _LATIN.search(token[0]):
            continue
        for label in _LABEL.finditer(token[0]):
            if _pretends(label[0]):
                for found in _LETTER.finditer(label[0]):
                    start = token.start() + label.start() + found.start()
                    yield start, start + 1, Segment(found[0], name_of(found[0]), False, found[0])


def _pretends(label: str) -> bool:
    """Latin and look-alike letters mixed, or nothing but look-alikes; a plainly foreign word pretends nothing."""
    letters = [char for char in label if char.isalpha() and not char.isascii()]
    return _LATIN.search(label) is not None or all(_LETTER.match(char) for char in letters)


def name_of(char: str) -> str:
    """The character's name in Unicode, and for those without one what kind it is."""
    named = unicodedata.name(char, "")
    if named:
        return named
    if char in _CONTROL_NAMES:
        return _CONTROL_NAMES[char]
    kind = {"Cc": "CONTROL CHARACTER", "Co": "PRIVATE USE CHARACTER", "Cs": "HALF A CHARACTER"}
    return kind.get(unicodedata.category(char), "UNASSIGNED CHARACTER")


_CONTROL_NAMES = {
    "\x00": "NULL",
    "\x07": "BELL",
    "\x08": "BACKSPACE",
    "\x0b": "VERTICAL TABULATION",
    "\x0c": "FORM FEED",
    "\r": "CARRIAGE RETURN",
    "\x1b": "ESCAPE",
    "\x7f": "DELETE",
    "\x85": "NEXT LINE",
}


def clean(text: str) -> str:
    """The text without NUL, and with U+FFFD for each half character; all else stays as it is.

    Two halves that belong together become the character they mean. The result can always be stored and encoded.
    """
    if not _BAD.search(text):
        return text
    return _HALVES.sub(_mended, text.replace("\x00", ""))


def _mended(found: re.Match[str]) -> str:
    if len(found[0]) == 1:
        return "\ufffd"
    return found[0].encode("utf-16", "surrogatepass").decode("utf-16")


def clean_json(value: Any) -> Any:
    """A copy of a JSON value with every text and every name clean. Of equal names the later one counts."""
    return rebuild(
        value,
        leaf=lambda item: clean(item) if isinstance(item, str) else item,
        key=lambda name: clean(name) if isinstance(name, str) else name,
    )
