"""JSON values to try things on."""

from typing import Any

from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts

json_values: st.SearchStrategy[Any] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)

json_objects = st.dictionaries(texts, json_values, max_size=5)


def deep(levels: int = 10_000) -> list[Any]:
    """A list in a list in a list."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def deep_object(levels: int = 10_000) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value
