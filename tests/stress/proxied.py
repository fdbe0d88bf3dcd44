"""Raw sockets on both sides of a proxy, all on the loop of the test."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import perf_counter_ns

from agentbench_tui.stress.faults.fault import Fault, Kind
from agentbench_tui.stress.faults.proxy import Proxy
from agentbench_tui.stress.faults.proxy_target import ProxyTarget
from agentbench_tui.stress.faults.script import Clear, Counts, Schedule, Start, Tell

PATIENCE_S = 60.0
"""Nothing that is waited for takes so long, unless it never comes."""


class Wire:
    """A connection, byte by byte."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connection
        self._loop = asyncio.get_running_loop()

    async def send(self, data: bytes) -> None:
        await self._loop.sock_sendall(self.socket, data)

    async def read(self) -> bytes:
        """What comes next; empty at its end. Raises ConnectionResetError."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._loop.sock_recv(self.socket, 1 << 20)

    async def read_exactly(self, size: int) -> bytes:
        got = b""
        while len(got) < size:
            async with asyncio.timeout(PATIENCE_S):
                part = await self._loop.sock_recv(self.socket, size - len(got))
            assert part, f"ended after {got!r}"
            got += part
        return got

    async def read_all(self) -> bytes:
        """To an orderly end."""
        parts = []
        while part := await self.read():
            parts.append(part)
        return b"".join(parts)

    async def read_until_reset(self) -> bytes:
        """To a reset; an orderly end fails the test."""
        got = b""
        try:
            while part := await self.read():
                got += part
        except ConnectionResetError:
            return got
        raise AssertionError(f"an orderly end after {got!r}")

    def has_nothing(self) -> bool:
        """Neither bytes nor an end have come."""
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        return False

    def end(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.socket.close()

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


Talk = Callable[[Wire], Awaitable[None]]


@dataclass
class Proxied:
    """A proxy, the target behind it, and what the test has opened."""

    proxy: Proxy
    accepted: asyncio.Queue[Wire]
    """Connections that the target got, where it has no talk."""
    wires: list[Wire] = field(default_factory=list)

    async def client(self) -> Wire:
        wire = connected(self.proxy.port)
        self.wires.append(wire)
        return wire

    async def both(self) -> tuple[Wire, Wire]:
        """A client and its target."""
        client = await self.client()
        return client, await self.target()

    async def target(self) -> Wire:
        async with asyncio.timeout(PATIENCE_S):
            return await self.accepted.get()

    def begin(self, *kinds: Kind | Fault) -> Counts:
        """Faults that are on when this returns."""
        faults = (kind if isinstance(kind, Fault) else Fault(kind) for kind in kinds)
        self.proxy.hear(Schedule(tuple(faults)))
        return self.proxy.hear(Start(perf_counter_ns()))

    def clear(self, *numbers: int) -> Counts:
        return self.proxy.hear(Clear(numbers or None))

    async def settle(self) -> Counts:
        """What was sent on loopback has been taken in by then, where it is taken at all."""
        for _ in range(10):
            await asyncio.sleep(0)
        return self.counts()

    def counts(self) -> Counts:
        return self.proxy.hear(Tell())

    async def until(self, holds: Callable[[Counts], bool]) -> Counts:
        """Turn the loop until the counts say so."""
        await come_true(lambda: holds(self.counts()))
        return self.counts()


async def come_true(holds: Callable[[], bool]) -> None:
    """Turn the loop until it does."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - the kernel sets no event
            await asyncio.sleep(0.001)


def connected(port: int) -> Wire:
    """Raises ConnectionRefusedError."""
    # Without the loop, which would see a reset before it saw the connection.
    return Wire(socket.create_connection(("127.0.0.1", port)))


@asynccontextmanager
async def proxied(talk: Talk | None = None, *, http: bool = False) -> AsyncIterator[Proxied]:
    """A proxy before a target that talks so on each connection, or leaves that to the test."""
    loop = asyncio.get_running_loop()
    accepted: asyncio.Queue[Wire] = asyncio.Queue()
    taken: list[Wire] = []
    talks: set[asyncio.Task[None]] = set()

    async def converse(wire: Wire) -> None:
        assert talk is not None
        with suppress(OSError):
            await talk(wire)
        wire.close()

    async def accept() -> None:
        while True:
            connection, _ = await loop.sock_accept(listening)
            taken.append(Wire(connection))
            if talk is None:
                accepted.put_nowait(taken[-1])
            else:
                talks.add(loop.create_task(converse(taken[-1])))

    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listening:
        listening.setblocking(False)
        accepting = loop.create_task(accept())
        proxy = Proxy(ProxyTarget("127.0.0.1", listening.getsockname()[1], http))
        setup = Proxied(proxy, accepted)
        try:
            yield setup
        finally:
            await proxy.close()
            tasks = [accepting, *talks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for wire in (*setup.wires, *taken):
                wire.close()
    assert not proxy.counts().open, "a connection has outlived the proxy"


async def echo(wire: Wire) -> None:
    """Everything back, until the end."""
    while data := await wire.read():
        await wire.send(data)
