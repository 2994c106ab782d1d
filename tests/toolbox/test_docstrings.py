"""A docstring gives the description and a line for each parameter."""

import pytest

from agentweb.toolbox.docstrings import read_docstring


@pytest.mark.parametrize(
    ("text", "description", "parameters"),
    [
        ("", "", {}),
        ("One line.", "One line.", {}),
        ("One.\n\n    Two.\n    ", "One.\n\nTwo.", {}),
        ("Do.\n\n    Args:\n        a: The a.\n        b (int): The b.\n    ", "Do.", {"a": "The a.", "b": "The b."}),
        (
            "Do.\n\n    Args:\n        a: The a,\n            and more: of it.\n",
            "Do.",
            {"a": "The a, and more: of it."},
        ),
        (
            "Do.\n\n    Args:\n        a:\n            Below.\n\n        b: The b.\n",
            "Do.",
            {"a": "Below.", "b": "The b."},
        ),
        ("Do.\n\n    Parameters:\n        a: The a.\n\n    Then this.\n", "Do.\n\nThen this.", {"a": "The a."}),
        ("Do.\n\n    Note: not a parameter.\n", "Do.\n\nNote: not a parameter.", {}),
    ],
)
def test_docstring(text: str, description: str, parameters: dict[str, str]) -> None:
    assert read_docstring(text) == (description, parameters)
