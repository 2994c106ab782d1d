"""The rule that a record names, in the reader's language: the record is English, since decisions are bound to it."""

import re

from agentweb.policy.words import FIELDS, JOINTS, NARROWED, NO_RULE, RAISED, RISKS, ROLES, SAYS, UNSURE, Say

_FIXED = {
    text: text
    for table in (RISKS, ROLES, {key: text for key, text in NARROWED.items() if "%(" not in text})
    for text in table.values()
}
_NAMED = {NARROWED[key].partition(" %(")[0]: NARROWED[key] for key in ("agent", "team", "user")}
_CONDITION = NARROWED["condition"]


def _any(words: object) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))  # type: ignore[call-overload]


_JOINT = re.compile(f"; ({_any(JOINTS.values())})( |$|(?=;))")
_UNSURE = re.compile(rf" \({re.escape(UNSURE.partition('%')[0])}({_any(FIELDS.values())})\)$")
_ENDS = re.compile(rf" → ({_any(SAYS.values())})(?: ({_any(RAISED.values())}))?(?=\)|$)")
_PARTS = re.compile(
    rf" (?:(?P<fixed>{_any(_FIXED)})(?= |$)"
    rf"|(?P<which>{_any(_NAMED)}) (?P<name>.+?)(?= (?:{_any([*_FIXED, *_NAMED, 'where the arguments fit'])})|$)"
    rf"|{re.escape(_CONDITION.partition('%')[0])}(?P<schema>.+)$)"
)


def retold(recorded: str, say: Say) -> str:
    """What ``Ruling.recorded`` says, with each fixed piece translated. Names and unknown text stay."""
    pieces = _JOINT.split(recorded)  # a rule, then by turns a joint, its space, and the next rule
    told = [_rule(pieces[0], say)]
    for joint, space, rule in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        told.append(f"; {say(joint)}{space}{_rule(rule, say)}")
    return "".join(told)


def _rule(text: str, say: Say) -> str:
    if text.startswith(NO_RULE):
        return say(NO_RULE) + text.removeprefix(NO_RULE)
    unsure = _UNSURE.search(text)
    doubt = f" ({say(UNSURE) % {'field': say(unsure[1])}})" if unsure else ""
    text = text[: unsure.start()] if unsure else text
    ends = list(_ENDS.finditer(text))
    if not ends:
        return text.replace(FIELDS["rule"], say(FIELDS["rule"])) + doubt
    end = ends[-1]
    says = " ".join(say(each) for each in end.groups() if each)
    parts = _PARTS.sub(lambda found: f" {_part(found, say)}", text[: end.start()])
    return f"{parts} → {says}{text[end.end() :]}{doubt}"


def _part(found: re.Match[str], say: Say) -> str:
    if fixed := found["fixed"]:
        return say(fixed)
    if which := found["which"]:
        return say(_NAMED[which]) % {"name": found["name"]}
    return say(_CONDITION) % {"schema": found["schema"]}
