from tests.valkey import own_valkey

__all__ = ["own_valkey"]
