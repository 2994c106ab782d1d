"""Characters that people do not see: refused in file names, made visible in what a model reads."""

import re

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_BLANK = "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
_TAGS = "\U000e0000-\U000e0fff"  # tag characters and the variation selectors that can carry text
_JOINERS = "\u200c\u200d"

_IN_NAMES = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_BIDI}{_BLANK}{_TAGS}{_JOINERS}]")

# Flags of regions are written with tag characters, and joiners belong to emoji and to several scripts: both stay
# where they mean something, so a joiner is shown only beside an ASCII character or another joiner.
_FLAG = "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f"
_STRAY_JOINER = f"(?<=[\x00-\x7f{_JOINERS}])[{_JOINERS}]|[{_JOINERS}](?=[\x00-\x7f{_JOINERS}]|\\Z)"
_SELECTOR_RUN = "(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
_SHOWN = re.compile(f"({_FLAG})|[{_BIDI}{_BLANK}{_TAGS}]|{_STRAY_JOINER}|{_SELECTOR_RUN}")


def first_in_name(name: str) -> str:
    """The code point (``U+200B``) of the first character that no file name may hold, or an empty string."""
    found = _IN_NAMES.search(name)
    return _code_point(found[0]) if found else ""


def reveal(text: str) -> tuple[str, int]:
    """The text with each hidden character written as ``<U+200B>``, and how many there were."""
    if text.isascii():
        return text, 0
    count = 0

    def show(found: re.Match[str]) -> str:
        nonlocal count
        if found[1]:
            return found[1]
        count += 1
        return f"<{_code_point(found[0])}>"

    return _SHOWN.sub(show, text), count


def _code_point(character: str) -> str:
    return f"U+{ord(character):04X}"
