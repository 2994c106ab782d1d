"""The terms on which people are asked about a call."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Named:
    """A person, a group, an agent or a team: the row id that is compared, and the name for people."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Later:
    """Who may decide as well, when after so many minutes nobody has. ``role`` as of a circle."""

    minutes: int
    role: str = ""
    group: Named | None = None
    people: tuple[Named, ...] = ()

    @property
    def names_anyone(self) -> bool:
        return bool(self.role) or self.group is not None or bool(self.people)


@dataclass(frozen=True, slots=True)
class Circle:
    """People one of whom is as good as another: everybody whom any of these means. Of nobody in particular: whoever
    may write in the conversation, and the admins of its team. ``role`` is one in that team. ``later`` others, too."""

    requester: bool = False
    role: str = ""
    group: Named | None = None
    people: tuple[Named, ...] = ()
    later: Later | None = None

    @property
    def names_anyone(self) -> bool:
        return self.requester or bool(self.role) or self.group is not None or bool(self.people)


@dataclass(frozen=True, slots=True)
class Terms:
    """``wait_minutes``: so long people may decide, then the call is not run; 0: for ever. Who decides must belong to
    each of the ``circles``. So many different people are ``needed`` to approve. ``apart``: who asked for the run may
    not approve."""

    wait_minutes: int = 0
    circles: tuple[Circle, ...] = ()
    needed: int = 1
    apart: bool = False

    @property
    def choose_people(self) -> bool:
        """Whether not just anybody with rights may decide, alone."""
        return bool(self.circles) or self.needed > 1 or self.apart


@dataclass(frozen=True, slots=True)
class Consent:
    """One of several people who had to approve. ``at`` is a moment as ISO 8601 text in UTC."""

    by: str
    at: str
    comment: str = ""
