"""A small client for the HTTP API in tests: JSON in, JSON out, a bearer token when a person is named."""

import json
from typing import Any

from django.http import HttpResponse
from django.test import Client

from agentweb.teams.models import User
from agentweb.teams.tokens import create_token


class Api:
    """Calls ``/api/v1`` as one person, or as nobody."""

    def __init__(self, user: User | None = None) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {create_token(user=user, name='test')}"} if user else {}

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.client.generic(method, f"/api/v1{path}", data, "application/json", headers=self.headers | headers)

    def get(self, path: str, status: int = 200) -> Any:
        return answered(self.call("GET", path), status)

    def post(self, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        return answered(self.call("POST", path, body, **headers), status)


def answered(response: HttpResponse, status: int) -> Any:
    assert response.status_code == status, response.content
    if status >= 400:
        assert response["Content-Type"] == "application/problem+json"
        problem = response.json()
        assert {"type", "title", "status", "detail"} <= set(problem)
        assert problem["status"] == status
        return problem
    return response.json() if response.content else None
