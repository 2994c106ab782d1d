"""Every address of the site, and what it takes to get through. A new address fails the test until it is here."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Needs(Enum):
    """What a person must be, or be allowed in the conversation."""

    NOTHING = "nothing"
    SIGN_IN = "a signed-in person"
    SEE = "may see the conversation"
    WRITE = "may write in it"
    MANAGE = "owner or admin"
    DECIDE = "may decide about its calls"
    REVIEW = "reviewer or admin of the team"
    ADMIN = "admin of the team"
    STAFF = "may use the admin"


ROLES = ("owner", "member", "admin", "reviewer", "stranger", "anonymous")
EVERYONE = frozenset(ROLES)
TEAM = EVERYONE - {"stranger", "anonymous"}
SEES = {"private": TEAM - {"member"}, "team": TEAM}
ALLOWED = {
    Needs.NOTHING: {"private": EVERYONE, "team": EVERYONE},
    Needs.SIGN_IN: {"private": EVERYONE - {"anonymous"}, "team": EVERYONE - {"anonymous"}},
    Needs.SEE: SEES,
    Needs.WRITE: {"private": {"owner"}, "team": {"owner", "member", "admin"}},
    Needs.MANAGE: {"private": {"owner", "admin"}, "team": {"owner", "admin"}},
    Needs.DECIDE: {"private": {"owner", "admin"}, "team": {"owner", "member", "admin"}},
    Needs.REVIEW: {"private": {"admin", "reviewer"}, "team": {"admin", "reviewer"}},
    Needs.ADMIN: {"private": {"admin"}, "team": {"admin"}},
}
HIDDEN = {Needs.REVIEW, Needs.ADMIN}  # others are not even told that the page is there


@dataclass(frozen=True, slots=True)
class Row:
    """One address: the route as the site declares it, the method, and a body that would be accepted."""

    route: str
    method: str
    needs: Needs
    body: dict[str, Any] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)  # placeholder -> name in the world, where it is not obvious

    def __str__(self) -> str:
        return f"{self.method} {self.route}"


DECISION = {"decision": "reject", "digest": "digest", "comment": "no"}
TEXT = {"text": "Hello"}
RESOLUTION = {"outcome": "not_done"}

PAGES = [
    Row("accounts/login/", "GET", Needs.NOTHING),
    Row("accounts/logout/", "GET", Needs.SIGN_IN),
    Row("theme/", "POST", Needs.NOTHING, {"theme": "dark"}),
    Row("i18n/setlang/", "POST", Needs.NOTHING, {"language": "en"}),
    Row("health/live", "GET", Needs.NOTHING),
    Row("health/ready", "GET", Needs.NOTHING),
    Row("", "GET", Needs.SIGN_IN),
    Row("c/", "POST", Needs.SIGN_IN, {"agent": "nonsense"}),
    Row("c/list", "GET", Needs.SIGN_IN),
    Row("approvals/", "GET", Needs.SIGN_IN),
    Row("approvals/count", "GET", Needs.SIGN_IN),
    Row("approvals/mail", "POST", Needs.SIGN_IN),
    Row("approvals/pulse", "POST", Needs.SIGN_IN),
    Row("approvals/together/<tool>", "GET", Needs.SIGN_IN),
    Row("approvals/together/<tool>/decide", "POST", Needs.SIGN_IN),
    Row("c/<conversation>/", "GET", Needs.SEE),
    Row("c/<conversation>/messages", "GET", Needs.SEE),
    Row("c/<conversation>/grants", "GET", Needs.SEE),
    Row("c/<conversation>/export.md", "GET", Needs.SEE),
    Row("c/<conversation>/export.json", "GET", Needs.SEE),
    Row("c/<conversation>/files", "GET", Needs.SEE),
    Row("c/<conversation>/files/<path>", "GET", Needs.SEE),
    Row("c/<conversation>/send", "POST", Needs.WRITE, TEXT),
    Row("c/<conversation>/rename", "POST", Needs.MANAGE, {"title": "New"}),
    Row("c/<conversation>/share", "POST", Needs.MANAGE, {"visibility": "team"}),
    Row("c/<conversation>/archive", "POST", Needs.MANAGE),
    Row("c/<conversation>/delete", "POST", Needs.MANAGE),
    Row("cards/message/<message>", "GET", Needs.SEE),
    Row("cards/call/<call>", "GET", Needs.SEE),
    Row("cards/run/<run>", "GET", Needs.SEE),
    Row("cards/question/<question>", "GET", Needs.SEE),
    Row("questions/<question>/decide", "POST", Needs.DECIDE, {"decision": "approve", "digest": "digest"}),
    Row("calls/<call>/result", "GET", Needs.SEE),
    Row("calls/<call>/resolution", "POST", Needs.DECIDE, RESOLUTION),
    Row("calls/<call>/supply", "POST", Needs.DECIDE, {"content": "5"}),
    Row("calls/<call>/undo", "POST", Needs.WRITE),
    Row("runs/<run>/spent", "GET", Needs.SEE),
    Row("runs/<run>/resume", "POST", Needs.DECIDE),
    Row("runs/<run>/clear", "POST", Needs.DECIDE),
    Row("runs/<run>/cancel", "POST", Needs.MANAGE),
    Row("runs/<run>/stop", "POST", Needs.MANAGE, {"after": "acting"}),
    Row("runs/<run>/continue", "POST", Needs.WRITE, {"turns": "5"}),
    Row("runs/<run>/retry", "POST", Needs.WRITE),
    Row("runs/<run>/queue/<queued>/edit", "POST", Needs.WRITE, TEXT),
    Row("runs/<run>/queue/<queued>/next", "POST", Needs.WRITE),
    Row("runs/<run>/queue/<queued>/remove", "POST", Needs.WRITE),
    Row("approvals/<approval>/decide", "POST", Needs.DECIDE, DECISION),
    Row("approvals/<approval>/look", "POST", Needs.DECIDE),
    Row("approvals/<approval>/modify", "GET", Needs.DECIDE),
    Row("approvals/<approval>/remember", "GET", Needs.DECIDE),
    Row("approvals/<approval>/delegate", "GET", Needs.DECIDE),
    Row("grants/", "GET", Needs.SIGN_IN),
    Row("halts/", "GET", Needs.ADMIN),
    Row("halts/", "POST", Needs.ADMIN, {"what": "nonsense"}),
    Row("halts/<halt>/lift", "POST", Needs.ADMIN),
    Row("grants/<grant>/revoke", "POST", Needs.DECIDE),
    Row("audit/", "GET", Needs.REVIEW),
    Row("audit/runs/<run>/", "GET", Needs.REVIEW),
    Row("audit/runs/<run>/requests/<request>", "GET", Needs.REVIEW),
]

API = [
    Row("api/v1/health/live", "GET", Needs.NOTHING),
    Row("api/v1/health/ready", "GET", Needs.NOTHING),
    Row("api/v1/docs", "GET", Needs.NOTHING),
    Row("api/v1/openapi.json", "GET", Needs.NOTHING),
    Row("api/v1/agents", "GET", Needs.SIGN_IN),
    Row("api/v1/conversations", "POST", Needs.SIGN_IN, {"agent": "nonsense"}),
    Row("api/v1/conversations", "GET", Needs.SIGN_IN),
    Row("api/v1/conversations/<conversation>", "GET", Needs.SEE),
    Row("api/v1/conversations/<conversation>/messages", "GET", Needs.SEE),
    Row("api/v1/conversations/<conversation>/messages", "POST", Needs.WRITE, TEXT),
    Row("api/v1/conversations/<conversation>/files", "GET", Needs.SEE),
    Row("api/v1/conversations/<conversation>/files/<path>", "GET", Needs.SEE),
    Row("api/v1/conversations/<conversation>/files/<path>", "PUT", Needs.WRITE),
    Row("api/v1/conversations/<conversation>/files/<path>", "DELETE", Needs.WRITE),
    Row("api/v1/runs/<run>", "GET", Needs.SEE),
    Row("api/v1/runs/<run>/events", "GET", Needs.SEE),
    Row("api/v1/runs/<run>/calls", "GET", Needs.SEE),
    Row("api/v1/runs/<run>/calls/<call>/resolution", "POST", Needs.DECIDE, RESOLUTION),
    Row("api/v1/runs/<run>/calls/<call>/undo", "POST", Needs.WRITE),
    Row("api/v1/answers/<token>", "POST", Needs.NOTHING),
    Row("api/v1/runs/<run>/continue", "POST", Needs.WRITE, {"turns": 5}),
    Row("api/v1/runs/<run>/results", "POST", Needs.DECIDE, {"results": [{"call": "c", "content": "5"}]}),
    Row("api/v1/runs/<run>/resume", "POST", Needs.DECIDE),
    Row("api/v1/conversations/<conversation>/untrusted", "GET", Needs.SEE),
    Row("api/v1/conversations/<conversation>/untrusted", "DELETE", Needs.DECIDE),
    Row("api/v1/runs/<run>/cancel", "POST", Needs.MANAGE),
    Row("api/v1/runs/<run>/stop", "POST", Needs.MANAGE, {"after": "acting"}),
    Row("api/v1/runs/<run>/queue", "GET", Needs.SEE),
    Row("api/v1/runs/<run>/queue/<queued>", "PATCH", Needs.WRITE, TEXT),
    Row("api/v1/runs/<run>/queue/<queued>", "DELETE", Needs.WRITE),
    Row("api/v1/halts", "GET", Needs.ADMIN),
    Row("api/v1/halts", "POST", Needs.ADMIN, {"kind": "all", "reason": "test", "agent": "nonsense"}),
    Row("api/v1/halts/<halt>/lift", "POST", Needs.ADMIN),
    Row("api/v1/approvals", "GET", Needs.SIGN_IN),
    Row("api/v1/approvals/<approval>", "GET", Needs.SEE),
    Row("api/v1/conversations/<conversation>/grants", "GET", Needs.SEE),
    Row("api/v1/grants/<grant>", "DELETE", Needs.DECIDE),
    Row("api/v1/approvals/<approval>/decision", "POST", Needs.DECIDE, DECISION),
    Row("api/v1/approvals/<approval>/delegation", "POST", Needs.DECIDE, {"to": "reviewer"}),
]

SOCKETS = [Row("ws/conversations/<conversation>/", "CONNECT", Needs.SEE)]
