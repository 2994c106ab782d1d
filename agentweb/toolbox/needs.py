"""What a tool cannot do without, and not every site has: a tool that lacks it is offered to no agent."""

from enum import StrEnum


class Need(StrEnum):
    NONE = ""
    SANDBOX = "sandbox"
    SEARCH = "search"
    MAIL = "mail"
