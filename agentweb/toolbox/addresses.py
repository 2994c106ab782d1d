"""Which addresses a request may go to: those of the public internet, and inner ones that the operator names."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

PORTS = (80, 443, 8080, 8443)
"""Where web servers of the internet listen; other services would take a request for something else."""

TRANSLATED = tuple(
    ipaddress.IPv6Network(each) for each in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "::/96", "::ffff:0:0:0/96")
)
"""Where an address stands for one of IPv4, which a gateway asks instead: it may be a private one."""

SPECIAL = tuple(
    ipaddress.ip_network(each)
    for each in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "3fff::/20", "5f00::/16", "fec0::/10")
)
"""Kept for other purposes; not every release of Python knows that."""

_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")


def is_public(address: str) -> bool:
    """Whether an IP address, perhaps with a zone, is one that anybody on the internet can reach."""
    known = plain(address)
    inside = any(known in network for network in (*TRANSLATED, *SPECIAL) if network.version == known.version)
    return known.is_global and not known.is_multicast and not inside


def plain(address: str) -> Address:
    """Without its zone, and as IPv4 where it only wraps that. Raises ValueError."""
    known = ipaddress.ip_address(address.partition("%")[0])
    return getattr(known, "ipv4_mapped", None) or known


@dataclass(frozen=True, slots=True)
class Allowed:
    """Inner servers that requests may go to: names, and networks, each with one port or (None) with any."""

    names: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[tuple[Network, int | None], ...] = field(default=())

    @classmethod
    def read(cls, entries: Iterable[str]) -> "Allowed":
        """From ``wiki.inner``, ``wiki.inner:8000``, ``10.0.5.0/24``, ``10.0.5.7:8000`` or ``[fd00::7]:8000``.

        Raises ValueError with the entry that cannot be read."""
        names: set[tuple[str, int | None]] = set()
        networks: list[tuple[Network, int | None]] = []
        for entry in filter(None, map(str.strip, entries)):
            where, port = _parts(entry)
            try:
                networks.append((ipaddress.ip_network(where), port))
            except ValueError:
                if "/" in where or where.rpartition(".")[2].isdecimal() or not _NAME.fullmatch(where):
                    raise ValueError(entry) from None
                names.add((where, port))
        return cls(frozenset(names), tuple(networks))

    def has_name(self, name: str, port: int) -> bool:
        """Whatever address the name has then."""
        known = name.lower().removesuffix(".")
        return (known, port) in self.names or (known, None) in self.names

    def has_address(self, address: str, port: int) -> bool:
        known = plain(address)
        return any(
            known.version == network.version and known in network and only in (None, port)
            for network, only in self.networks
        )


def _parts(entry: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"\[([^\]]+)\](?::(\d{1,5}))?|([^:\[\]]+):(\d{1,5})|([^\[\]]+)", entry.lower())
    if found is None:
        raise ValueError(entry)
    where, port = found[1] or found[3] or found[5], found[2] or found[4]
    if port and not 0 < int(port) < 65536:
        raise ValueError(entry)
    return where, int(port) if port else None


NOTHING_INNER = Allowed()
