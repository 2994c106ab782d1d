"""Calls of tools of MCP servers, by a server that does what none should."""

import asyncio
import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable

import pytest

from agentweb.engine.ports import Output, Progress, ToolError
from agentweb.toolbox.keeping import close_kept, kept
from agentweb.toolbox.mcp.caller import Sessions, look_at
from agentweb.toolbox.mcp.session import ServerFailed
from tests.toolbox.mcp_calls import SECRET, Fake


@pytest.fixture
async def fake(tmp_path) -> AsyncIterator[Callable[..., Fake]]:
    yield lambda *names, **book: Fake(tmp_path, *names, **book)
    await close_kept()


async def ended(pid: int) -> None:
    """Wait until there is no such process any more."""
    async with asyncio.timeout(60):
        while alive(pid):
            await asyncio.sleep(0.02)


async def killed(pid: int) -> None:
    """End the only server, and wait until that is known here."""
    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(60):
        while kept(Sessions).standing:
            await asyncio.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:  # one that nobody has fetched yet has ended all the same
        return stat.read().rpartition(")")[2].split()[0] != "Z"


async def test_calls_share_one_process_which_is_given_what_was_allowed_and_no_more(fake, monkeypatch):
    monkeypatch.setenv("SOME_KEY_OF_OURS", "ours")
    server = fake("pid", "environment")
    first, second = await asyncio.gather(server.call("pid"), server.call("pid"))
    assert first == second == await server.call("pid")
    given = json.loads((await server.call("environment")).replace("[secret removed]", SECRET))
    assert given["FAKE_TOKEN"] == SECRET and "PATH" in given and "SOME_KEY_OF_OURS" not in given
    await close_kept()
    await ended(int(first))


async def test_a_call_that_hangs_is_ended_by_whoever_waits_and_others_go_on(fake):
    server = fake("hang", "echo")
    steps = server.steps("hang", limit_s=0.2)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await anext(steps)
    await steps.aclose()
    assert await server.call("echo") == "echo done"
    await close_kept()
    assert server.notes.failures == ["A call got no answer in 0.2 s."]


async def test_a_server_that_does_not_even_read_holds_nobody_up(fake):
    server = fake("hang", "echo", deaf=True)
    waiting = asyncio.ensure_future(server.call("hang", {"text": "x" * 300_000}))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_crash_in_the_middle_of_a_call_is_told_and_the_next_call_finds_a_new_process(fake):
    server = fake("crash", "pid")
    before = await server.call("pid")
    with pytest.raises(ToolError, match="ended in the middle of this call; part of its effect may have happened"):
        await server.call("crash")
    assert await server.call("pid") != before
    await close_kept()
    (why,) = server.notes.failures
    assert "the fuse has blown" in why and SECRET not in why


async def test_a_server_that_died_between_two_calls_is_started_again_unnoticed(fake):
    server = fake("pid")
    before = int(await server.call("pid"))
    await killed(before)
    assert int(await server.call("pid")) != before


async def test_a_server_that_cannot_start_says_why_without_secrets_and_is_left_alone_for_a_while(fake):
    server = fake("pid", at_start="exit")
    said = []
    for _attempt in range(4):
        with pytest.raises(ToolError, match="It ended or failed while it was started") as told:
            await server.call("pid")
        said.append(str(told.value))
    assert all(SECRET not in text and "No module named nothing" in text for text in said)
    assert any("It is tried again in" in text for text in said)
    await close_kept()
    assert 1 <= len(server.notes.failures) < 4


async def test_a_program_that_does_not_exist_is_named(fake):
    server = fake().server
    with pytest.raises(ServerFailed, match="no-such-program: No such file"):
        await look_at(type(server)(key="1", name="Fake", command="no-such-program"))


async def test_a_flood_on_stderr_and_a_large_result_do_no_harm(fake):
    server = fake("flood", "huge")
    assert await server.call("flood") == "flood done"
    assert len(await server.call("huge", {"size": 3_000_000})) == 3_000_000


async def test_a_result_beyond_all_bounds_ends_the_connection(fake):
    server = fake("huge", "echo")
    with pytest.raises(ToolError, match="ended in the middle of this call"):
        await server.call("huge", {"size": 9_000_000})
    assert await server.call("echo") == "echo done"
    await close_kept()
    assert "longer than 8 MB" in server.notes.failures[0]


async def test_progress_is_passed_on(fake):
    steps = await fake("steps").all("steps")
    assert steps == [Progress("step 1", 0.25), Progress("step 2", 0.5), Output("steps done")]


CSV = {"uri": "file:///a/../b c.csv", "mimeType": "text/csv", "text": "1"}
RESULTS = {
    "structured": {"content": [], "structuredContent": {"a": 1}},
    "both": {"content": [{"type": "text", "text": "One."}], "structuredContent": {"a": 1}},
    "twice": {"content": [{"type": "text", "text": '{"a": 1}'}], "structuredContent": {"a": 1}},
    "empty": {"content": []},
    "error": {"content": [{"type": "text", "text": f"No such thing, {SECRET}."}], "isError": True},
    "silent": {"content": [], "isError": True},
    "image": {"content": [{"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"PNG").decode()}]},
    "damaged": {"content": [{"type": "image", "mimeType": "image/png", "data": "***"}]},
    "resource": {
        "content": [
            {"type": "resource", "resource": {"uri": "file:///a/../b c.csv", "mimeType": "text/csv", "text": "1"}}
        ]
    },
    "link": {"content": [{"type": "resource_link", "uri": "memo://notes/today", "name": "n"}]},
}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("structured", '{"a": 1}'),
        ("both", "One."),
        ("twice", '{"a": 1}'),
        ("empty", ""),  # the loop says that there was no output
        ("image", "[Image kept as received/call1-1.png (image/png, 3 B).]"),
        ("damaged", "[Image that cannot be read: its data are damaged.]"),
        ("resource", "1\n\n[Text kept as received/call1-1-b-c.csv (text/csv, 1 B).]"),
        ("link", "linked\n\n[Text kept as received/call1-1-today.txt (text/plain, 6 B).]"),
    ],
)
async def test_whatever_comes_back_becomes_text_and_files(fake, tmp_path, name, content):
    assert await fake(name, results=RESULTS).call(name) == content
    files = [path for path in (tmp_path / "workspace").rglob("*") if path.is_file()]
    assert len(files) == content.count("kept as")


async def test_what_a_server_calls_an_error_is_one(fake):
    server = fake("error", "silent", "both", results=RESULTS)
    with pytest.raises(ToolError, match=r"^No such thing, \[secret removed\]\.$"):
        await server.call("error")
    with pytest.raises(ToolError, match="did not say why"):
        await server.call("silent")
    (both,) = await server.all("both")
    assert both.full == 'One.\n\n{"a": 1}'


async def test_a_tool_that_was_changed_since_it_was_taken_in_is_not_called(fake):
    server = fake("change", "other")
    changed = [server.tools["change"], {**server.tools["other"], "description": "Deletes all."}]
    await server.call("change", {"tools": changed})
    async with asyncio.timeout(60):
        while len(server.notes.offers) < 2:  # it has told of it
            await asyncio.sleep(0.01)
    with pytest.raises(ToolError, match="Not called: Fake defines other in another way now"):
        await server.call("other")
    assert [offer.true_name for offer in server.notes.offers[1]] == ["change", "other"]


async def test_a_tool_that_is_gone_at_the_next_connection_is_not_called(fake):
    server = fake("pid", "other")
    before = int(await server.call("pid"))
    del server.tools["pid"]
    server.write()
    await killed(before)
    server.tools["pid"] = {"name": "pid", "inputSchema": {"type": "object"}}
    with pytest.raises(ToolError, match="does not offer pid any more"):
        await server.call("pid")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
async def test_a_server_ends_with_a_worker_that_is_killed(fake, tmp_path):
    fake("pid", stays=True)
    script = (
        "import asyncio, pathlib, sys\n"
        "from tests.toolbox.mcp_calls import Fake\n"
        "async def main():\n"
        "    print(await Fake(pathlib.Path(sys.argv[1]), 'pid', stays=True).call('pid'), flush=True)\n"
        "    await asyncio.sleep(3600)\n"
        "asyncio.run(main())\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    pid = int(await asyncio.to_thread(worker.stdout.readline))
    worker.kill()
    worker.wait()
    await ended(pid)
