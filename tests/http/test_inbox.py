"""Packets that are read later: the same parts with the times they were received, and the end in
the next turn of the loop."""

import asyncio
import socket
import threading
from collections.abc import Callable
from itertools import accumulate
from time import perf_counter_ns
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_server import raw_server, read_request

from agentbench_tui.http.client import Timeouts
from agentbench_tui.http.connection import Connection
from agentbench_tui.http.exchange import Exchange, KnownHeads
from agentbench_tui.http.inbox import KEPT_NS, MOST_KEPT, Inbox
from agentbench_tui.http.pool import Pool
from agentbench_tui.http.wire import Origin, request_bytes
from agentbench_tui.model.answer import AgentFailure, FailureKind

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(text: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text), text)


def event(nth: int) -> bytes:
    return b"data: %d\n\n" % nth


class Told(Exchange):
    """An exchange that keeps what it was told."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, bytes]] = []
        self.status = 0
        self.ended_ns: int | None = None
        self.failure: AgentFailure | None = None
        self.over = asyncio.Event()
        self.begun = asyncio.Event()

    @property
    def body(self) -> bytes:
        return b"".join(part for _, part in self.parts)

    def on_head(self, status: int, _headers: object, _received_ns: int) -> None:
        self.status = status

    def on_body(self, part: bytes, received_ns: int) -> None:
        self.parts.append((received_ns, part))
        self.begun.set()

    def on_end(self, received_ns: int) -> None:
        self.ended_ns = received_ns
        self.over.set()

    def on_failure(self, failure: AgentFailure, _received_ns: int) -> None:
        self.failure = failure
        self.over.set()


class Owner:
    """A pool of one connection, with nothing behind it."""

    place = url = "here"
    max_body_bytes = 1_000_000

    def __init__(self) -> None:
        self.received_bytes = 0
        self.reusable: bool | None = None
        self.inbox = Inbox(asyncio.get_running_loop())
        self.heads = KnownHeads()

    def made(self) -> None: ...

    def gone(self, connection: Connection) -> None: ...

    def resend(self, connection: Connection) -> None:
        raise AssertionError("nothing is sent again here")

    def release(self, connection: Connection, *, reusable: bool) -> None:
        self.reusable = reusable
        connection.exchange = None

    def failed(self, connection: Connection, failure: AgentFailure, at_ns: int) -> None:
        exchange = connection.exchange
        connection.abandon()
        assert exchange is not None
        exchange.on_failure(failure, at_ns)


class Wire(asyncio.Transport):
    """Takes what is written, and sends nothing."""

    def write(self, data: Any) -> None: ...

    def abort(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0


async def turn() -> None:
    """Let the loop do once what it has to do."""
    await asyncio.sleep(0)


def connected(told: Told, *, can_wait: bool = True) -> tuple[Owner, Connection]:
    owner = Owner()
    connection = Connection(owner, told, b"POST ", perf_counter_ns(), can_wait=can_wait)
    connection.connection_made(Wire())
    return owner, connection


async def test_parts_have_the_times_they_were_received_and_the_end_comes_in_the_next_turn() -> None:
    told = Told()
    owner, connection = connected(told)
    connection.data_received(HEAD)
    await turn()
    moments = []
    for nth in range(5):
        before_ns = perf_counter_ns()
        connection.data_received(chunk(event(nth)))
        moments.append((before_ns, perf_counter_ns()))
    assert told.status == 200
    assert told.parts == []
    connection.data_received(END)
    await turn()
    assert [part for _, part in told.parts] == [event(nth) for nth in range(5)]
    for (received_ns, _), (before_ns, after_ns) in zip(told.parts, moments, strict=True):
        assert before_ns <= received_ns <= after_ns
    assert told.ended_ns is not None
    assert told.ended_ns >= moments[-1][1]
    assert owner.received_bytes == len(HEAD + b"".join(chunk(event(n)) for n in range(5)) + END)
    owner.inbox.close()


@pytest.mark.parametrize("rest", [[], [chunk(event(2))], [chunk(event(2)), END]])
async def test_what_follows_an_end_is_no_part_of_the_next_answer(rest: list[bytes]) -> None:
    told = Told()
    owner, connection = connected(told)
    connection.data_received(HEAD)
    # A line end behind the end: it looks like the end of an event.
    for packet in (chunk(event(0)), chunk(event(1)) + END + b"\n\n\r\n", *rest):
        connection.data_received(packet)
    connection.read_kept()
    assert told.body == event(0) + event(1)
    assert told.ended_ns is not None
    assert owner.reusable is (not rest)
    owner.inbox.close()


async def test_no_more_packets_are_kept_than_may_be() -> None:
    told = Told()
    owner, connection = connected(told)
    connection.data_received(HEAD)
    await turn()
    for nth in range(MOST_KEPT - 1):
        connection.data_received(chunk(event(nth)))
    await turn()
    assert told.parts == []
    connection.data_received(chunk(event(MOST_KEPT - 1)))
    await turn()
    assert len(told.parts) == MOST_KEPT
    owner.inbox.close()


async def test_who_cannot_wait_does_not() -> None:
    told = Told()
    _, connection = connected(told, can_wait=False)
    connection.data_received(HEAD)
    connection.data_received(chunk(event(1)))
    assert told.body == event(1)


async def test_a_body_of_a_known_length_may_end_in_any_packet() -> None:
    told = Told()
    _, connection = connected(told)
    body = b"data: 1\n\n\r\n"
    connection.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body))
    connection.data_received(body)
    await turn()
    assert (told.body, told.ended_ns is None) == (body, False)


async def test_a_connection_that_is_lost_has_given_what_was_received() -> None:
    told = Told()
    _, connection = connected(told)
    connection.data_received(HEAD)
    connection.data_received(chunk(event(1)))
    connection.connection_lost(None)
    assert told.body == event(1)
    assert told.failure is not None
    assert told.failure.kind is FailureKind.TRUNCATED


async def test_what_is_given_up_is_read_no_more() -> None:
    told = Told()
    owner, connection = connected(told)
    connection.data_received(HEAD)
    connection.data_received(chunk(event(1)))
    connection.abandon()
    connection.read_kept()
    assert told.parts == []
    owner.inbox.close()


bodies = st.lists(
    st.sampled_from([b"data: a\n\n", b"data: b\n\n\r\n", b"\n\n", b"\r\n", b"x", b"\n\n\r\n\r\n"]),
    max_size=6,
)


@given(bodies, st.booleans(), st.data())
async def test_any_split_gives_what_reading_at_once_gives(
    texts: list[bytes], is_cut: bool, data: st.DataObject
) -> None:
    stream = HEAD + b"".join(map(chunk, texts)) + (b"" if is_cut else END)
    # Where chunks begin above all, as servers send them.
    begins = list(accumulate((len(chunk(text)) for text in texts), initial=len(HEAD)))
    cuts = st.one_of(st.sampled_from(begins), st.integers(1, len(stream) - 1))
    edges = sorted(data.draw(st.sets(cuts.filter(lambda cut: cut < len(stream)), max_size=8)))
    found = []
    for can_wait in (True, False):
        told = Told()
        owner, connection = connected(told, can_wait=can_wait)
        for start, stop in zip([0, *edges], [*edges, len(stream)], strict=True):
            connection.data_received(stream[start:stop])
            if data.draw(st.booleans()):
                await turn()
        await turn()
        assert is_cut or told.over.is_set()
        connection.connection_lost(None)
        found.append((told.status, told.body, told.failure and told.failure.detail))
        owner.inbox.close()
    assert found[0] == found[1]
    assert found[0][:2] == (200, b"".join(texts))


whole = st.builds(
    lambda fields, body, rest: (
        b"HTTP/1.1 200 OK\r\n%bcontent-length: %d\r\n\r\n%b" % (fields, len(body), body) + rest
    ),
    st.sampled_from([b"", b"connection: close\r\n", b"x: 1\r\n", b"content-encoding: gzip\r\n"]),
    st.sampled_from([b"", b"a", b"b", b"ab\r\n\r\nc", b"{}"]),
    st.sampled_from([b"", b"", b"", b"\r\n", b"x"]),
)
answers = st.one_of(
    whole,
    st.sampled_from(
        [
            b"HTTP/1.1 304 Not Modified\r\ncontent-length: 1\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na",
            HEAD + chunk(b"a") + END,
            b"HTTP/1.1 200 OK\r\n\r\na",
            b"HTTP/1.1 200 OK\ncontent-length: 6\n\na\r\n\r\nb",
        ]
    ),
)


@given(st.lists(answers, min_size=2, max_size=6), st.data())
async def test_answers_with_heads_that_are_known_are_read_as_a_parser_reads_them(
    packets: list[bytes], data: st.DataObject
) -> None:
    found = []
    cut = data.draw(st.sampled_from([None, *range(len(packets))]))
    for can_wait in (True, False):
        heads, told_of_each = KnownHeads(), []
        for nth, packet in enumerate([*packets, *packets]):
            # A connection each, as after one that is not used again.
            told = Told()
            owner, connection = connected(told, can_wait=can_wait)
            owner.heads = heads
            middle = len(packet) // 2 if nth == cut else len(packet)
            connection.data_received(packet[:middle])
            if packet[middle:]:
                connection.data_received(packet[middle:])
            await turn()
            connection.connection_lost(None)
            detail = told.failure and told.failure.detail
            told_of_each.append((told.status, told.body, detail, owner.reusable))
            owner.inbox.close()
        found.append(told_of_each)
    assert found[0] == found[1]


async def test_a_known_head_spares_the_parser_also_on_the_same_connection() -> None:
    owner, connection = connected(Told())
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"
    bodies_told = []
    for body in (b"ab", b"cd", b"ef"):
        told = Told()
        connection.begin(told, b"POST ", perf_counter_ns(), can_wait=True)
        connection.data_received(answer + body)
        await turn()
        bodies_told.append((told.status, told.body, told.ended_ns is not None, owner.reusable))
    assert bodies_told == [(200, body, True, True) for body in (b"ab", b"cd", b"ef")]
    assert owner.heads.get(answer[:-4]) is not None
    assert owner.received_bytes == 3 * len(answer + b"ab")


class Refusing(Told):
    """An exchange that finds fault with a part of the answer."""

    def __init__(self, fault: Exception, at: str) -> None:
        super().__init__()
        self._fault, self._at = fault, at

    def on_head(self, status: int, _headers: object, _received_ns: int) -> None:
        super().on_head(status, _headers, _received_ns)
        if self._at == "head":
            raise self._fault

    def on_body(self, part: bytes, received_ns: int) -> None:
        super().on_body(part, received_ns)
        if self._at == "body":
            raise self._fault


@pytest.mark.parametrize("can_wait", [True, False])
@pytest.mark.parametrize("at", ["head", "body"])
@pytest.mark.parametrize("said", [b"ab", b"a"], ids=["whole", "begun"])
@pytest.mark.parametrize(
    ("fault", "told_kind"),
    [
        (AgentFailure(FailureKind.LIMIT, "too much"), FailureKind.LIMIT),
        (KeyError("ours"), FailureKind.HARNESS),
    ],
)
async def test_what_an_exchange_raises_comes_back_as_its_failure(
    fault: Exception, told_kind: FailureKind, said: bytes, at: str, *, can_wait: bool
) -> None:
    faults: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))
    told = Refusing(fault, at)
    owner, connection = connected(told, can_wait=can_wait)
    packet = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n" + said
    try:
        connection.data_received(packet)  # an exception of ours comes out here, or in the turn
    except KeyError as error:
        faults.append(error)
    await turn()
    assert (told.status, told.ended_ns) == (200, None)
    assert told.failure is not None
    assert told.failure.kind is told_kind
    assert len(faults) == (told_kind is FailureKind.HARNESS)
    owner.inbox.close()


async def test_the_head_of_an_answer_to_head_is_not_one_of_an_answer_with_a_body() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"
    heads = KnownHeads()
    for wire in (b"HEAD / HTTP/1.1\r\n\r\n", b"POST "):
        told = Told()
        owner, connection = connected(told)
        owner.heads = heads
        connection.wire = wire
        connection.data_received(head)
        await turn()
    assert told.ended_ns is None
    connection.data_received(b"ab")
    await turn()
    assert (told.body, told.ended_ns is None) == (b"ab", False)
    owner.inbox.close()


async def test_a_body_in_single_chunks_is_bounded() -> None:
    told = Told()
    owner, connection = connected(told)
    owner.max_body_bytes = 20
    connection.begin(told, b"POST ", perf_counter_ns(), can_wait=True)
    connection.data_received(HEAD + chunk(event(0)))
    await turn()
    connection._left = 20 - len(event(0))
    for nth in range(1, 4):
        connection.data_received(chunk(event(nth)))
    connection.read_kept()
    assert told.body == event(0) + event(1)
    assert told.failure is not None
    assert told.failure.kind is FailureKind.LIMIT
    owner.inbox.close()


def silent_after_an_event(quit_: threading.Event) -> Callable[[socket.socket], None]:
    """Return a server's side of a connection: one event, then nothing until `quit_`."""

    def fall_silent(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(HEAD)
        connection.sendall(chunk(event(1)))
        quit_.wait(60)

    return fall_silent


async def test_a_stream_that_falls_silent_is_read_all_the_same() -> None:
    quit_ = threading.Event()
    with raw_server(silent_after_an_event(quit_)) as server:
        pool = _pool(server.url)
        told = Told()
        pool.send(request_bytes("POST", server.url, {}, b"body"), told, can_wait=True)
        async with asyncio.timeout(30):
            await told.begun.wait()
        assert told.body == event(1)
        assert not told.over.is_set()
        quit_.set()
        await _closed(pool)


async def test_a_time_limit_comes_after_what_was_received_before_it() -> None:
    quit_ = threading.Event()
    with raw_server(silent_after_an_event(quit_)) as server:
        pool = _pool(server.url, Timeouts(idle=0.05))
        told = Told()
        pool.send(request_bytes("POST", server.url, {}, b"body"), told, can_wait=True)
        async with asyncio.timeout(30):
            await told.over.wait()
        assert told.body == event(1)
        assert told.failure is not None
        assert told.failure.kind is FailureKind.TIMEOUT
        quit_.set()
        await _closed(pool)


class Noted:
    """A connection that notes when it reads, and may fail at it."""

    def __init__(self, name: str, read: list[str], fault: Exception | None = None) -> None:
        self._name, self._read, self._fault = name, read, fault

    def read_kept(self) -> None:
        self._read.append(self._name)
        if self._fault is not None:
            raise self._fault


async def test_a_fault_in_one_stream_is_reported_and_the_others_are_read() -> None:
    loop = asyncio.get_running_loop()
    inbox, read = Inbox(loop), list[str]()
    faults: list[dict[str, object]] = []
    loop.set_exception_handler(lambda _, context: faults.append(context))
    inbox.read_next(Noted("faulty", read, KeyError("ours")))
    inbox.read_next(Noted("sound", read))
    for _ in range(2):
        await turn()
    assert read == ["faulty", "sound"]
    assert [type(fault["exception"]) for fault in faults] == [KeyError]
    assert "handle" not in faults[0]  # a worker would take it for a timer's, and end


async def test_what_is_urgent_comes_first_and_nothing_waits_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentbench_tui.http.inbox.TURN_NS", 0)  # of which nothing is left
    inbox, read = Inbox(asyncio.get_running_loop()), list[str]()
    for nth in range(2):
        inbox.read_soon(Noted(f"tokens {nth}", read))
        inbox.read_next(Noted(f"end {nth}", read))
    for _ in range(3):
        await turn()
    assert len(read) == 4
    assert read.index("tokens 0") < read.index("tokens 1")
    assert read.index("end 0") < read.index("end 1")


async def test_a_turn_reads_the_ends_before_the_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentbench_tui.http.inbox.TURN_NS", 10**10)
    inbox, read = Inbox(asyncio.get_running_loop()), list[str]()
    inbox.read_soon(Noted("tokens", read))
    inbox.read_next(Noted("end", read))
    await turn()
    assert read == ["end", "tokens"]


async def test_what_is_kept_for_too_long_is_read_and_what_was_closed_is_not() -> None:
    inbox, read = Inbox(asyncio.get_running_loop()), list[str]()
    inbox.keep(Noted("old", read), perf_counter_ns() - 2 * KEPT_NS)
    async with asyncio.timeout(30):
        while not read:
            await turn()
    inbox.read_next(Noted("closed", read))
    inbox.close()
    await turn()
    assert read == ["old"]


def _pool(url: str, timeouts: Timeouts | None = None) -> Pool:
    return Pool(
        Origin.of(url),
        asyncio.get_running_loop(),
        timeouts=timeouts or Timeouts(),
        max_body_bytes=10_000,
    )


async def _closed(pool: Pool) -> None:
    pool.close()
    async with asyncio.timeout(30):
        await pool.wait_closed()
