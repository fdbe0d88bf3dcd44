"""What every request passes before an endpoint sees it: address, origin, token and limits.

A pure ASGI application around the others, so that nothing reads a body or a parameter before.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentbench_tui.api.problems import PROBLEM_JSON, ServiceError, busy
from agentbench_tui.api.settings import TokenCheck

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from agentbench_tui.api.settings import ServiceSettings

    Message = MutableMapping[str, Any]
    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    Application = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN_PATHS = frozenset({"/health"})
"""Paths that need no token: they say nothing but that the service answers."""
IMPORT_PATH = "/runs/import"
_SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
_METHODS = "GET, POST"
_CLIENT_HEADERS = "Authorization, Content-Type, Content-Digest, Last-Event-ID"
_MOST_HEADERS = 64
_DRAINED_BYTES = 64 << 20
_DRAIN_S = 2.0


class Guard:
    """Refuses requests that must not reach the endpoints."""

    def __init__(self, application: Application, settings: ServiceSettings) -> None:
        self._application = application
        self._limits = settings.limits
        self._hosts = settings.known_hosts
        self._origins = settings.origins
        self._has_token = TokenCheck(settings.token)
        self.requests = 0
        """Requests in progress."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no WebSockets here; uvicorn refuses the handshake
        answer = _Answer(send, self._allowed_origin(scope))
        try:
            headers = _headers(scope)
            self._check_host(headers)
            self._check_origin(headers)
            if scope["method"] == "OPTIONS" and answer.origin is not None:
                await answer.preflight()
                return
            self._check_token(scope, headers)
            self._check_query(scope)
            body = _LimitedBody(receive, self._most_bytes(scope), self._limits.body_wait_s)
            body.check_length(headers)
            await self._pass_on(scope, body, answer)
        except ServiceError as error:
            await answer.problem(error, receive)

    async def _pass_on(self, scope: Scope, body: _LimitedBody, answer: _Answer) -> None:
        is_stream = str(scope["path"]).endswith("/events")
        if not is_stream and self.requests >= self._limits.requests:
            raise busy(f"{self._limits.requests} requests are in progress; try again")
        self.requests += not is_stream
        try:
            await self._application(scope, body.receive, answer.send)
        finally:
            self.requests -= not is_stream

    def _check_host(self, headers: dict[bytes, list[bytes]]) -> None:
        """A page whose name was pointed at this machine (DNS rebinding) names another host."""
        given = headers.get(b"host", [])
        if len(given) != 1:
            raise ServiceError(HTTPStatus.BAD_REQUEST, "host", "one Host header is expected")
        name = _host_name(given[0].decode("latin-1"))
        if name not in self._hosts:
            raise ServiceError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "host",
                "the service is not known by this host name; allow it with `agentbench serve"
                " --allow-host NAME`",
            )

    def _check_origin(self, headers: dict[bytes, list[bytes]]) -> None:
        for given in headers.get(b"origin", []):
            origin = given.decode("latin-1")
            host = headers[b"host"][0].decode("latin-1").lower()
            if origin not in self._origins and origin.lower() != f"http://{host}":
                raise ServiceError(
                    HTTPStatus.FORBIDDEN,
                    "origin",
                    "web pages of this origin may not use the service; allow it with `agentbench"
                    " serve --cors-origin ORIGIN`",
                )

    def _check_token(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> None:
        if scope["path"] in OPEN_PATHS:
            return
        given = headers.get(b"authorization", [])
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        if scheme.lower() != b"bearer" or not self._has_token(token.strip()):
            raise ServiceError(
                HTTPStatus.UNAUTHORIZED,
                "token",
                "send the token of the service as `Authorization: Bearer TOKEN`",
                headers={"WWW-Authenticate": 'Bearer realm="agentbench"'},
            )

    def _check_query(self, scope: Scope) -> None:
        if len(scope["query_string"]) + len(scope["raw_path"] or b"") > self._limits.query_bytes:
            raise ServiceError(
                HTTPStatus.REQUEST_URI_TOO_LONG,
                "too-long",
                f"path and query have more than {self._limits.query_bytes:,} bytes",
            )

    def _most_bytes(self, scope: Scope) -> int:
        is_import = scope["path"] == IMPORT_PATH
        return self._limits.import_bytes if is_import else self._limits.body_bytes

    def _allowed_origin(self, scope: Scope) -> bytes | None:
        """Return the Origin of the request if its pages may read answers."""
        given = [value for name, value in scope["headers"] if name == b"origin"]
        if len(given) == 1 and given[0].decode("latin-1") in self._origins:
            origin: bytes = given[0]
            return origin
        return None


def _headers(scope: Scope) -> dict[bytes, list[bytes]]:
    if len(scope["headers"]) > _MOST_HEADERS:
        raise ServiceError(
            HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too-long", "too many header fields"
        )
    found: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name, []).append(value)
    return found


def _host_name(given: str) -> str:
    """Return the name of a Host header without its port, in lower case; empty if it is none."""
    try:
        return (urlsplit(f"//{given}").hostname or "").lower()
    except ValueError:
        return ""


class _LimitedBody:
    """The body of a request, which ends with an error where it is too long or too slow."""

    def __init__(self, receive: Receive, most_bytes: int, wait_s: float) -> None:
        self._receive = receive
        self._most_bytes = most_bytes
        self._wait_s = wait_s
        self._bytes = 0
        self._is_over = False

    def check_length(self, headers: dict[bytes, list[bytes]]) -> None:
        """Refuse a body whose announced length is too much, before any of it is read."""
        for given in headers.get(b"content-length", []):
            if not given.isdigit() or int(given[:20]) > self._most_bytes:
                raise self._too_large()

    async def receive(self) -> Message:
        """Return the next part."""
        if self._is_over:  # only waits for the client to leave, as event streams do
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self._wait_s)
        except TimeoutError:
            raise ServiceError(
                HTTPStatus.REQUEST_TIMEOUT,
                "timeout",
                f"no part of the body came for {self._wait_s:g} s",
            ) from None
        self._bytes += len(message.get("body", b""))
        self._is_over = not message.get("more_body", False)
        if self._bytes > self._most_bytes:
            raise self._too_large()
        return message

    def _too_large(self) -> ServiceError:
        return ServiceError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "too-large",
            f"the body has more than {self._most_bytes:,} bytes",
            headers={"Connection": "close"},
        )


class _Answer:
    """Sends an answer with the headers that each of them has."""

    def __init__(self, send: Send, origin: bytes | None) -> None:
        self._send = send
        self._has_begun = False
        self.origin = origin
        """The origin whose pages may read the answer; None for no other than our own."""

    async def send(self, message: Message) -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            self._has_begun = True
            headers = [*message.get("headers", ())]
            present = {name for name, _ in headers}
            headers += [pair for pair in _SAFE_HEADERS if pair[0] not in present]
            if self.origin is not None:
                headers += [(b"access-control-allow-origin", self.origin), (b"vary", b"Origin")]
            message["headers"] = headers
        await self._send(message)

    async def problem(self, error: ServiceError, receive: Receive) -> None:
        """Send an error response; if a response has already begun, cut it off.

        If the connection closes afterwards, the rest of the request is read first: closing it
        with unread bytes resets it, and the client loses the response (RFC 9112, 9.6).
        """
        if self._has_begun:
            raise error
        body = error.body()
        given = {"Content-Type": PROBLEM_JSON, "Content-Length": str(len(body)), **error.headers}
        headers = [(name.lower().encode(), value.encode()) for name, value in given.items()]
        await self.send(
            {"type": "http.response.start", "status": error.status.value, "headers": headers}
        )
        if "Connection" in error.headers:
            await self.send({"type": "http.response.body", "body": body, "more_body": True})
            await _drain(receive)
            body = b""
        await self.send({"type": "http.response.body", "body": body})

    async def preflight(self) -> None:
        """Answer the question of a browser whether a page may send a request."""
        headers = [
            (b"access-control-allow-methods", _METHODS.encode()),
            (b"access-control-allow-headers", _CLIENT_HEADERS.encode()),
            (b"access-control-max-age", b"600"),
            (b"content-length", b"0"),
        ]
        await self.send({"type": "http.response.start", "status": 204, "headers": headers})
        await self.send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    """Read the rest of a body, within bounds."""
    left = _DRAINED_BYTES
    try:
        async with asyncio.timeout(_DRAIN_S):
            while left > 0:
                message = await receive()
                if not message.get("more_body", False):  # at the end, or the client has left
                    return
                left -= len(message["body"])
    except TimeoutError:
        return
