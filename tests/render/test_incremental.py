"""A text that arrives in pieces ends as the same blocks as a text that arrives whole."""

import time
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentweb.render import Code, Done, Html, Incremental, Replace, Text, document
from agentweb.render.borders import MAX_BLOCK, MAX_RICH
from tests.render.browser import Browser

NASTY = [
    "# ", "## t", "#", "=", "===\n", "---\n", "- ", "* ", "+ ", "1. ", "2) ", "> ", ">", "    ", "  ", " ", "\t", "\n",
    "\n\n", "\r\n", "\r", "```", "```py\n", "```\n", "~~~\n", "~~~~", " ```\n", "   ```c\n", "`", "``", "*", "**", "_",
    "__", "~~", "[", "]", "(", ")", "![", "](", "[a]", "[a]: /u\n", "[a]: http://a.b 'x'\n", "[a]: http://a.b\n'x\n",
    "y'\n", "[b]:\n", "http://c.d\n", "[x](http://e.f \"t\")", "![p](https://i.j/k.png)", "<", ">", "<b>", "</p>",
    "<http://a.b>", "<script>", "&", "&amp;", "&#0;", ";", "|", "| a | b |\n", "|-|:-:|\n", "| 1 | 2 |\n", "a|b\n",
    "-|-\n", "\\", "\\\n", "  \n", "word", " word ", "中文。", "عربي", "😀", "1", "12", ".", ":", "-", "\x00", "\u2028",
    "\x0b", "\x0c", "\u3000", "\xa0", "\ufeff", "\ud83d", "e\u0301", "***\n", "___", "- [ ] x\n", "<!--", "-->\n",
    "\n    code\n",
]  # fmt: skip


@dataclass(frozen=True)
class Stream:
    text: str
    pieces: tuple[str, ...]


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    parts = draw(st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=4)), max_size=60))
    text = "".join(parts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=40))) if text else []
    edges = [0, *cuts, len(text)]
    return Stream(text, tuple(text[a:b] for a, b in pairwise(edges)))


def whole(text: str) -> list[str]:
    return [block.html for block in document(text)]


def blocks_after(pieces: tuple[str, ...], step: float = 0.1) -> list[str]:
    text, browser = Incremental(), Browser()
    for number, piece in enumerate(pieces):
        text.feed(piece)
        browser.apply(text.ops(number * step))
    browser.apply(text.finish())
    return [shown.html + shown.words for shown in browser.blocks if shown.html]


@given(stream=streams(), step=st.sampled_from([0.001, 0.1, 5.0]))
def test_pieces_give_the_blocks_of_the_whole(stream: Stream, step: float) -> None:
    assert blocks_after(stream.pieces, step) == whole(stream.text)


@given(stream=streams())
def test_a_page_that_joins_late_shows_what_others_see(stream: Stream) -> None:
    """Where nothing waits to become due, the ops so far and those of a resumed text show the same words.

    Save for link definitions: a block that ended before its definition came learns of it only at the end.
    """
    assume("]:" not in stream.text)
    text, browser = Incremental(), Browser()
    for number, piece in enumerate(stream.pieces):
        text.feed(piece)
        browser.apply(text.ops(number * 10.0))
        late = Browser()
        late.apply(Incremental.resume("".join(stream.pieces[: number + 1]))[1])
        assert browser.text == late.text


@given(stream=streams(), at=st.integers(0, 40))
def test_a_resumed_text_goes_on_to_the_same_blocks(stream: Stream, at: int) -> None:
    resumed, ops = Incremental.resume("".join(stream.pieces[:at]))
    browser = Browser()
    browser.apply(ops)
    for number, piece in enumerate(stream.pieces[at:]):
        resumed.feed(piece)
        browser.apply(resumed.ops(number * 0.1))
    browser.apply(resumed.finish())
    assert [shown.html for shown in browser.blocks if shown.html] == whole(stream.text)


LONG = {
    "one line": "word " * (MAX_BLOCK // 2),
    "one list": ("- item of a list" + " with words" * 10 + "\n") * (MAX_BLOCK // 60),
    "one paragraph, then a long line": "short\n" + "x" * (2 * MAX_BLOCK) + "\n\nend",
    "one fence": "```py\n" + "x = 1\n" * (MAX_BLOCK // 2) + "```\nend",
    "one table": "|a|b|\n|-|-|\n" + ("|" + "1" * 40 + "|" + "2" * 40 + "|\n") * (MAX_BLOCK // 40),
    "very many paragraphs": ("a paragraph" + " with words" * 10 + "\n\n") * (MAX_RICH // 100),
    "very many definitions": "".join(f"[a{n}]: http://b.c/{n}\n" for n in range(4_000)) + "[a1] [a3999]",
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("size", [7_919, 100_003])
def test_long_texts_have_the_same_bounds_in_pieces_and_whole(name: str, size: int) -> None:
    text = LONG[name]
    assert blocks_after(tuple(text[at : at + size] for at in range(0, len(text), size))) == whole(text)


def ops_of(*pieces: str, step: float = 1.0) -> list[list[object]]:
    text, found = Incremental(measure=lambda: 0.0), []
    for number, piece in enumerate(pieces):
        text.feed(piece)
        found += [op.as_json() for op in text.ops(number * step)]
    return found


def test_words_are_appended_as_text_at_code_point_offsets() -> None:
    assert ops_of("Hi 😀", " there", " and", " 中文") == [
        ["html", 0, '<p dir="auto">Hi 😀</p>'],
        ["text", 0, 4, " there"],
        ["text", 0, 10, " and"],
        ["text", 0, 14, " 中文"],
    ]


def test_words_are_appended_within_lists_too() -> None:
    assert ops_of("- one\n- two", " more")[-1] == ["text", 0, 6, " more"]


def test_markup_renders_the_open_block_again_but_not_before_a_quarter_of_a_second() -> None:
    text = Incremental(measure=lambda: 0.0)
    text.feed("one *two")
    assert text.ops(0.0) == (Html(0, '<p dir="auto">one *two</p>'),)
    text.feed("* three")
    assert text.ops(0.1) == ()
    assert text.ops(0.24) == ()
    assert text.ops(0.25) == (Html(0, '<p dir="auto">one <em>two</em> three</p>'),)


@pytest.mark.parametrize(("cost", "wait"), [(0.001, 0.25), (0.05, 0.5), (9.0, 3.0)])
def test_costly_blocks_are_rendered_less_often(cost: float, wait: float) -> None:
    ticks = iter(range(1_000))
    text = Incremental(measure=lambda: next(ticks) * cost)
    text.feed("*a*")
    assert text.ops(0.0)
    text.feed(" *b*")
    assert text.ops(wait - 0.01) == ()
    assert text.ops(wait + 0.01)


def test_nothing_new_is_nothing_to_do() -> None:
    text = Incremental()
    text.feed("word")
    assert text.ops(0.0)
    assert text.ops(9.0) == ()


def test_code_streams_as_text_and_gets_its_colours_at_the_end() -> None:
    text = Incremental()
    seen = []
    for piece in ["```py", "thon\n", "x = 1", "\n``", "`", "\n"]:
        text.feed(piece)
        seen.append(text.ops(0.0))
    assert seen[0] == ()
    assert seen[1] == (Code(0, "python"),)
    assert seen[2] == (Text(0, 0, "x = 1"),)
    assert seen[3] == (Text(0, 5, "\n"),)  # the ticks may be the end of the code
    assert seen[4] == ()
    assert isinstance(seen[5][0], Done)
    assert '<span class="mi">1</span>' in seen[5][0].html


def test_indented_fences_stream_without_their_indent() -> None:
    assert ops_of("  ```\n", "  a\n b\n", "    c", "  d\n")[1:] == [
        ["text", 0, 0, "a\nb\n"],
        ["text", 0, 4, "  c"],
        ["text", 0, 7, "  d\n"],
    ]


def test_ticks_inside_code_that_do_not_end_it_are_shown() -> None:
    assert ops_of("````\n", "```", "\n", "``x")[1:] == [["text", 0, 0, "```\n"], ["text", 0, 4, "``x"]]


@pytest.mark.parametrize("piece", ["-", "---", "===", "#", "1.", "```py", "> ", "\t* "])
def test_half_a_line_that_may_become_something_else_is_not_shown(piece: str) -> None:
    assert ops_of("words\n", piece) == [["html", 0, '<p dir="auto">words</p>']]


@pytest.mark.parametrize("below", ["-|-\n", "words\n", "\n", "# more\n", ""])
def test_a_heading_with_a_pipe_waits_for_the_line_below_since_it_may_head_a_table(below: str) -> None:
    assert blocks_after(("# a|b\n", below)) == whole("# a|b\n" + below)


def test_the_head_of_a_table_waits_for_the_line_below() -> None:
    assert ops_of("| a | b |\n", "|--", "-|---|\n") == [
        [
            "html",
            0,
            '<div class="table-scroll" tabindex="0" dir="auto"><table><thead><tr><th>a</th><th>b</th></tr></thead>'
            "</table></div>",
        ]
    ]


def test_tags_cut_in_two_stay_text() -> None:
    pieces = ("<scr", "ipt>alert(1)</scr", "ipt><im", "g src=x onerr", "or=alert(1)>")
    for kind, _, *rest in ops_of(*pieces):
        assert kind == "text" or not any(tag in str(rest) for tag in ("<script", "<img"))
    assert "<script" not in "".join(blocks_after(pieces))


def test_a_definition_after_its_use_replaces_the_blocks() -> None:
    text = Incremental()
    text.feed("see [docs]\n\nmore\n\n[docs]: https://example.org\n")
    text.ops(0.0)
    (last,) = [op for op in text.finish() if isinstance(op, Replace)]
    assert 'href="https://example.org"' in last.blocks[0]


def test_a_definition_before_its_use_replaces_nothing() -> None:
    text = Incremental()
    text.feed("[docs]: https://example.org\n\nsee [docs]\n\nmore")
    ops = text.ops(0.0) + text.finish()
    assert not any(isinstance(op, Replace) for op in ops)
    assert 'href="https://example.org"' in str(ops)


def test_a_piece_costs_the_same_early_and_late_in_a_long_text() -> None:
    pieces = ("Some *words* here, ", "and more.\n\n", "- an item\n- another\n\n", "```py\nx = 1\n```\n") * 1_500
    growing, third = Incremental(), len(pieces) // 3
    spent = []
    for begin in (0, third, 2 * third):
        begun = time.thread_time()
        for number in range(begin, begin + third):
            growing.feed(pieces[number])
            growing.ops(number * 0.1)
        spent.append(time.thread_time() - begun)
    assert spent[2] < 3 * spent[0], spent


def test_ended_blocks_are_sent_once() -> None:
    text = "# One\n\npara *x*\n\n- a\n- b\n\n```\ncode\n```\n\n| a |\n|---|\n| 1 |\n\nlast"
    ended = []
    growing = Incremental()
    for number, letter in enumerate(text):
        growing.feed(letter)
        ended += [op.block for op in growing.ops(number * 0.1) if isinstance(op, Done)]
    ended += [op.block for op in growing.finish() if isinstance(op, Done)]
    assert ended == list(range(len(document(text))))
