"""A person in front of the proxy, who holds cookies and a websocket as a browser does."""

import json
import re
import socket
from collections.abc import Iterator
from http.cookies import SimpleCookie
from typing import Any

import httpx2
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.waiting import until

FRAME_WITHIN_S = 60.0


class Visitor:
    """Asks with the name of the site; the address is that of the proxy. Cookies are kept though they want TLS."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._cookies: dict[str, str] = {}

    def sign_in(self, name: str, password: str) -> None:
        form = self.ask("GET", "/accounts/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)
        assert form.status_code == 200 and token is not None
        fields = {"login": name, "password": password, "csrfmiddlewaretoken": token[1]}
        answer = self.ask("POST", "/accounts/login/", data=fields)
        assert (answer.status_code, answer.headers["Location"]) == (302, "/"), answer.text[-2000:]

    def calls(self, method: str, path: str, **body: Any) -> Any:
        """The API's JSON answer, with the session and its CSRF token."""
        answer = self.ask(method, f"/api/v1{path}", **({"json": body} if body else {}))
        assert answer.is_success, (answer.status_code, answer.text)
        return answer.json()

    def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """A browser asks again when the connection was cut before an answer came."""
        answer: list[httpx2.Response] = []

        def answered() -> bool:
            try:
                answer.append(self._ask(method, path, **more))
            except httpx2.TransportError:
                return False
            return True

        until(answered, what=f"{method} {path} is answered")
        return answer[0]

    def _ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        headers = {"Host": self._host, "Origin": f"https://{self._host}", "Cookie": self._cookie_header}
        headers |= {"X-CSRFToken": self._cookies.get("csrftoken", "")}
        url = f"http://127.0.0.1:{self._port}{path}"
        answer = httpx2.request(method, url, headers=headers, timeout=30, trust_env=False, **more)
        for line in answer.headers.get_list("Set-Cookie"):
            self._cookies |= {name: kept.value for name, kept in SimpleCookie(line).items()}
        return answer

    @property
    def _cookie_header(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self._cookies.items())

    def watch(self, conversation: str, run: str, after: str = "0-0") -> "Watching":
        address = f"/ws/conversations/{conversation}/?run={run}&after={after}"
        connection = connect(
            f"ws://{self._host}{address}",
            sock=socket.create_connection(("127.0.0.1", self._port)),
            origin=f"https://{self._host}",
            additional_headers={"Cookie": self._cookie_header},
            legacy=True,
        )
        return Watching(connection)


class Watching:
    """The frames of a conversation, and how far they have come."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self.cursor = "0-0"

    def until_event(self, kind: str) -> None:
        next(frame for frame in self._frames() if any(event["kind"] == kind for event in frame.get("events", ())))

    def until_words(self) -> None:
        next(frame for frame in self._frames() if frame.get("deltas") or frame.get("snapshot"))

    def until_cut(self) -> None:
        """Whoever served this has gone."""
        try:
            for _frame in self._frames():
                pass
        except ConnectionClosed:
            self._connection.close()

    def close(self) -> None:
        self._connection.close()

    def _frames(self) -> Iterator[dict[str, Any]]:
        while True:
            frame = json.loads(self._connection.recv(timeout=FRAME_WITHIN_S))
            self.cursor = frame.get("c", self.cursor)
            yield frame
