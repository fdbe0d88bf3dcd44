"""`HttpClient` on connections built for precise measurement.

The receive time of a part is that of its packet, taken before anything is parsed and before any
task is switched to. Follows no redirect, knows no proxy, asks for an uncompressed answer and
refuses a compressed one, verifies TLS, keeps no cookies, reads nothing from the environment.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager

from agentbench_tui.http.client import DRAIN_S, HttpRequest, Timeouts, place_of
from agentbench_tui.http.exchange import Exchange, Headers
from agentbench_tui.http.failures import closed_by_us
from agentbench_tui.http.pool import Pool
from agentbench_tui.http.wire import Origin, request_bytes
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.model.errors import UsageError

_PoolKey = tuple[Origin, Timeouts, int]


class HttptoolsClient:
    """Pools of one agent session, one per origin. Opens on first use, on the running loop."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """`tls` verifies servers; by default the system's trust store."""
        self._tls = tls
        self._pools: dict[_PoolKey, Pool] = {}
        self._under_way: set[_Answer] = set()

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[_Answer]:
        """See `HttpClient.send`."""
        wire = _wire_of(request)
        pool = self._pool(request)
        answer = _Answer(asyncio.get_running_loop(), request.url)
        self._under_way.add(answer)
        try:
            pool.send(wire, answer)
            await answer.head()
            yield answer
            await answer.drain()
        finally:
            self._under_way.discard(answer)
            pool.cancel(answer)

    async def close(self) -> None:
        """See `HttpClient.close`."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.close()
        for answer in tuple(self._under_way):
            answer.on_failure(closed_by_us(place_of(answer.url)), perf_counter_ns())
        for pool in pools.values():
            await pool.wait_closed()

    @property
    def opened(self) -> int:
        """Return the number of connections opened so far."""
        return sum(pool.opened for pool in self._pools.values())

    @property
    def resent(self) -> int:
        """See `Pool.resent`."""
        return sum(pool.resent for pool in self._pools.values())

    def _pool(self, request: HttpRequest) -> Pool:
        # Limits belong to the pool, whose timers are shared; a session uses one set of them.
        key = (Origin.of(request.url), request.timeouts, request.max_body_bytes)
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = Pool(
                key[0],
                asyncio.get_running_loop(),
                timeouts=request.timeouts,
                max_body_bytes=request.max_body_bytes,
                tls=self._tls,
            )
        return pool


class _Answer(Exchange):
    """An `Exchange` on one side and an `HttpResponse` on the other."""

    def __init__(self, loop: asyncio.AbstractEventLoop, url: str) -> None:
        self.url = url
        self.status = 0
        self.headers: Mapping[str, str] = Fields([])
        self.sent_ns = perf_counter_ns()
        self.first_byte_ns = 0
        self._loop = loop
        self._parts: deque[tuple[int, bytes]] = deque()
        self._over = False
        self._failure: AgentFailure | None = None
        self._waiter: asyncio.Future[None] | None = None

    async def __aiter__(self) -> AsyncIterator[tuple[int, bytes]]:
        parts = self._parts
        while True:
            while parts:
                yield parts.popleft()
            if self._failure is not None:
                raise self._failure
            if self._over:
                return
            await self._more()

    async def head(self) -> None:
        """Wait for the head. Raises the failure that came instead."""
        while not self.first_byte_ns:
            if self._failure is not None:
                raise self._failure
            await self._more()

    async def drain(self) -> None:
        """Wait briefly for the end of an unneeded body, so that the connection can be reused."""
        if self._over:
            return
        try:
            async with asyncio.timeout(DRAIN_S):
                while not self._over:
                    await self._more()
        except TimeoutError:
            return

    # What the pool calls.

    def on_head(self, status: int, headers: Headers, received_ns: int, /) -> None:
        """See `Exchange.on_head`."""
        self.status = status
        self.headers = Fields(headers)
        self.first_byte_ns = received_ns
        self._wake()

    def on_body(self, part: bytes, received_ns: int, /) -> None:
        """See `Exchange.on_body`."""
        self._parts.append((received_ns, part))
        self._wake()

    def on_end(self, _received_ns: int, /) -> None:
        """See `Exchange.on_end`."""
        self._over = True
        self._wake()

    def on_failure(self, failure: AgentFailure, _received_ns: int, /) -> None:
        """See `Exchange.on_failure`."""
        self._over = True
        self._failure = failure
        self._wake()

    async def _more(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class Fields(Mapping[str, str]):
    """Fields of a head by case-insensitive name; the first of several wins."""

    def __init__(self, headers: Headers) -> None:
        self._values: dict[str, str] = {}
        for name, value in headers:
            self._values.setdefault(name.decode("latin-1").lower(), _text(value))

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _text(value: bytes) -> str:
    """Return a field's value: UTF-8 if valid, otherwise byte for byte."""
    return value.decode("utf-8", "surrogateescape")


def _wire_of(request: HttpRequest) -> bytes:
    try:
        return request_bytes(request.method, request.url, request.headers, request.body)
    except UsageError as error:
        problem = str(error)
    raise AgentFailure(FailureKind.AGENT, problem)
