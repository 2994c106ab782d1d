"""Every process killed in the middle of a 2,000-token answer, Valkey too, and started again: what is kept of the text.

A page watches over its socket. When it has seen half of the answer, all processes of the product get SIGKILL at the
same moment and are started again on the same data. When the run has gone on, the page is loaded anew: kept is how many
of the words that had been shown are on it. The run must then come to its end.
"""

import asyncio
import time

from websockets.asyncio.client import connect
from websockets.typing import Origin

from benchmarks.figure import Figure, Options, at_least, exactly
from benchmarks.site import PLAIN, Site, site
from tests.fake_llm import TOKEN_RE
from tests.waiting import until

TOKENS = 2_000
RATE = 100
PRODUCT = ("web", "worker-1", "valkey")
GOES_ON_S = 90.0  # a lease, a sweep, and the start of a worker
SHOWN_S = 120.0


def measure(options: Options) -> list[Figure]:
    results = [_once(options.runs or TOKENS) for _ in range(options.repetitions)]
    kept, went_on = min(kept for kept, _ended in results), sum(ended for _kept, ended in results)
    return [
        exactly("B19 went on", went_on, "runs that were answered in the end", options.repetitions),
        at_least("B19", kept, "% of the text that had been shown", 98, 100),
    ]


def _once(tokens: int) -> tuple[float, bool]:
    with site() as place:
        program = place.program()
        conversation = program.converse(PLAIN)
        run = program.send(conversation, f"Speak. [[tokens={tokens} rate={RATE} ttft=0]]")
        session = place.session()
        shown = asyncio.run(_watch(place, session, conversation, tokens // 2))
        place.stack.kill(*PRODUCT)
        killed = time.monotonic()
        place.stack.start(*reversed(PRODUCT))
        place.stack.wait_until_ready()
        up = time.monotonic() - killed
        until(lambda: "RunResumed" in program.kinds(run), GOES_ON_S, "the run goes on")
        on = time.monotonic() - killed
        kept = _on_page(place, session, conversation)
        ended = program.finish(run)
    share = 100 * len(shown & kept) / len(shown)
    print(
        f"{len(shown):,} words shown, {len(shown & kept):,} kept ({share:.1f} %); site ready after {up:.1f} s, "
        f"run goes on after {on:.1f} s, {ended['outcome']}",
        flush=True,
    )
    return share, ended["outcome"] == "answered"


async def _watch(place: Site, session: str, conversation: str, enough: int) -> set[str]:
    """The words that a page has been sent, once it has this many."""
    url, seen = place.stack.url, set()
    async with (
        asyncio.timeout(SHOWN_S),
        connect(
            f"{url.replace('http', 'ws', 1)}/ws/conversations/{conversation}/",
            origin=Origin(url),
            additional_headers={"Cookie": session},
            compression=None,
            max_size=None,
            proxy=None,
        ) as socket,
    ):
        while len(seen) < enough:
            seen |= {found[0] for found in TOKEN_RE.finditer(str(await socket.recv()))}
    return seen


def _on_page(place: Site, session: str, conversation: str) -> set[str]:
    with place.stack.client() as client:
        page = client.get(f"/c/{conversation}/", headers={"Cookie": session})
    assert page.status_code == 200, page.status_code
    return {found[0] for found in TOKEN_RE.finditer(page.text)}
