"""What streaming an answer costs: CPU of the renderer, and bytes for the browser over bytes of the text.

`python benchmarks/render.py` plays a mixed answer (prose, lists, tables, code, Chinese) at a model's speed with
ten flushes a second, on a simulated clock, and prints figures per second of the run. No network, no files.
"""

import argparse
import json
import time
from dataclasses import dataclass

from agentweb.render import Html, Incremental, document

SAMPLE = """## Findings of part {n}

The **import** of the orders failed because the column `order_date` holds two formats. Most rows follow the
standard, but the rows of the *old* shop do not, as the [report](https://example.org/report/{n}) shows in detail.

1. Read the file and count the rows that do not parse.
2. Ask the owner of the shop which of the two formats is meant:
   - day before month, as in most of Europe
   - month before day, as in the **United States**
3. Convert, then compare the totals with those of the month before.

| format | rows | share |
|:-------|-----:|------:|
| ISO | 18,204 | 91 % |
| day first | 1,410 | 7 % |
| unknown | 395 | 2 % |

```python
def parse(value: str) -> date | None:
    for pattern in PATTERNS:
        try:
            return datetime.strptime(value, pattern).date()
        except ValueError:
            continue
    return None
```

导入失败的原因是**日期列**有两种格式。大多数行符合标准，但旧商店的行不符合，详情见报告。建议先统计无法解析的行，再询问负责人。

> The totals differ by 0.4 %, which is within what returns explain.

"""


@dataclass(frozen=True)
class Figures:
    """CPU in milliseconds per second of the run, the costliest flush in milliseconds, bytes, block renderings."""

    cpu: float
    worst: float
    bytes_ratio: float
    renderings: int


def pieces_of(tokens: int) -> list[str]:
    """Pieces of about four characters, or one and a half where the text is Chinese."""
    text = "".join(SAMPLE.format(n=n) for n in range(tokens // 300 + 1))
    pieces, at = [], 0
    while at < len(text) and len(pieces) < tokens:
        size = 4 if text[at].isascii() else 2
        pieces.append(text[at : at + size])
        at += size
    return pieces


def play(pieces: list[str], speed: float, flushes: int) -> Figures:
    """Stream the pieces, `speed` a second, with `flushes` a second."""
    growing, sent, renderings, worst, number = Incremental(), 0, 0, 0.0, 0
    begun = time.process_time()
    for tick in range(1, int(len(pieces) / speed * flushes) + 2):
        while number < min(len(pieces), tick * speed / flushes):
            growing.feed(pieces[number])
            number += 1
        before = time.process_time()
        ops = growing.ops(tick / flushes)
        worst = max(worst, time.process_time() - before)
        renderings += sum(isinstance(op, Html) for op in ops)
        sent += len(json.dumps([op.as_json() for op in ops], ensure_ascii=False).encode()) if ops else 0
    growing.finish()
    spent = time.process_time() - begun
    size = len("".join(pieces).encode())
    return Figures(spent * 1000 / (len(pieces) / speed), worst * 1000, sent / size, renderings)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tokens", type=int, default=5_000)
    arguments.add_argument("--flushes", type=int, default=10, help="per second")
    chosen = arguments.parse_args()
    pieces = pieces_of(chosen.tokens)
    play(pieces_of(500), 25, chosen.flushes)  # imports of lexers and the like
    print(f"{chosen.tokens} tokens, {chosen.flushes} flushes a second")
    for speed in (25, 50, 200):
        got = play(pieces, speed, chosen.flushes)
        per_thousand = got.cpu * 1000 / speed
        print(
            f"{speed:4} tok/s: {got.cpu:5.2f} ms CPU per second of the run, {per_thousand:6.1f} ms per 1,000 tokens, "
            f"worst flush {got.worst:4.1f} ms, {got.bytes_ratio:.1f} bytes per byte, {got.renderings} renderings"
        )
    begun = time.process_time()
    document("".join(pieces))
    print(f"whole text at once: {(time.process_time() - begun) * 1000:.0f} ms")


if __name__ == "__main__":
    main()
