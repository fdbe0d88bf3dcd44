"""The event-stream parser: the standard's own examples, and any split gives the same events."""

import collections
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.http.sse import SseEvent, SseParser
from agentbench_tui.model.answer import AgentFailure, FailureKind


def parsed(stream: bytes, *, cuts: tuple[int, ...] = ()) -> list[SseEvent]:
    parser = SseParser()
    events: list[SseEvent] = []
    edges = [0, *sorted(cuts), len(stream)]
    for start, stop in pairwise(edges):
        events += parser.feed(stream[start:stop])
    return events + parser.finish()


def datas(stream: bytes) -> list[bytes]:
    return [event.data for event in parsed(stream)]


class Reference:
    """The standard's algorithm, word for word, on the whole decoded text."""

    def __init__(self, text: str) -> None:
        self.events: list[tuple[str, str, str]] = []
        self.data, self.type, self.id = "", "", ""
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        for line in lines[:-1]:
            self._line(line)
        self._dispatch()

    def _line(self, line: str) -> None:
        if line == "":
            self._dispatch()
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            self._field(name, value.removeprefix(" "))

    def _field(self, name: str, value: str) -> None:
        if name == "event":
            self.type = value
        elif name == "data":
            self.data += value + "\n"
        elif name == "id" and "\0" not in value:
            self.id = value

    def _dispatch(self) -> None:
        if self.data:
            self.events.append((self.data[:-1], self.type or "message", self.id))
        self.data, self.type = "", ""


lines = st.sampled_from(
    [
        "data: a", "data:b", "data:  two spaces", "data", "data:", "data: ü€\U0001f600",
        ": comment", "", "", "event: x", "event:", "id: 7", "id", "id: nul\0", "retry: 10",
        "nonsense: 1", ":",
        "\ufeffdata: inner bom", "data: [DONE]",
    ]
)  # fmt: skip
streams = st.builds(
    lambda bom, pairs, tail: bom + "".join(line + end for line, end in pairs) + tail,
    st.sampled_from(["", "\ufeff"]),
    st.lists(st.tuples(lines, st.sampled_from(["\n", "\r", "\r\n"])), max_size=12),
    st.sampled_from(["", "data: cut", "\n"]),
)


@given(streams, st.data())
def test_any_split_of_any_stream_gives_the_events_of_the_standard(
    text: str, data: st.DataObject
) -> None:
    stream = text.encode()
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    expected = Reference(text).events
    for split in (tuple(cuts), tuple(range(len(stream))), ()):
        events = parsed(stream, cuts=split)
        assert [(e.data.decode(), e.event, e.id) for e in events] == expected


def test_examples_of_the_standard() -> None:
    assert datas(b"data: YHOO\ndata: +2\ndata: 10\n\n") == [b"YHOO\n+2\n10"]
    assert datas(b"data\n\ndata\ndata\n\ndata:") == [b"", b"\n"]
    assert datas(b"data:test\n\ndata: test\n\n") == [b"test", b"test"]
    stream = (
        b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third\n\n"
    )
    assert [(e.data, e.id) for e in parsed(stream)] == [
        (b"first event", "1"),
        (b"second event", ""),
        (b" third", ""),
    ]


def test_an_event_is_given_with_the_packet_that_completes_it() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\n") == []
    assert [event.data for event in parser.feed(b"\ndata: b")] == [b"a"]
    assert [event.data for event in parser.feed(b"\r\r")] == [b"b"]


def test_the_last_event_needs_no_blank_line_but_a_whole_line() -> None:
    assert datas(b"data: [DONE]\n") == [b"[DONE]"]
    assert datas(b'data: {"cut') == []


@pytest.mark.parametrize("size", [1, 7, 64])
def test_an_endless_line_is_refused(size: int) -> None:
    assert failure_of([b"x" * size] * (200 // size + 1)) is FailureKind.LIMIT


def test_an_endless_event_is_refused() -> None:
    assert failure_of([b"data: 0123456789\n"] * 200) is FailureKind.LIMIT


def failure_of(chunks: list[bytes]) -> FailureKind:
    """Of a parser that takes lines of 100 and events of 1000 bytes."""
    parser = SseParser(max_line_bytes=100, max_event_bytes=1000)
    with pytest.raises(AgentFailure) as caught:
        collections.deque(map(parser.feed, chunks), maxlen=0)
    return caught.value.kind
