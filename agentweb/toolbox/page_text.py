"""From the bytes of a web page to its text, in a process of its own with little time and memory: pages are written by
anybody, and a parser can be made to work for hours.

`text_of` is the worker's side. The other side is `python -m agentweb.toolbox.page_text`: a line of JSON says what
the bytes behind it are, and the page is answered as JSON.
"""

import asyncio
import contextlib
import json
import logging
import os
import re
import resource
import sys
from dataclasses import asdict, dataclass
from importlib import import_module

from agentweb.engine.ports import ToolError
from agentweb.toolbox.invisible import reveal

LONGEST_S = 10
MOST_MEMORY = 1_500_000_000  # bytes of addresses, most of them never touched
MOST_ANSWER = 20_000_000  # bytes
PASSED = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT")

_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]{1,40})", re.IGNORECASE)
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_REALLY = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252"}


@dataclass(frozen=True, slots=True)
class PageText:
    """``title`` may be empty; so is ``text`` where the page shows none before its scripts have run. ``hidden``: how
    many characters that people do not see were taken out."""

    title: str
    text: str
    hidden: int = 0


async def text_of(body: bytes, *, charset: str, markup: bool, address: str) -> PageText:
    """``charset``: as the server said, perhaps empty; ``markup``: HTML, otherwise text as it is. Raises ToolError."""
    about = {"charset": charset, "markup": markup, "address": address}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={name: os.environ[name] for name in PASSED if name in os.environ},
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(LONGEST_S):
            told, _none = await process.communicate(json.dumps(about).encode() + b"\n" + body)
        found = json.loads(told)
        return PageText(**found)
    except (TimeoutError, ValueError):
        raise ToolError("The text of the page could not be read: its markup is too large or too tangled.") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def decode(body: bytes, charset: str) -> str:
    """The text by its mark, by what the server or the page says, or by what fits; bytes that do not fit are shown."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    said = _META.search(body[:4096])
    for name in (charset, said[1].decode() if said else "", "utf-8"):
        with contextlib.suppress(LookupError, UnicodeDecodeError):
            if name:
                return body.decode(_REALLY.get(name.strip().lower(), name.strip()))
    found = import_module("charset_normalizer").from_bytes(body[:200_000]).best()
    return body.decode(found.encoding if found else "utf-8", "replace")


# --- the other side -----------------------------------------------------------------------------------------------


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_S, LONGEST_S))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    logging.disable()
    about = json.loads(sys.stdin.buffer.readline())
    text = decode(sys.stdin.buffer.read(), about["charset"])
    page = _page(text, about["address"]) if about["markup"] else PageText("", text)
    told = json.dumps(asdict(page))
    print(told if len(told) <= MOST_ANSWER else "")


def _page(markup: str, address: str) -> PageText:
    """The main text as Markdown with its links; where none can be told from the rest, all text."""
    trafilatura = import_module("trafilatura")
    html = import_module("lxml.html")
    clean = re.sub(r"^\s*<\?xml[^>]*\?>", "", markup.replace("\0", ""))  # lxml takes no text that names an encoding
    if not clean.strip():
        return PageText("", "")
    tree = html.fromstring(clean)
    title = " ".join((tree.findtext(".//title") or "").split())
    found = trafilatura.extract(
        html.fromstring(clean),
        url=address,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_comments=False,
        favor_recall=True,
    )
    for each in tree.xpath("//script|//style|//noscript|//template|//head"):
        each.drop_tree()
    whole = "\n".join(filter(None, (" ".join(line.split()) for line in tree.text_content().splitlines())))
    text = (found or whole).strip()
    return PageText(title, text, max(0, reveal(whole)[1] - reveal(text)[1]))


if __name__ == "__main__":
    main()
