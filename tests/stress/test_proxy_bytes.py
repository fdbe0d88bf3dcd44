"""Without a fault the proxy is a wire: bytes, ends and resets pass as they are, in any split."""

import asyncio
import os
import socket
import ssl
from pathlib import Path

import hypothesis.strategies as st
import pytest
import uvloop
from hypothesis import given, settings
from proxied import Wire, come_true, connected, echo, proxied

SELF_SIGNED = Path(__file__).parents[1] / "servers" / "self_signed.pem"
BIG = os.urandom(1 << 20)

REQUEST = b"POST /v1 HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello"
ANSWER = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nworld\r\n0\r\n\r\n"
LOOSE = [
    REQUEST,
    ANSWER,
    b"GET / HTTP/1.1\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
    b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    b"GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    b"GET / HTTP/1.1\n\n",
    b"\r\n\r\n",
    b"\x16\x03\x01",
]
"""Messages, and what looks like one for a while."""

conversations = st.lists(
    st.tuples(st.booleans(), st.one_of(st.sampled_from(LOOSE), st.binary(min_size=1))),
    max_size=6,
)


async def passes_unchanged(said: list[tuple[bool, bytes]], cuts: list[int], http: bool) -> None:
    async with proxied(http=http) as setup:
        client, target = await setup.both()
        for by_client, data in said:
            wire = client if by_client else target
            place = cuts[len(data) % len(cuts)] % (len(data) + 1) if cuts else 0
            for part in (data[:place], data[place:]):
                if part:
                    await wire.send(part)
        client.end()
        target.end()
        from_client, from_target = await asyncio.gather(target.read_all(), client.read_all())
        assert from_client == b"".join(data for by_client, data in said if by_client)
        assert from_target == b"".join(data for by_client, data in said if not by_client)
        counts = await setup.until(lambda counts: not counts.open)
        assert counts.to_target_bytes == len(from_client)
        assert counts.to_client_bytes == len(from_target)
        assert counts.held_bytes == 0


@given(conversations, st.lists(st.integers(0, 99), max_size=3), st.booleans())
@settings(max_examples=60)
def test_any_bytes_in_any_splits_pass_unchanged(
    said: list[tuple[bool, bytes]], cuts: list[int], http: bool
) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(passes_unchanged(said, cuts, http))


@pytest.mark.parametrize("http", [False, True])
async def test_much_passes_both_ways_at_once(http: bool) -> None:
    async with proxied(echo, http=http) as setup:
        client = await setup.client()

        async def send() -> None:
            await client.send(BIG)
            client.end()

        _, got = await asyncio.gather(send(), client.read_all())
        assert got == BIG


@pytest.mark.parametrize("http", [False, True])
async def test_each_direction_ends_by_itself(http: bool) -> None:
    async with proxied(http=http) as setup:
        client, target = await setup.both()
        await client.send(REQUEST)
        client.end()
        assert await target.read_all() == REQUEST
        await target.send(ANSWER)
        assert await client.read_exactly(len(ANSWER)) == ANSWER
        assert client.has_nothing()
        target.end()
        assert await client.read_all() == b""
        await setup.until(lambda counts: not counts.open)


@pytest.mark.parametrize("http", [False, True])
async def test_a_reset_of_either_side_is_a_reset_for_the_other(http: bool) -> None:
    async with proxied(http=http) as setup:
        client, target = await setup.both()
        client.reset()
        assert await target.read_until_reset() == b""
        client, target = await setup.both()
        await target.send(ANSWER)
        assert await client.read_exactly(len(ANSWER)) == ANSWER
        target.reset()
        assert await client.read_until_reset() == b""
        await setup.until(lambda counts: not counts.open)


async def test_where_the_target_takes_no_connection_the_client_is_reset() -> None:
    async with proxied() as setup:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        setup.proxy._target = setup.proxy._target._replace(port=port)
        client = await setup.client()
        assert await client.read_until_reset() == b""
        counts = await setup.until(lambda counts: not counts.open)
        assert (counts.connections, counts.unreachable) == (1, 1)


async def test_tls_passes_untouched_before_a_target_of_any_kind() -> None:
    server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_tls.load_cert_chain(SELF_SIGNED)
    client_tls = ssl.create_default_context(cafile=str(SELF_SIGNED))
    client_tls.check_hostname = False

    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        writer.close()

    server = await asyncio.start_server(shout, "127.0.0.1", 0, ssl=server_tls)
    async with server, proxied(http=True) as setup:
        port = server.sockets[0].getsockname()[1]
        setup.proxy._target = setup.proxy._target._replace(port=port)
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", setup.proxy.port, ssl=client_tls
        )
        writer.write(b"psst\n")
        assert await reader.readline() == b"PSST\n"
        writer.close()
        await writer.wait_closed()
        assert setup.counts().requests == 0


@pytest.mark.parametrize("http", [False, True])
async def test_who_does_not_read_stops_who_sends(http: bool) -> None:
    """What the proxy takes in is bounded, so the sender's socket fills up."""
    async with proxied(http=http) as setup:
        client, target = await setup.both()
        piece = bytes(1 << 20)
        sent = 0
        unread = await unread_by(client, target, piece)
        sent += unread
        assert sent < 64 << 20
        assert setup.counts().held_bytes <= 2 << 20
        # Nothing is lost by that.
        target.end()
        got = 0
        while part := await client.read():
            got += len(part)
        assert got == sent


async def unread_by(client: Wire, target: Wire, piece: bytes) -> int:
    """Send until nothing is taken any more; how much was."""
    loop = asyncio.get_running_loop()
    sent = 0
    idle = 0
    while idle < 50:
        try:
            sent += target.socket.send(piece)
            idle = 0
        except BlockingIOError:
            idle += 1
        done = loop.create_future()
        loop.call_later(0.001, done.set_result, None)
        await done
    return sent


async def test_thousands_of_connections_leave_nothing_behind() -> None:
    async with proxied(echo) as setup:

        async def talk(nth: int) -> None:
            wire = connected(setup.proxy.port)
            await wire.send(b"x")
            assert await wire.read() == b"x"
            (wire.reset if nth % 2 else wire.close)()

        await talk(0)
        await setup.until(lambda counts: not counts.open)
        files = open_files()
        for _ in range(10):
            await asyncio.gather(*(talk(nth) for nth in range(100)))
        counts = await setup.until(lambda counts: not counts.open)
        assert counts.connections == 1001
        assert counts.held_bytes == 0
        assert not len(setup.proxy.agenda)
        assert not setup.proxy._opening
        await come_true(lambda: open_files() <= files)


async def test_more_connections_than_files_allow_are_turned_away() -> None:
    async with proxied(echo) as setup:
        setup.proxy._most_connections = 1
        first, second = await setup.client(), await setup.client()
        assert await second.read_until_reset() == b""
        await first.send(b"x")
        assert await first.read() == b"x"
        assert setup.counts().turned_away == 1


async def test_it_ends_in_the_middle_of_taking_connections() -> None:
    for turns in range(5):
        async with proxied(echo) as setup:
            for _ in range(5):
                await setup.client()
            for _ in range(turns):
                await asyncio.sleep(0)
        assert not setup.proxy._opening


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
