"""No request of a tool reaches a server inside, whatever addresses, names, redirects and DNS servers say."""

import asyncio
import gzip
from collections.abc import Sequence

import pytest

from agentweb.engine.outside import HttpAnswer, HttpRequest
from agentweb.toolbox.addresses import NOTHING_INNER, Allowed
from agentweb.toolbox.guarded_http import GuardedHttp, HttpFailed, HttpRefused
from tests.toolbox.web_server import moved, page_of, serving

SECRET = "sk-never-shown-0123456789"


class Names:
    """A DNS server: each look at a name takes the next of its answers, the last one stays."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(given) for name, given in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self._answers.get(host)
        if not answers:
            raise OSError("no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]


async def refusal(url: str, allowed: Allowed = NOTHING_INNER, names: Names | None = None) -> str:
    with pytest.raises(HttpRefused) as refused:
        await GuardedHttp(allowed, names or Names()).send(HttpRequest(url))
    assert SECRET not in str(refused.value)
    return str(refused.value)


async def get(url: str, allowed: Allowed, names: Names | None = None, **options: object) -> HttpAnswer:
    return await GuardedHttp(allowed, names or Names()).send(HttpRequest(url, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
        "100.64.0.1",
        "10.0.0.1:22",
        "0.0.0.0",
        "[ff02::1]",
        "127。0。0。1",
        "①②⑦.0.0.1",
    ],
)
async def test_an_inner_address_is_refused_in_every_form(host: str) -> None:
    assert "not on the public internet" in await refusal(f"http://{host}/?key={SECRET}")


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "1.1.1.1.1", "⒈.1"])
async def test_a_number_that_systems_read_as_an_address_is_refused(host: str) -> None:
    assert "is no name of a server" in await refusal(f"http://{host}/")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://example.org/", "must begin with http"),
        ("file:///etc/passwd", "must begin with http"),
        ("//example.org/", "must begin with http"),
        ("http:///path", "names no server"),
        ("http://example.org:99999/", "cannot be read"),
        (f"http://user:{SECRET}@example.org/", "before the @"),
        ("http://[fe80::1%25eth0]/", "holds a %"),
        ("http://exa%6dple.org/", "holds a %"),
        ("http://example.org/a b", "a blank or a control character"),
        ("http://example.org/\r\nHost: inner", "a blank or a control character"),
        ("http://8.8.8.8:22/", "Port 22 is not allowed, only 80, 443, 8080 and 8443"),
    ],
)
async def test_each_other_address_that_is_refused_has_its_own_reason(url: str, words: str) -> None:
    assert words in await refusal(url)


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::1"], ["fe80::1%eth0"]])
async def test_a_name_is_refused_when_any_of_its_addresses_is_inside(addresses: list[str]) -> None:
    assert "not on the public internet" in await refusal("http://rebind.test/", names=Names(rebind_test=[addresses]))


async def test_a_name_that_nobody_knows_and_a_server_that_is_away_are_told_apart() -> None:
    async with serving({}) as server:
        port = server.port
    allowed = Allowed.read(["127.0.0.1"])
    with pytest.raises(HttpFailed, match=r"^There is no server named nowhere\.test\.$"):
        await get(f"http://nowhere.test/?key={SECRET}", allowed)
    with pytest.raises(HttpFailed, match=r"^127\.0\.0\.1 could not be reached\.$"):
        await get(f"http://127.0.0.1:{port}/?key={SECRET}", allowed)


async def test_an_inner_server_that_the_operator_names_is_asked_under_its_name_and_only_at_its_port() -> None:
    async with serving({"/a?b=1": page_of("hello")}) as server, serving({}) as other:
        allowed, names = Allowed.read([f"wiki.test:{server.port}"]), Names(wiki_test=[["127.0.0.1"]])
        answer = await get(f"http://wiki.test:{server.port}/a?b=1#part", allowed, names)
        assert (answer.status, answer.body, answer.url) == (200, b"hello", f"http://wiki.test:{server.port}/a?b=1")
        assert f"Host: wiki.test:{server.port}\r\n" in server.requests[0]
        assert "not on the public" in await refusal(f"http://wiki.test:{other.port}/", allowed, names)
        assert other.requests == []


async def test_a_name_is_looked_up_once_for_a_hop_and_again_for_the_next() -> None:
    async with serving({"/": page_of("one"), "/again": moved("/")}) as server:
        allowed = Allowed.read([f"127.0.0.1:{server.port}"])
        names = Names(two_test=[["127.0.0.1"], ["127.0.0.2"]])
        assert (await get(f"http://two.test:{server.port}/", allowed, names)).body == b"one"
        assert names.asked == ["two.test"]

        names = Names(two_test=[["127.0.0.1"], ["127.0.0.2"]])
        assert "redirects to two.test: The server is not on the public internet" in await refusal(
            f"http://two.test:{server.port}/again", allowed, names
        )
        assert server.paths == ["/", "/again"]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize(
    ("where", "words"),
    [
        (f"http://169.254.169.254/{SECRET}", "redirects to 169.254.169.254: The server is not on the public"),
        ("//[::1]/", "redirects to ::1: The server is not on the public"),
        (f"ftp://user:{SECRET}@example.org/", "cannot be used. The address must begin with http"),
        ("http://8.8.8.8:25/", "redirects to 8.8.8.8: Port 25 is not allowed"),
    ],
)
async def test_each_hop_is_judged_like_the_first(status: str, where: str, words: str) -> None:
    async with serving({"/": moved("/more", status), "/more": moved(where, status)}) as server:
        allowed = Allowed.read([f"127.0.0.1:{server.port}"])
        assert words in await refusal(f"http://127.0.0.1:{server.port}/", allowed)


async def test_a_server_of_the_internet_leads_to_none_inside_even_if_that_one_may_be_asked() -> None:
    """Here it is told by its name only, so the one by an address that is allowed counts as outside."""
    async with serving({"/": page_of("inner")}) as inner, serving({"/": moved("http://wiki.test/")}) as outer:
        allowed = Allowed.read(["wiki.test", f"127.0.0.1:{outer.port}"])
        names = Names(site_test=[["127.0.0.1"]], wiki_test=[["127.0.0.1"]])
        found = await refusal(f"http://site.test:{outer.port}/", allowed, names)
        assert found == "site.test redirects to wiki.test: A server of the internet may not lead to one inside."
        assert inner.requests == []


async def test_a_name_that_leads_into_an_allowed_network_is_inside_too() -> None:
    async with serving({"/": page_of("inner")}) as inner, serving({"/": moved("")}) as outer:
        allowed = Allowed.read(["127.0.0.0/8"])
        names = Names(site_test=[["127.0.0.1"]], other_test=[["127.0.0.1"]])
        outer.pages = {"/": moved(f"http://other.test:{inner.port}/"), "/own": moved("/there"), "/there": page_of("ok")}
        found = await refusal(f"http://site.test:{outer.port}/", allowed, names)
        assert found == "site.test redirects to other.test: A server of the internet may not lead to one inside."
        assert inner.requests == []
        answer = await get(f"http://site.test:{outer.port}/own", allowed, names)
        assert answer.status == 200


async def test_redirects_end_after_a_few_and_carry_no_header_to_another_server() -> None:
    async with serving({"/": moved("/")}) as server:
        allowed = Allowed.read([f"127.0.0.1:{server.port}"])
        assert "redirects too often" in await refusal(f"http://127.0.0.1:{server.port}/", allowed)
        assert len(server.requests) == 6
    async with serving({"/": page_of("there")}) as second, serving({"/": b""}) as first:
        first.pages = {"/": moved(f"http://127.0.0.1:{second.port}/")}
        answer = await get(
            f"http://127.0.0.1:{first.port}/", Allowed.read(["127.0.0.1"]), headers={"Authorization": SECRET}
        )
        assert answer.url == f"http://127.0.0.1:{second.port}/"
        assert SECRET in first.requests[0] and SECRET not in second.requests[0]


async def test_a_redirect_is_the_answer_to_what_sends_something() -> None:
    async with serving({"/": moved("http://169.254.169.254/")}) as server:
        allowed = Allowed.read(["127.0.0.1"])
        answer = await get(f"http://127.0.0.1:{server.port}/", allowed, method="POST", body=b"x")
        assert (answer.status, server.requests[0][-1]) == (302, "x")


async def test_an_answer_is_cut_where_it_passes_the_limit_also_when_it_is_packed() -> None:
    packed = gzip.compress(bytes(30_000_000))
    pages = {"/long": page_of("x" * 5000), "/packed": page_of(packed, Content_Encoding="gzip")}
    async with serving(pages) as server:
        for path in pages:
            url = f"http://127.0.0.1:{server.port}{path}"
            answer = await get(url, Allowed.read(["127.0.0.1"]), most_bytes=1000)
            assert (len(answer.body), answer.cut) == (1000, True)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (page_of("abc").replace(b"Length: 3", b"Length: 9"), "broke off its answer"),
        (b"HTTP/1.1 200 OK\r\n", "broke off its answer"),
        (b"SSH-2\r\n\r\n", "gave an answer that is not HTTP"),
        (page_of(b"not packed", Content_Encoding="gzip"), "broke off its answer"),
    ],
)
async def test_an_answer_that_is_none_is_told_without_the_address(answer: bytes, words: str) -> None:
    async with serving({f"/{SECRET}": answer}) as server:
        with pytest.raises(HttpFailed, match=rf"^127\.0\.0\.1 {words}\.$"):
            await get(f"http://127.0.0.1:{server.port}/{SECRET}", Allowed.read(["127.0.0.1"]))


async def test_a_server_without_tls_is_told_as_such() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(
            HttpFailed, match=r"^127\.0\.0\.1 (does not speak TLS as it should|could not be reached)\.$"
        ):
            await get(f"https://127.0.0.1:{port}/", Allowed.read(["127.0.0.1"]))


async def test_time_is_limited_for_all_hops_together() -> None:
    with pytest.raises(HttpFailed, match=r"^site\.test gave no whole answer within 0 s\.$"):
        await get("http://site.test/", Allowed.read(["site.test"]), Names(site_test=[["127.0.0.1"]]), timeout_s=0)


async def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving({"/": page_of("direct")}) as server, serving({}) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        answer = await get(f"http://127.0.0.1:{server.port}/", Allowed.read(["127.0.0.1"]))
        assert (answer.body, proxy.requests) == (b"direct", [])
