"""A model server in a thread, which does what its settings say and keeps what it was sent."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GREETING = '{"greeting": "Hello", "mood": "merry"}'


@dataclass
class ModelServer:
    """``models``: its list, None for none. ``refuses``: body fields that make it answer 400. ``formats``: the response
    formats that it keeps. ``calls``: how many tools it calls at once. ``status``: what every question gets, with
    ``answer`` as its body. ``under``: the path before /models and /chat/completions. ``certificate``: a file with one
    and its key, for TLS."""

    models: list[dict[str, Any]] | None = field(default_factory=lambda: [{"id": "small"}])
    refuses: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    calls: int = 0
    streams: bool = True
    counts: bool = True
    status: int = 200
    answer: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    under: str = "/v1"
    certificate: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    base_url: str = ""

    def reply(self, path: str, body: dict[str, Any] | None) -> tuple[int, str, str]:
        """Status, content type and body of the answer."""
        if not path.startswith(f"{self.under}/"):
            return 404, "text/html", "<html>no such page</html>"
        if path == f"{self.under}/models":
            if self.models is None or self.status == 401:
                return self.status if self.status == 401 else 404, "application/json", self.answer or "{}"
            return 200, "application/json", json.dumps({"object": "list", "data": self.models})
        assert body is not None
        self.asked.append(body)
        if self.status != 200 or self.answer:
            return self.status, self.headers.get("content-type", "application/json"), self.answer
        if refused := [name for name in self.refuses if name in body]:
            words = {"error": {"message": f"{refused[0]} is not supported", "type": "invalid_request_error"}}
            return 400, "application/json", json.dumps(words)
        return self._said(body)

    def _said(self, body: dict[str, Any]) -> tuple[int, str, str]:
        message: dict[str, Any] = {"role": "assistant", "content": "ready"}
        wanted = body.get("response_format", {}).get("type", "")
        if wanted:
            message["content"] = GREETING if wanted in self.formats else "Hello!"
        if "tools" in body and self.calls:
            function = {"name": body["tools"][0]["function"]["name"], "arguments": '{"city": "Beijing"}'}
            message["tool_calls"] = [
                {"index": n, "id": f"c{n}", "type": "function", "function": function} for n in range(self.calls)
            ]
        finish = "tool_calls" if "tool_calls" in message else "stop"
        usage = {"usage": {"prompt_tokens": 10, "completion_tokens": 2}} if self.counts else {}
        if not (self.streams and body.get("stream")):
            whole = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **usage}
            return 200, "application/json", json.dumps(whole)
        chunks = [
            {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        ]
        if usage and "stream_options" in body:
            chunks.append({"choices": [], **usage})
        frames = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        return 200, "text/event-stream", frames


@contextmanager
def serving(server: ModelServer) -> Iterator[ModelServer]:
    """The server at a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def _answer(self, body: dict[str, Any] | None) -> None:
            server.paths.append(self.path)
            server.keys.append(self.headers.get("authorization", ""))
            status, content_type, text = server.reply(self.path, body)
            data = text.encode()
            self.send_response(status)
            for name, value in {"content-type": content_type, **server.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_args: Any) -> None:
            """Says nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if server.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(server.certificate)
        listening.socket = context.wrap_socket(listening.socket, server_side=True, do_handshake_on_connect=False)
    server.base_url = f"http{'s' if server.certificate else ''}://127.0.0.1:{listening.server_port}{server.under}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
