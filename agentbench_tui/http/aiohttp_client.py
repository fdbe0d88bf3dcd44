"""`HttpClient` on aiohttp: for proxies, and what the measuring client does not support.

Follows no redirect, asks for an uncompressed answer and refuses a compressed one, verifies TLS,
keeps no cookies, and reads no proxy or netrc settings from the environment. It measures later than
`http.httptools_client`: a part has its time when the task that reads it comes to run.
"""

from __future__ import annotations

import asyncio
import io
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import aiohttp

from agentbench_tui.http.client import (
    DRAIN_S,
    KEEP_ALIVE_S,
    HttpRequest,
    place_of,
    timed_out,
    too_long,
)
from agentbench_tui.http.failures import (
    cannot_connect,
    closed_early,
    closed_in_body,
    compressed,
    head_too_long,
    no_such_host,
    not_http,
    proxy_refused,
    tls_failed,
)
from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.model.clock import perf_counter_ns

_WRITTEN_AT_ONCE = 64 * 1024


class AiohttpClient:
    """Pooled connections of one agent session. Opens on first use, inside a running loop."""

    def __init__(
        self,
        concurrency: int = 0,
        *,
        tls: ssl.SSLContext | None = None,
        proxy: str | None = None,
    ) -> None:
        """`concurrency` bounds the pool; 0 leaves the bound to the caller.

        `tls` is what servers are verified with: the system's trust unless given. `proxy` is the
        URL of an HTTP proxy that every request goes through.
        """
        self._concurrency = concurrency
        self._tls = tls
        self._proxy = proxy
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[AiohttpResponse]:
        """See `HttpClient.send`."""
        response = await self._head(request)
        try:
            yield response
            await response.drain()
        finally:
            response.release()

    async def close(self) -> None:
        """See `HttpClient.close`."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _head(self, request: HttpRequest) -> AiohttpResponse:
        session = self._session or self._open()
        limits = request.timeouts
        loop = asyncio.get_running_loop()
        started = loop.time()
        total_at = None if limits.total is None else started + limits.total
        first_at = None if limits.first_byte is None else started + limits.first_byte
        total_is_first = total_at is not None and (first_at is None or total_at <= first_at)
        failure: AgentFailure
        sent_ns = perf_counter_ns()
        try:
            async with asyncio.timeout_at(total_at if total_is_first else first_at):
                raw = await session.request(
                    request.method,
                    request.url,
                    headers=request.headers,
                    data=_data(request.body),
                    allow_redirects=False,
                    ssl=True if self._tls is None else self._tls,
                    proxy=self._proxy,
                    timeout=aiohttp.ClientTimeout(connect=limits.connect),
                )
            first_byte_ns = perf_counter_ns()
            return AiohttpResponse(raw, request, sent_ns, first_byte_ns, total_at)
        except aiohttp.ConnectionTimeoutError:
            failure = timed_out("connect", limits.connect, request.url)
        except TimeoutError:
            which, limit = ("total", limits.total), ("first byte", limits.first_byte)
            failure = timed_out(*(which if total_is_first else limit), request.url)
        except (aiohttp.ClientError, OSError) as error:
            failure = _before_head(error, request.url)
        # Outside the handler: aiohttp's errors carry the request's headers, and with them a key.
        raise failure

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._concurrency, ttl_dns_cache=300, keepalive_timeout=KEEP_ALIVE_S
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"accept-encoding": "identity", "user-agent": "agentbench"},
            auto_decompress=False,
            trust_env=False,
        )
        return self._session


class AiohttpResponse:
    """See `HttpResponse`."""

    def __init__(
        self,
        raw: aiohttp.ClientResponse,
        request: HttpRequest,
        sent_ns: int,
        first_byte_ns: int,
        total_at: float | None,
    ) -> None:
        self.status = raw.status
        self.headers: Mapping[str, str] = raw.headers
        self.sent_ns = sent_ns
        self.first_byte_ns = first_byte_ns
        self._raw = raw
        self._request = request
        self._total_at = total_at

    async def __aiter__(self) -> AsyncIterator[tuple[int, bytes]]:
        self._check_head()
        left = self._request.max_body_bytes
        while part := await self._read():
            received_ns = perf_counter_ns()
            left -= len(part)
            if left < 0:
                raise too_long(self._request.max_body_bytes, self._request.url)
            yield received_ns, part

    async def drain(self) -> None:
        """Read the rest if it has already arrived, so that the connection can be reused."""
        content = self._raw.content
        try:
            async with asyncio.timeout(DRAIN_S):
                left = self._request.max_body_bytes
                while left > 0 and not content.at_eof():
                    left -= len(await content.readany())
        except (TimeoutError, aiohttp.ClientError, OSError, RuntimeError):
            return

    def release(self) -> None:
        """Return the connection to the pool, or close it if the body is not at its end."""
        self._raw.release()

    async def _read(self) -> bytes:
        limits = self._request.timeouts
        idle_at = None if limits.idle is None else asyncio.get_running_loop().time() + limits.idle
        total_at = self._total_at
        total_is_first = total_at is not None and (idle_at is None or total_at <= idle_at)
        failure: AgentFailure
        try:
            async with asyncio.timeout_at(total_at if total_is_first else idle_at):
                return await self._raw.content.readany()
        except TimeoutError:
            which, limit = ("total", limits.total), ("idle", limits.idle)
            failure = timed_out(*(which if total_is_first else limit), self._request.url)
        except (aiohttp.ClientError, OSError, RuntimeError):
            # The RuntimeError is aiohttp's for a client that was closed meanwhile.
            failure = closed_in_body(place_of(self._request.url))
        raise failure

    def _check_head(self) -> None:
        if self.status in {204, 304} or self._request.method == "HEAD":
            return  # what their fields say is of a body that is not there
        encoding = self.headers.get("content-encoding", "identity").lower()
        if encoding != "identity":
            raise compressed(place_of(self._request.url), encoding)
        length = self._raw.content_length
        if length is not None and length > self._request.max_body_bytes:
            raise too_long(self._request.max_body_bytes, self._request.url)


def _data(body: bytes) -> bytes | io.BytesIO | None:
    # aiohttp warns of large bytes, which it writes at once; from a file it writes piece by piece.
    return io.BytesIO(body) if len(body) > _WRITTEN_AT_ONCE else body or None


def _before_head(error: Exception, url: str) -> AgentFailure:
    """Return the failure for an error before the head of the answer."""
    place = place_of(url)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return no_such_host(place)
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return tls_failed(place, error.certificate_error)
    if isinstance(error, aiohttp.ClientSSLError):
        return tls_failed(place, error)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return cannot_connect(f"the proxy on the way to {place}", error.os_error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return cannot_connect(place, error.os_error)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return proxy_refused(place, error.status)
    if isinstance(error, aiohttp.ClientResponseError):
        # aiohttp tells its bounds, 8190 bytes a field and 128 fields, by the message alone.
        bounded = error.message.startswith(("Got more than", "Too many headers"))
        return head_too_long(place) if bounded else not_http(place)
    return closed_early(place)
