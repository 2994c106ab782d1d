"""Markdown for the tokens of the fake model server, again and again: a heading, prose, a list, code and a table."""

PERIOD = 120
BEFORE = {
    0: "\n\n## Part ",
    **dict.fromkeys((8, 60, 114), "\n\n"),
    30: "\n\n- ",
    **dict.fromkeys((36, 42, 48, 54), "\n- "),
    70: "\n\n```python\n",
    **dict.fromkeys((75, 80, 85), "\n"),
    90: "\n```\n\n",
    **dict.fromkeys(range(101, 112), "| "),
    100: "\n\n| one | two | three | four |\n|---|---|---|---|\n| ",
    **dict.fromkeys((104, 108), "|\n| "),
    112: "|\n\n",
}
"""What comes before a token, by its place in the period."""


def dressed(number: int, token: str) -> str:
    """The token with what makes markdown of its text."""
    at = number % PERIOD
    plain = at == 0 or 70 <= at < 90
    return f"{BEFORE.get(at, '')}{token if plain or at % 7 else f'**{token}**'} "
