from tests.valkey import own_valkey, shared_valkey, valkey

__all__ = ["own_valkey", "shared_valkey", "valkey"]
