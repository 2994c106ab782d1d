"""The terms on which people are asked, in words. `say` translates each fixed piece."""

from agentweb.engine.terms import Circle, Terms
from agentweb.policy.words import Say

WORDS = {
    "one": "an approval by %(who)s",
    "many": "%(count)s approvals by %(who)s",
    "all": " who are also among: ",
    "anyone": "whoever may write in the conversation, and admins of the team",
    "requester": "who asked",
    "group": "the group %(name)s",
    "later": "after %(count)s minutes also by %(who)s",
    "apart": "not by who asked",
    "minutes": "within %(count)s minutes",
}
ROLES = {"member": "members of the team", "admin": "admins of the team", "reviewer": "reviewers of the team"}
PIECES: tuple[str, ...] = (*WORDS.values(), *ROLES.values())
"""Every English piece that is translated where it is shown."""


def told(terms: Terms, say: Say = str) -> str:
    """Who approves, and until when: `2 approvals by admins of the team; within 30 minutes`."""
    who = say(WORDS["all"]).join(people(circle, say) for circle in terms.circles) or say(WORDS["anyone"])
    found = [say(WORDS["many" if terms.needed > 1 else "one"]) % {"count": terms.needed, "who": who}]
    for later in (circle.later for circle in terms.circles if circle.later):
        who = people(Circle(False, later.role, later.group, later.people), say)
        found.append(say(WORDS["later"]) % {"count": later.minutes, "who": who})
    if terms.apart:
        found.append(say(WORDS["apart"]))
    if terms.wait_minutes:
        found.append(say(WORDS["minutes"]) % {"count": terms.wait_minutes})
    return "; ".join(found)


def people(circle: Circle, say: Say = str) -> str:
    """Those whom a circle means."""
    found = [say(WORDS["requester"])] if circle.requester else []
    if circle.role:
        found.append(say(ROLES.get(circle.role, circle.role)))
    if circle.group:
        found.append(say(WORDS["group"]) % {"name": circle.group.name})
    return ", ".join([*found, *(one.name for one in circle.people)]) or say(WORDS["anyone"])
