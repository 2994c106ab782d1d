"""What to ask Echo so that it says certain words, at once or with a stop in the middle that the test ends."""

import json
from uuid import uuid4

import httpx2

SAMPLE = """# A title

A paragraph with **bold** words and `code`.

```python
def add(a, b):
    return a + b
```

| city | sky |
| --- | --- |
| Beijing | clear |

1. one
2. two
   - inner

> quoted

[a link](https://example.org/) and the last words."""
PIECE = 5  # characters in which the fake model speaks
RATE = 100  # pieces a second
HELD_SECONDS = 120


def saying(text: str, rate: int = 0) -> str:
    """What to ask to hear this; ``rate``: pieces a second, 0 for at once."""
    return f"[[rate={rate} ttft=0]] [[text {json.dumps(text)}]]"


class Speech:
    """An answer that stops in the middle until the test says to go on."""

    def __init__(self, model_url: str) -> None:
        self._go = f"{model_url.removesuffix('/v1')}/go/"
        self._key = uuid4().hex

    def held(self, text: str, at: str) -> str:
        """What to ask; the stop is right behind the words ``at``."""
        said = text.index(at) + len(at)
        directives = f"rate={RATE} ttft=0 stall={-(-said // PIECE)} for={HELD_SECONDS} key={self._key}"
        return f"[[{directives}]] [[text {json.dumps(text)}]]"

    def go_on(self) -> None:
        httpx2.post(f"{self._go}{self._key}", trust_env=False).raise_for_status()
