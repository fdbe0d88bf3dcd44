"""Where messages begin and end, whatever pieces they come in."""

from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given

from agentbench_tui.stress.faults.messages import MOST_HEAD_BYTES, Head, Messages, answers, requests

GET = Head(method=b"GET")
POST = Head(method=b"POST")
REQUESTS: list[tuple[bytes, bytes, Head]] = [
    (b"GET / HTTP/1.1\r\n\r\n", b"", GET),
    (b"GET / HTTP/1.0\r\n\r\n", b"", GET._replace(keep_alive=False)),
    (b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 3\r\n\r\n", b"\r\n\r",
     POST._replace(keep_alive=False)),
    (b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n", b"", POST),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n",
     b"3\r\n\r\n\r\r\nA;name=value\r\n0123456789\r\n0\r\nfield: v\r\n\r\n", POST),
    (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", b"0\r\n\r\n", POST),
]  # fmt: skip
"""Heads, bodies as they go over the wire (RFC 9112, section 7.1), and what the head says."""
ANSWERS: list[tuple[bytes, bytes, Head, bool]] = [
    (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", b"ok", Head(status=200), False),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", b"", Head(status=200), True),
    (b"HTTP/1.1 204 No Content\r\n\r\n", b"", Head(status=204), False),
    (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", b"", Head(status=304), False),
    (b"HTTP/1.1 100 Continue\r\n\r\n", b"", Head(status=100), False),
    (b"HTTP/1.1 500 \r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n0\r\n\r\n",
     Head(status=500), False),
]  # fmt: skip
"""The same, and whether it answers HEAD."""


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[begin:end] for begin, end in pairwise(edges)]


def joined(messages: Messages, pieces: list[bytes]) -> list[tuple[Head | None, bytes]]:
    """Head and all bytes of each message that came to its end, heads not wanted apart."""
    whole: list[tuple[Head | None, bytes]] = []
    head: Head | None = None
    data = b""
    for piece in pieces:
        for part in messages.feed(piece, apart=False):
            head, data = (part.head, part.data) if part.head else (head, data + part.data)
            if part.last:
                whole.append((head, data))
    return whole


def read(messages: Messages, pieces: list[bytes]) -> list[tuple[Head | None, bytes, bytes]]:
    """Head, its bytes and the body's bytes of each message that came to its end."""
    whole: list[tuple[Head | None, bytes, bytes]] = []
    head: Head | None = None
    head_bytes = body = b""
    for piece in pieces:
        for part in messages.feed(piece):
            if part.head is not None:
                head, head_bytes, body = part.head, part.data, b""
            else:
                body += part.data
            if part.last:
                whole.append((head, head_bytes, body))
    return whole


@given(st.lists(st.sampled_from(REQUESTS), max_size=5), st.lists(st.integers(0, 999), max_size=8))
def test_requests_in_a_row_are_told_apart(
    sent: list[tuple[bytes, bytes, Head]], places: list[int]
) -> None:
    wire = b"".join(head + body for head, body, _ in sent)
    reading = requests()
    assert read(reading, cut(wire, places)) == [(said, head, body) for head, body, said in sent]
    assert not reading.unread
    assert joined(requests(), cut(wire, places)) == [
        (said, head + body) for head, body, said in sent
    ]


@given(st.lists(st.sampled_from(ANSWERS), max_size=5), st.lists(st.integers(0, 999), max_size=8))
def test_answers_in_a_row_are_told_apart(
    sent: list[tuple[bytes, bytes, Head, bool]], places: list[int]
) -> None:
    # Asked only where the status leaves it open.
    of_head = iter([is_head for _, _, said, is_head in sent if said.status in {200, 500}])
    reading = answers(lambda: next(of_head))
    wire = b"".join(head + body for head, body, *_ in sent)
    expected = [(said, head, body) for head, body, said, _ in sent]
    assert read(reading, cut(wire, places)) == expected
    assert not reading.unread


def test_an_answer_without_a_length_goes_to_the_end_of_the_connection() -> None:
    reading = answers(lambda: False)
    head, body = reading.feed(b"HTTP/1.1 200 OK\r\n\r\nbody")
    assert (head.head, head.last, body.data, body.last) == (Head(status=200), False, b"body", False)
    assert reading.unread


@pytest.mark.parametrize(
    "wire",
    [
        b"\x16\x03\x01\x02\x00",
        b"HELO example\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nno field\r\n\r\n",
        b"GET / HTTP/1.1\n\n",
        b"GET / HTTP/1.1\r\nfield: " + b"x" * MOST_HEAD_BYTES,
        b"CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n\x00",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n-3\r\nabc",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n" + b"0" * 5000,
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("apart", [True, False])
def test_what_is_not_plain_http_is_passed_on_unread(
    wire: bytes, at_once: bool, apart: bool
) -> None:
    reading = requests()
    step = len(wire) if at_once else max(1, len(wire) // 50)
    pieces = [wire[at : at + step] for at in range(0, len(wire), step)]
    passed = b"".join(part.data for piece in pieces for part in reading.feed(piece, apart=apart))
    assert reading.unread
    assert passed == wire


def test_what_was_held_is_given_when_reading_stops() -> None:
    reading = requests()
    assert reading.feed(b"GET / HT") == []
    assert [part.data for part in reading.stop_reading()] == [b"GET / HT"]
    assert [part.data for part in reading.feed(b"TP/1.1\r\n\r\n")] == [b"TP/1.1\r\n\r\n"]
