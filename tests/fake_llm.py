#!/usr/bin/env python3
"""A cheap fake OpenAI-compatible chat server for tests and benchmarks.

One process, standard library only (uvloop is used when it is installed).
Every content token carries its sequence number and the moment it was written, in epoch microseconds:
``<seq>@<epoch_us> ``. Whoever receives the text at the far end (browser, websocket client, worker) finds them with
TOKEN_RE and computes latency, gaps, duplicates and disorder; coalescing several tokens into one frame changes nothing.

    python fake_llm.py --port 9009 --tokens 200 --rate 30 --ttft 0.2

With FAKE_LLM_RECORD in the environment, each answer with a key leaves a line of JSON in the file that it names: key,
the moments (epoch microseconds) at which the request was there and the answer was written, and the request's body.

Endpoints
    POST /v1/chat/completions   stream and non-stream
    GET  /v1/models             one model
    GET  /stats                 requests, open streams, chunks, lateness, CPU seconds, keys
    POST /reset                 zero the counters

Directives, anywhere in the LAST user message (they override the command line):
    [[tokens=400 rate=25 ttft=0.3 batch=1 key=run-17]]
        rate=0     as fast as the reader takes it
        batch=n    n tokens per chunk
        key=...    counted in /stats "keys": tells whether a model call was made twice
    [[call NAME {"a": 1}]]
        one tool-calling turn. Several [[call]] are successive turns; calls joined by " || " inside one directive are
        parallel calls of one turn: [[call search {"q": "x"} || fetch {"url": "y"}]]
        Turns already done are counted from the assistant messages with tool_calls that follow the last user message;
        after the last one the plain text answer is streamed.
        [[say=20]] streams 20 tokens of text before each tool call.
    [[text "# Any JSON"]] the answer is this text and nothing else, in pieces of five characters
    [[markdown=1]]        the tokens stand in headings, lists, tables, code and bold type
    [[fail=500]]          answer with that HTTP status (429 carries Retry-After: 1)
    [[fail=500 times=2]]  only the first 2 requests with this key fail (needs key=)
    [[drop=10]]           close the connection abruptly after 10 tokens
    [[stall=10 for=30]]   stop for 30 s after 10 tokens, or until POST /go/KEY (needs key= for that)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import signal
import time
from collections import Counter

if __package__:
    from tests.fake_markdown import dressed
else:  # started as a program
    from fake_markdown import dressed

TOKEN_RE = re.compile(r"(\d+)@(\d{16})")  # (sequence number, epoch microseconds)
_CALLS = re.compile(r"\[\[call\s+")
_TEXT = re.compile(r'\[\[text\s+(?=")')
_PIECE = 5  # characters, so that tags and fences are cut in two
_CALL = re.compile(r"([\w.-]+)\s*")
_OPTIONS = re.compile(r"\[\[([a-z]+=[^\[\]]*)\]\]")
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


class Stats:
    def __init__(self) -> None:
        self.requests = self.open = self.peak = self.chunks = self.aborted = 0
        self.late_max = self.late_sum = 0.0
        self.keys: Counter[str] = Counter()

    def as_dict(self) -> dict:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "requests": self.requests,
            "open": self.open,
            "peak": self.peak,
            "chunks": self.chunks,
            "aborted": self.aborted,
            "late_max_ms": round(self.late_max * 1e3, 3),
            "late_mean_ms": round(self.late_sum / self.chunks * 1e3, 3) if self.chunks else 0,
            "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
            "keys": dict(self.keys),
        }


def parse_calls(text: str, at: int) -> list[tuple[str, str]]:
    """``NAME {json} || NAME {json}]]`` from position ``at``: (name, arguments) pairs."""
    calls = []
    while True:
        name = _CALL.match(text, at)
        if not name:
            raise ValueError("a [[call]] without a name")
        at, args = name.end(), "{}"
        if text.startswith("{", at):
            _, end = json.JSONDecoder().raw_decode(text, at)
            args, at = text[at:end], end
        calls.append((name.group(1), args))
        rest = text[at:].lstrip()
        if not rest.startswith("||"):
            return calls
        at = len(text) - len(rest[2:].lstrip())


class Plan:
    """What one request asks for: defaults, then the directives of the last user message."""

    def __init__(self, defaults: argparse.Namespace, body: dict) -> None:
        self.tokens, self.rate, self.ttft = defaults.tokens, defaults.rate, defaults.ttft
        self.batch, self.say, self.markdown, self.key = 1, 0, 0, ""
        self.fail, self.times, self.drop, self.stall, self.stall_for = 0, 0, -1, -1, 0.0
        self.model = str(body.get("model", "fake"))
        self.stream = bool(body.get("stream"))
        self.usage = bool((body.get("stream_options") or {}).get("include_usage"))
        messages = body.get("messages") or []
        last = max((i for i, m in enumerate(messages) if m.get("role") == "user"), default=-1)
        text = messages[last].get("content") if last >= 0 else ""
        if isinstance(text, list):
            text = "".join(part.get("text", "") for part in text if isinstance(part, dict))
        done = sum(1 for m in messages[last + 1 :] if m.get("role") == "assistant" and m.get("tool_calls"))
        turns: list[list[tuple[str, str]]] = []
        for found in _CALLS.finditer(text or ""):
            turns.append(parse_calls(text, found.end()))
        for found in _OPTIONS.findall(text or ""):
            for name, _, value in (item.partition("=") for item in found.split()):
                if name in ("tokens", "batch", "say", "markdown", "fail", "times", "drop", "stall"):
                    setattr(self, name, int(value))
                elif name in ("rate", "ttft"):
                    setattr(self, name, float(value))
                elif name == "for":
                    self.stall_for = float(value)
                elif name == "key":
                    self.key = value
        said = _TEXT.search(text or "")
        whole = json.JSONDecoder().raw_decode(text, said.end())[0] if said else ""
        self.pieces = [whole[at : at + _PIECE] for at in range(0, len(whole), _PIECE)]
        if self.pieces:
            self.tokens = len(self.pieces)
        self.turn = done
        self.calls = turns[done] if done < len(turns) else None
        if self.calls is not None:
            self.tokens = self.say
        self.prompt_tokens = sum(len(str(m.get("content") or "")) // 4 + 4 for m in messages)


class Server(asyncio.Protocol):
    stats = Stats()
    defaults: argparse.Namespace
    serial = 0
    stalled: set[Server] = set()
    record = os.environ.get("FAKE_LLM_RECORD", "")

    def connection_made(self, transport) -> None:
        self.transport = transport
        self.loop = asyncio.get_running_loop()
        self.buffer = bytearray()
        self.timer: asyncio.TimerHandle | None = None
        self.busy = self.paused = False

    def connection_lost(self, exc) -> None:
        self.stalled.discard(self)
        if self.timer:
            self.timer.cancel()
        if self.busy:
            self.stats.open -= 1
            self.stats.aborted += 1
            self.busy = False

    def pause_writing(self) -> None:
        self.paused = True

    def resume_writing(self) -> None:
        self.paused = False
        if self.busy and self.plan.rate == 0:
            self.timer = self.loop.call_soon(self.step)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while not self.busy:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self.buffer[:end]).decode("latin-1")
            found = re.search(r"(?im)^content-length:\s*(\d+)", head)
            size = int(found.group(1)) if found else 0
            if len(self.buffer) < end + 4 + size:
                return
            body = bytes(self.buffer[end + 4 : end + 4 + size])
            del self.buffer[: end + 4 + size]
            method, path = head.split(" ", 2)[:2]
            self.route(method, path.partition("?")[0], body)

    def route(self, method: str, path: str, body: bytes) -> None:
        if path.endswith("/chat/completions") and method == "POST":
            self.arrived, self.body = time.time_ns() // 1000, body
            try:
                plan = Plan(self.defaults, json.loads(body))
            except Exception as exc:  # a malformed request is answered, never a crash
                return self.reply(400, {"error": {"message": f"bad request: {exc}", "type": "invalid_request_error"}})
            self.complete(plan)
        elif path.endswith("/models"):
            self.reply(
                200, {"object": "list", "data": [{"id": "fake", "object": "model", "created": 0, "owned_by": "fake"}]}
            )
        elif path.startswith("/go/"):
            for other in [other for other in self.stalled if other.plan.key == path.removeprefix("/go/")]:
                other.timer.cancel()
                other.first = self.loop.time() - other.sent / (other.plan.rate or 1)
                other.step()
            self.reply(200, {})
        elif path == "/stats":
            self.reply(200, self.stats.as_dict())
        elif path == "/reset":
            still_open = self.stats.open
            Server.stats = Stats()
            Server.stats.open = Server.stats.peak = still_open
            self.reply(200, {})
        else:
            self.reply(404, {"error": {"message": "no such path", "type": "not_found"}})

    def reply(self, status: int, payload: dict, extra: str = "") -> None:
        data = json.dumps(payload).encode()
        self.transport.write(
            f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(data)}\r\n{extra}\r\n".encode()
            + data
        )

    def complete(self, plan: Plan) -> None:
        stats = self.stats
        stats.requests += 1
        if plan.key:
            stats.keys[plan.key] += 1
        if plan.fail and (not plan.times or stats.keys[plan.key] <= plan.times):
            extra = "retry-after: 1\r\n" if plan.fail == 429 else ""
            return self.reply(plan.fail, {"error": {"message": "scripted failure", "type": "server_error"}}, extra)
        Server.serial += 1
        self.plan, self.sent, self.busy = plan, 0, True
        stats.open += 1
        stats.peak = max(stats.peak, stats.open)
        self.id = f"chatcmpl-{Server.serial}"
        start = (
            f'{{"id":"{self.id}","object":"chat.completion.chunk","created":{int(time.time())},'
            f'"model":{json.dumps(plan.model)},'
        )
        self.prefix = (start + '"choices":[{"index":0,"delta":{"content":"').encode()
        self.start = start
        self.first = self.loop.time() + plan.ttft
        if plan.stream:
            self.transport.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
                b"transfer-encoding: chunked\r\n\r\n" + self.frame(self.choice('{"role":"assistant","content":""}'))
            )
            self.timer = self.loop.call_at(self.first, self.step)
        else:
            wait = plan.tokens / plan.rate if plan.rate else 0
            self.timer = self.loop.call_at(self.first + wait, self.whole)

    @staticmethod
    def frame(data: bytes) -> bytes:
        return b"%x\r\ndata: %b\n\n\r\n" % (len(data) + 8, data)

    def choice(self, delta: str, finish: str = "null") -> bytes:
        return f'{self.start}"choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}'.encode()

    def text(self) -> bytes:
        """The next chunk's tokens, stamped now."""
        count = min(self.plan.batch, self.plan.tokens - self.sent)
        if self.plan.pieces and not self.plan.calls:
            words = "".join(self.plan.pieces[self.sent : self.sent + count])
            self.sent += count
            return json.dumps(words)[1:-1].encode()
        now = time.time_ns() // 1000
        numbers = range(self.sent, self.sent + count)
        self.sent += count
        if self.plan.markdown:
            return json.dumps("".join(dressed(number, f"{number}@{now}") for number in numbers))[1:-1].encode()
        return b"".join(b"%d@%d " % (number, now) for number in numbers)

    def step(self) -> None:
        plan = self.plan
        self.stalled.discard(self)
        if self.sent >= plan.tokens:
            return self.finish()
        if 0 <= plan.drop <= self.sent:
            self.transport.abort()
            return
        if 0 <= plan.stall <= self.sent:
            plan.stall, self.first = -1, self.first + plan.stall_for
            self.stalled.add(self)
            self.timer = self.loop.call_later(plan.stall_for, self.step)
            return
        suffix = b'"},"finish_reason":null}]}'
        if plan.rate == 0:  # bursts of 64 chunks, as fast as the reader takes them
            parts = []
            while self.sent < plan.tokens and len(parts) < 64:
                parts.append(self.frame(self.prefix + self.text() + suffix))
            self.stats.chunks += len(parts)
            self.transport.write(b"".join(parts))
            if not self.paused:
                self.timer = self.loop.call_soon(self.step)
            return
        late = self.loop.time() - (self.first + self.sent / plan.rate)
        stats = self.stats
        stats.chunks += 1
        stats.late_sum += late
        stats.late_max = max(stats.late_max, late)
        self.transport.write(self.frame(self.prefix + self.text() + suffix))
        self.timer = self.loop.call_at(self.first + self.sent / plan.rate, self.step)

    def tool_calls(self) -> list[dict]:
        return [
            {
                "index": i,
                "id": f"call_{self.plan.turn}_{i}_{Server.serial}",
                "type": "function",
                "function": {"name": name, "arguments": args},
            }
            for i, (name, args) in enumerate(self.plan.calls or [])
        ]

    def usage(self) -> dict:
        asked, out = self.plan.prompt_tokens, self.sent + 12 * len(self.plan.calls or [])
        return {"prompt_tokens": asked, "completion_tokens": out, "total_tokens": asked + out}

    def finish(self) -> None:
        parts = []
        for call in self.tool_calls():  # name first, then the arguments in pieces, as real servers do
            args = call["function"]["arguments"]
            call["function"]["arguments"] = ""
            parts.append(self.frame(self.choice(json.dumps({"tool_calls": [call]}))))
            for at in range(0, len(args), 16):
                piece = {"index": call["index"], "function": {"arguments": args[at : at + 16]}}
                parts.append(self.frame(self.choice(json.dumps({"tool_calls": [piece]}))))
        parts.append(self.frame(self.choice("{}", '"tool_calls"' if self.plan.calls else '"stop"')))
        if self.plan.usage:
            parts.append(self.frame(f'{self.start}"choices":[],"usage":{json.dumps(self.usage())}}}'.encode()))
        parts.append(self.frame(b"[DONE]") + b"0\r\n\r\n")
        self.transport.write(b"".join(parts))
        if self.record and self.plan.key:
            self.note(time.time_ns() // 1000)
        self.free()

    def note(self, ended: int) -> None:
        told = {"key": self.plan.key, "arrived": self.arrived, "ended": ended, "body": self.body.decode()}
        with open(self.record, "a") as file:
            file.write(json.dumps(told) + "\n")

    def whole(self) -> None:
        text = b""
        while self.sent < self.plan.tokens:
            text += self.text()
        words = json.loads(b'"%b"' % text)
        message: dict = {"role": "assistant", "content": words or None}
        if self.plan.calls:
            message["tool_calls"] = [{k: v for k, v in c.items() if k != "index"} for c in self.tool_calls()]
        finish = "tool_calls" if self.plan.calls else "stop"
        choices = [{"index": 0, "message": message, "finish_reason": finish}]
        head = {"id": self.id, "object": "chat.completion", "created": int(time.time()), "model": self.plan.model}
        self.reply(200, {**head, "choices": choices, "usage": self.usage()})
        self.free()

    def free(self) -> None:
        self.busy, self.timer = False, None
        self.stats.open -= 1
        if self.buffer:
            self.loop.call_soon(self.data_received, b"")


async def serve(args: argparse.Namespace) -> None:
    Server.defaults = args
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Server, args.host, args.port, backlog=4096, reuse_address=True)
    stop = asyncio.Event()
    for sig in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sig, stop.set)
    print(f"fake_llm: http://{args.host}:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await stop.wait()
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9009, help="0 takes a free one; the address is printed")
    parser.add_argument("--tokens", type=int, default=100, help="tokens of a plain answer")
    parser.add_argument("--rate", type=float, default=30, help="tokens a second; 0: as fast as read")
    parser.add_argument("--ttft", type=float, default=0.2, help="seconds before the first token")
    args = parser.parse_args()
    try:
        import uvloop

        uvloop.install()
    except ImportError:
        pass
    asyncio.run(serve(args))


if __name__ == "__main__":
    main()
