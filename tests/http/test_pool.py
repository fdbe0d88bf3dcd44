"""The pool by its callbacks: when connections are used again, resent on, closed, given up."""

import asyncio
import errno
import gc
import socket
import ssl
import threading
import time
from collections.abc import Callable

import pytest
from raw_server import raw_server, read_request, saying, saying_once, sized

from agentbench_tui.http.client import Timeouts
from agentbench_tui.http.connection import Connection
from agentbench_tui.http.exchange import Exchange
from agentbench_tui.http.failures import cannot_connect
from agentbench_tui.http.pool import Pool
from agentbench_tui.http.wire import Origin, request_bytes
from agentbench_tui.model.answer import AgentFailure, FailureKind


class Told(Exchange):
    """An exchange that keeps what it was told."""

    def __init__(self, then: Callable[[], None] | None = None) -> None:
        self.over = asyncio.get_running_loop().create_future()
        self.begun = asyncio.Event()
        self.status = 0
        self.body = b""
        self.calls: list[str] = []
        self.failure: AgentFailure | None = None
        self.times: list[int] = []
        self._then = then

    def on_head(self, status: int, headers: list[tuple[bytes, bytes]], received_ns: int) -> None:
        self.calls.append("head")
        self.times.append(received_ns)
        self.status = status

    def on_body(self, part: bytes, received_ns: int) -> None:
        self.calls.append("body")
        self.begun.set()
        self.times.append(received_ns)
        self.body += part

    def on_end(self, received_ns: int) -> None:
        self.calls.append("end")
        self.times.append(received_ns)
        if self._then is not None:
            self._then()
        self.over.set_result(None)

    def on_failure(self, failure: AgentFailure, received_ns: int) -> None:
        self.calls.append("failure")
        self.failure = failure
        self.over.set_result(None)


def pool_of(
    url: str,
    *,
    keep_alive_s: float = 4.0,
    max_body_bytes: int = 10_000,
    timeouts: Timeouts | None = None,
    tls: ssl.SSLContext | None = None,
) -> Pool:
    return Pool(
        Origin.of(url),
        asyncio.get_running_loop(),
        timeouts=timeouts or Timeouts(),
        max_body_bytes=max_body_bytes,
        tls=tls,
        keep_alive_s=keep_alive_s,
    )


async def closed(pool: Pool) -> None:
    pool.close()
    async with asyncio.timeout(60):
        await pool.wait_closed()


async def told(pool: Pool, wire: bytes) -> Told:
    exchange = Told()
    pool.send(wire, exchange)
    async with asyncio.timeout(60):
        await exchange.over
    return exchange


async def test_the_end_of_an_answer_frees_its_connection_for_the_next() -> None:
    with raw_server(saying(sized(b"ok"))) as server:
        pool = pool_of(server.url)
        wire = request_bytes("POST", server.url, {}, b"body")
        second = Told()
        first = Told(then=lambda: pool.send(wire, second))
        pool.send(wire, first)
        async with asyncio.timeout(60):
            await second.over
        assert first.calls == second.calls == ["head", "body", "end"]
        assert (second.status, second.body) == (200, b"ok")
        assert first.times == sorted(first.times)
        assert first.times[-1] <= second.times[0]
        assert pool.opened == server.connections == 1
        assert pool.sent_bytes == 2 * len(wire)
        assert pool.received_bytes == 2 * len(sized(b"ok"))
        await closed(pool)


async def test_a_dead_idle_connection_is_replaced_once() -> None:
    def answer_then_end_on_the_next(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(sized(b"first"))
        read_request(connection)

    with raw_server(answer_then_end_on_the_next, saying(sized(b"second"))) as server:
        pool = pool_of(server.url)
        wire = request_bytes("POST", server.url, {}, b"body")
        assert (await told(pool, wire)).body == b"first"
        assert (await told(pool, wire)).body == b"second"
        assert (pool.opened, pool.resent) == (2, 1)
        await closed(pool)


async def test_a_request_that_a_server_took_is_not_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer_then_take_the_next(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(sized(b"first"))
        read_request(connection)

    monkeypatch.setattr("agentbench_tui.http.connection.RESENT_WITHIN_NS", 0)
    with raw_server(answer_then_take_the_next, saying(sized(b"twice"))) as server:
        pool = pool_of(server.url)
        wire = request_bytes("POST", server.url, {}, b"body")
        assert (await told(pool, wire)).body == b"first"
        second = await told(pool, wire)
        assert second.failure is not None
        assert second.failure.kind is FailureKind.CONNECTION
        assert second.failure.detail.endswith("before the first byte of its answer")
        assert (pool.opened, pool.resent, server.connections) == (1, 0, 1)
        await closed(pool)


async def test_a_connection_whose_request_is_not_out_yet_is_not_used_again() -> None:
    answered = threading.Event()

    def refuse_unread(connection: socket.socket) -> None:
        connection.recv(100)
        connection.sendall(sized(b"too long", status=b"413 No"))
        answered.wait(30)

    with raw_server(refuse_unread, saying(sized(b"ok"))) as server:
        pool = pool_of(server.url)
        long = request_bytes("POST", server.url, {}, b"x" * 20_000_000)
        assert (await told(pool, long)).status == 413
        assert (await told(pool, request_bytes("POST", server.url, {}, b"body"))).body == b"ok"
        assert server.connections == pool.opened == 2
        answered.set()
        await closed(pool)


async def test_a_status_below_100_is_no_answer() -> None:
    with raw_server(saying(b"HTTP/1.1 099 What\r\n\r\n")) as server:
        pool = pool_of(server.url)
        exchange = await told(pool, request_bytes("POST", server.url, {}, b"body"))
        assert exchange.failure is not None
        assert exchange.failure.kind is FailureKind.PARSE
        await closed(pool)


@pytest.mark.parametrize("alert", [True, False])
async def test_over_tls_a_closure_alert_tells_an_end_from_a_cut(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext, alert: bool
) -> None:
    """RFC 9112, 9.8: what ends with its connection is whole only after a closure alert."""

    def talk(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nto the end")
        if alert:
            assert isinstance(connection, ssl.SSLSocket)
            connection.unwrap()

    with raw_server(talk, tls=server_tls) as server:
        pool = pool_of(server.url, tls=client_tls)
        exchange = await told(pool, request_bytes("POST", server.url, {}, b"body"))
        assert exchange.body == b"to the end"
        assert exchange.calls[-1] == ("end" if alert else "failure")
        assert alert or (exchange.failure and exchange.failure.kind is FailureKind.TRUNCATED)
        await closed(pool)


async def test_a_server_that_closes_after_each_answer() -> None:
    with raw_server(saying_once(sized(b"ok"))) as server:
        pool = pool_of(server.url)
        wire = request_bytes("POST", server.url, {}, b"body")
        for _ in range(10):
            assert (await told(pool, wire)).body == b"ok"
        assert server.connections == pool.opened == 10
        await closed(pool)


async def test_an_answer_to_the_end_of_its_connection_ended_with_its_last_byte() -> None:
    with raw_server(saying_once(b"HTTP/1.1 200 OK\r\n\r\nto the end")) as server:
        pool = pool_of(server.url)
        exchange = await told(pool, request_bytes("POST", server.url, {}, b"body"))
        assert exchange.calls[-2:] == ["body", "end"]
        assert exchange.times[-2] == exchange.times[-1]
        await closed(pool)


async def test_a_new_connection_that_dies_is_a_failure() -> None:
    with raw_server(saying_once()) as server:
        pool = pool_of(server.url)
        exchange = await told(pool, request_bytes("POST", server.url, {}, b"body"))
        assert exchange.failure is not None
        assert exchange.failure.kind is FailureKind.CONNECTION
        assert (pool.opened, pool.resent) == (1, 0)
        await closed(pool)


async def test_canceling_closes_the_connection_and_calls_nothing() -> None:
    with raw_server(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart")) as server:
        pool = pool_of(server.url)
        wire = request_bytes("POST", server.url, {}, b"body")
        exchange = Told()
        pool.send(wire, exchange)
        async with asyncio.timeout(60):
            await exchange.begun.wait()
        pool.cancel(exchange)
        async with asyncio.timeout(60):
            await pool.wait_closed()
        assert exchange.calls == ["head", "body"]
        assert pool.in_flight == 0
        await closed(pool)


async def test_a_request_may_be_canceled_at_any_moment_of_opening() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        wire = request_bytes("POST", url, {}, b"body")
        for steps in range(10):  # of the loop; in one of them the connection is just there
            pool = pool_of(url)
            exchange = Told()
            pool.send(wire, exchange)
            for _ in range(steps):
                await asyncio.sleep(0)
            pool.cancel(exchange)
            await closed(pool)
            assert exchange.calls == []


async def test_connections_that_are_idle_too_long_are_closed() -> None:
    with raw_server(saying(sized(b"ok"))) as server:
        pool = pool_of(server.url, keep_alive_s=0.05)
        await told(pool, request_bytes("POST", server.url, {}, b"body"))
        async with asyncio.timeout(60):
            await pool.wait_closed()
        await closed(pool)


async def test_a_trailer_that_does_not_end_is_given_up() -> None:
    begun = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
    with raw_server(saying(begun, b"x-endless: " + b"x" * 1_000_000)) as server:
        pool = pool_of(server.url)
        exchange = await told(pool, request_bytes("POST", server.url, {}, b"body"))
        assert exchange.calls == ["head", "body", "failure"]
        assert exchange.failure is not None
        assert exchange.failure.kind is FailureKind.PARSE
        await closed(pool)


async def test_a_long_body_in_large_packets_is_no_long_head() -> None:
    body = b"x" * 1_000_000
    with raw_server(saying(sized(body))) as server:
        pool = pool_of(server.url, max_body_bytes=len(body))
        exchange = await told(pool, request_bytes("POST", server.url, {}, b"body"))
        assert exchange.body == body
        await closed(pool)


async def test_every_address_of_a_host_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server(saying(sized(b"ok"))) as server, socket.socket() as refusing:
        refusing.bind(("127.0.0.2", 0))
        pool = pool_of(f"http://two.invalid:{server.port}/")

        async def two_addresses(host: str, port: int, **_: object) -> list[object]:
            assert host == "two.invalid"
            return [(0, 0, 0, "", ("127.0.0.2", port)), (0, 0, 0, "", ("127.0.0.1", port))]

        monkeypatch.setattr(pool, "_loop", LoopWith(pool._loop, two_addresses))
        for _ in range(2):
            wire = request_bytes("POST", server.url, {"connection": "close"}, b"body")
            assert (await told(pool, wire)).body == b"ok"
        await closed(pool)


@pytest.mark.parametrize("hosts", [("127.0.0.1",), ("127.0.0.1", "127.0.0.2")])
async def test_a_handshake_may_take_longer_than_an_address_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
    server_tls: ssl.SSLContext,
    client_tls: ssl.SSLContext,
    hosts: tuple[str, ...],
) -> None:
    def shake_hands_slowly(connection: socket.socket) -> None:
        time.sleep(0.6)
        with server_tls.wrap_socket(connection, server_side=True) as secured:
            read_request(secured)
            secured.sendall(sized(b"ok"))

    # Long enough to connect on a busy machine, and shorter than the handshake.
    monkeypatch.setattr("agentbench_tui.http.pool._NEXT_ADDRESS_S", 0.5)
    with raw_server(shake_hands_slowly) as server:
        url = server.url.replace("http:", "https:")
        pool = pool_of(url, tls=client_tls)
        monkeypatch.setattr(pool, "_resolve", lambda: addresses(*hosts))
        exchange = await told(pool, request_bytes("POST", url, {}, b"body"))
        assert (exchange.failure, exchange.body) == (None, b"ok")
        assert server.connections == 1
        await closed(pool)


async def test_a_handshake_that_hangs_fails_once_and_within_the_connect_limit(
    monkeypatch: pytest.MonkeyPatch, client_tls: ssl.SSLContext
) -> None:
    def hang(connection: socket.socket) -> None:
        while connection.recv(65536):
            pass

    # Long enough to connect on a busy machine, and shorter than the handshake.
    monkeypatch.setattr("agentbench_tui.http.pool._NEXT_ADDRESS_S", 0.5)
    with raw_server(hang) as server:
        url = server.url.replace("http:", "https:")
        pool = pool_of(url, tls=client_tls, timeouts=Timeouts(connect=1.0))
        monkeypatch.setattr(pool, "_resolve", lambda: addresses("127.0.0.1", "127.0.0.2"))
        exchange = await told(pool, request_bytes("POST", url, {}, b"body"))
        assert exchange.failure is not None
        assert exchange.failure.kind is FailureKind.TIMEOUT
        assert exchange.failure.detail.startswith("connect time limit of 1 s")
        assert server.connections == 1
        await closed(pool)


async def test_a_server_that_closes_in_the_handshake(client_tls: ssl.SSLContext) -> None:
    def leave(connection: socket.socket) -> None:
        connection.recv(65536)

    with raw_server(leave) as server:
        url = server.url.replace("http:", "https:")
        pool = pool_of(url, tls=client_tls)
        exchange = await told(pool, request_bytes("POST", url, {}, b"body"))
        assert exchange.failure is not None
        assert str(exchange.failure) == (
            f"connection: TLS with {pool.place} failed: the connection was closed in the handshake"
        )
        await closed(pool)


async def addresses(*hosts: str) -> list[str]:
    """What a look-up finds."""
    return list(hosts)


class LoopWith:
    """A loop with name resolution of its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop, getaddrinfo: object) -> None:
        self._loop = loop
        self.getaddrinfo = getaddrinfo

    def __getattr__(self, name: str) -> object:
        return getattr(self._loop, name)


async def test_what_an_exchange_raises_ends_it() -> None:
    class Refusing(Told):
        def on_body(self, part: bytes, received_ns: int) -> None:
            raise AgentFailure(FailureKind.LIMIT, "enough")

    with raw_server(saying(sized(b"ok"))) as server:
        pool = pool_of(server.url)
        exchange = Refusing()
        pool.send(request_bytes("POST", server.url, {}, b"body"), exchange)
        async with asyncio.timeout(60):
            await exchange.over
        assert exchange.calls == ["head", "failure"]
        assert str(exchange.failure) == "limit: enough"
        async with asyncio.timeout(60):
            await pool.wait_closed()
        await closed(pool)


async def test_an_exchange_may_be_canceled_by_what_it_is_told() -> None:
    class Enough(Told):
        def on_body(self, part: bytes, received_ns: int) -> None:
            super().on_body(part, received_ns)
            pool.cancel(self)
            self.over.set_result(None)

    chunks = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 50
    with raw_server(saying(chunks + b"0\r\n\r\n")) as server:
        pool = pool_of(server.url)
        exchange = Enough()
        pool.send(request_bytes("POST", server.url, {}, b"body"), exchange)
        async with asyncio.timeout(60):
            await exchange.over
            await pool.wait_closed()
        assert exchange.calls == ["head", "body"]
        assert pool.in_flight == 0
        await closed(pool)


async def test_sending_says_whether_a_connection_is_opened() -> None:
    with raw_server(saying(sized(b"ok"))) as server:
        pool = pool_of(server.url)
        wire = request_bytes("POST", server.url, {}, b"body")
        opened = []
        for _ in range(2):
            exchange = Told()
            opened.append(pool.send(wire, exchange))
            await exchange.over
        assert opened == [True, False]
        await closed(pool)


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EMFILE, "ulimit -n"),
        (errno.ENFILE, "ulimit -n"),
        (errno.EADDRNOTAVAIL, "ip_local_port_range"),
        (errno.ENOBUFS, "fewer connections"),
        (errno.ENOMEM, "fewer connections"),
    ],
)
def test_what_this_machine_lacks_is_no_fault_of_the_server(number: int, advice: str) -> None:
    ours = cannot_connect("127.0.0.1:1", OSError(number, "of no use"))
    assert ours.kind is FailureKind.HARNESS
    assert advice in ours.detail


def test_what_the_server_refuses_is_told_in_the_words_of_the_system() -> None:
    theirs = cannot_connect("127.0.0.1:1", OSError(errno.ECONNREFUSED, "Connect call failed"))
    assert theirs.kind is FailureKind.CONNECTION
    assert theirs.detail == "cannot connect to 127.0.0.1:1: Connection refused"


async def test_connections_that_come_to_nothing_leave_no_work_to_the_collector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def no_addresses(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))
        refused = pool_of(f"http://127.0.0.1:{refusing.getsockname()[1]}/")
        nowhere = pool_of("http://nowhere.invalid/")
        monkeypatch.setattr(nowhere, "_loop", LoopWith(nowhere._loop, no_addresses))
        gc.collect()
        before = {id(one) for one in gc.get_objects() if isinstance(one, Connection)}
        gc.disable()
        try:
            for pool in (refused, nowhere):
                told_of = await told(pool, request_bytes("POST", pool.url, {}, b"body"))
                assert told_of.failure is not None
                await closed(pool)
            del pool
            left = [one for one in gc.get_objects() if isinstance(one, Connection)]
        finally:
            gc.enable()
    assert [one for one in left if id(one) not in before] == []
