"""Which addresses are of the public internet, and how inner servers are named that may be reached all the same."""

import pytest

from agentweb.toolbox.addresses import Allowed, is_public

PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8"]
INNER = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",  # behind a carrier's address translation
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",  # metadata of clouds
    "172.16.0.1",
    "192.0.0.8",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.251",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",  # an old form of 127.0.0.1
    "::ffff:127.0.0.1",
    "::ffff:0:7f00:1",
    "64:ff9b::7f00:1",  # what a gateway makes 127.0.0.1 of
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
]


@pytest.mark.parametrize(("address", "public"), [(a, True) for a in PUBLIC] + [(a, False) for a in INNER])
def test_only_addresses_that_anybody_can_reach_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(
    ("entry", "name", "address", "port", "named", "inside"),
    [
        ("wiki.inner", "wiki.inner", "10.0.0.1", 80, True, False),
        ("wiki.inner", "WIKI.inner.", "10.0.0.1", 8000, True, False),
        ("wiki.inner:8000", "wiki.inner", "10.0.0.1", 8000, True, False),
        ("wiki.inner:8000", "wiki.inner", "10.0.0.1", 80, False, False),
        ("wiki.inner", "evil.wiki.inner", "10.0.0.1", 80, False, False),
        ("10.0.5.0/24", "x", "10.0.5.9", 22, False, True),
        ("10.0.5.0/24", "x", "10.0.6.9", 22, False, False),
        ("10.0.5.7:8000", "x", "10.0.5.7", 8000, False, True),
        ("10.0.5.7:8000", "x", "10.0.5.7", 80, False, False),
        ("10.0.5.7:8000", "x", "::ffff:10.0.5.7", 8000, False, True),
        ("[fd00::7]:8000", "x", "fd00::7", 8000, False, True),
        ("fd00::/8", "x", "fd00::7", 443, False, True),
        ("fd00::/8", "x", "10.0.0.1", 443, False, False),
        (" ", "x", "10.0.0.1", 80, False, False),
    ],
)
def test_an_entry_allows_its_name_or_its_network_and_no_other(
    entry: str, name: str, address: str, port: int, named: bool, inside: bool
) -> None:
    allowed = Allowed.read([entry])
    assert (allowed.has_name(name, port), allowed.has_address(address, port)) == (named, inside)


@pytest.mark.parametrize(
    "entry", ["http://a.b", "a.b/c", "10.0.5.1/24", "10.0.5", "a.b:0", "a.b:99999", "[fd00::7", "*.inner", "a b"]
)
def test_an_entry_that_cannot_be_read_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match="^" + entry.replace("[", r"\[").replace("*", r"\*").replace(".", r"\.")):
        Allowed.read([entry])
