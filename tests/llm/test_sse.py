"""The event reader finds the same events wherever the bytes are cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentweb.llm.sse import EventReader, EventTooLarge, ServerSentEvent


def read(*chunks: bytes, **options: int) -> list[ServerSentEvent]:
    reader = EventReader(**options)
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return events + list(reader.close())


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data:a\r\n\r\ndata:  b\r\n\r\n", ["a", " b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b": hello\n\n:\n\ndata: a\n\n", ["a"]),
        (b"event: ping\n\ndata\n\ndata:\n\ndata: \n\ndata: a\n\n", ["a"]),
        (b"id: 7\nretry: 10\nunknown: x\ndata: a\n\n", ["a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"data: a\n\ndata: last without a blank line", ["a", "last without a blank line"]),
        (b"data: \xff\xfe\n\n", ["\ufffd\ufffd"]),
        (b"", []),
    ],
)
def test_events_are_found(body, data):
    assert [event.data for event in read(body)] == data


def test_the_name_of_an_event_belongs_to_that_event_alone():
    assert read(b"event: error\ndata: a\n\ndata: b\n\n") == [ServerSentEvent("a", "error"), ServerSentEvent("b")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_single_cut_gives_the_same_events(end):
    body = "event: x\ndata: 你好🙂\n\n: note\n\ndata:two\ndata: lines\n\ndata: [DONE]\n\n".encode().replace(b"\n", end)
    whole = read(body)
    assert [event.data for event in whole] == ["你好🙂", "two\nlines", "[DONE]"]
    assert all(read(body[:at], body[at:]) == whole for at in range(len(body) + 1))
    assert read(*(body[at : at + 1] for at in range(len(body)))) == whole


@given(
    lines=st.lists(st.sampled_from(["data: x", "data:é", "", ": c", "event: e", "data", "junk"]), max_size=12),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=12, max_size=12),
    cuts=st.sets(st.integers(0, 120), max_size=8),
)
def test_mixed_line_ends_and_cuts_change_nothing(lines, ends, cuts):
    # A lone CR before an empty line ended by LF would read as one CRLF, so those two are kept apart.
    body = "".join(line + ("\n" if end == "\r" else end) for line, end in zip(lines, ends, strict=False)).encode()
    edges = [0, *sorted(cut for cut in cuts if 0 < cut < len(body)), len(body)]
    chunks = [body[a:b] for a, b in itertools.pairwise(edges)]
    assert read(*chunks) == read(body) == read(body.replace(b"\r\n", b"\n"))


@pytest.mark.parametrize("chunks", [[b"data: " + b"x" * 60], [b"data: x\n"] * 60, [b"x"] * 60])
def test_endless_events_are_refused(chunks):
    with pytest.raises(EventTooLarge):
        read(*chunks, max_event_bytes=50)
