"""The one error of this package: what stops a start, in words for the person at the terminal."""

MISCONFIGURED = 2


class Refusal(Exception):
    """A start that cannot go on: a sentence, and the exit status (1, or 2 for a wrong setting)."""

    def __init__(self, sentence: str, status: int = 1) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status
