"""The cache is shared while Redis is there, and goes on in the process's own memory while it is away."""

from agentweb.config.cache import SteadyCache


def test_two_processes_share_what_they_remember(own_valkey):
    one, other = SteadyCache(own_valkey.url, {}), SteadyCache(own_valkey.url, {})
    one.set("tries", [1, 2])
    assert other.get("tries") == [1, 2]
    assert not other.add("tries", [])


def test_while_redis_is_away_the_process_remembers_by_itself(own_valkey):
    cache = SteadyCache(own_valkey.url, {})
    cache.set("tries", [1])
    own_valkey.stop()
    assert cache.get("tries", []) == []
    assert cache.add("lock", True) and not cache.add("lock", True)
    cache.delete("lock")
    assert cache.add("lock", True)
    cache.set("tries", [1, 2, 3])
    assert cache.get("tries") == [1, 2, 3]


def test_it_is_shared_again_when_redis_is_back(own_valkey):
    cache = SteadyCache(own_valkey.url, {})
    own_valkey.stop()
    cache.set("tries", [1])
    own_valkey.start()
    cache.set("tries", [2])
    assert SteadyCache(own_valkey.url, {}).get("tries") == [2]
