"""The practice server: a `Service` on a socket, its steps taken at their nanosecond."""

from __future__ import annotations

import asyncio
import errno
import math
from array import array
from time import perf_counter_ns
from typing import Any

import msgspec

from agentbench_tui.agents.mock.connection import Connection, HttpRequest, json_head, stream_head
from agentbench_tui.agents.mock.dialects import CREATED, Chat, Completions, Dialect, Facts, Usage
from agentbench_tui.agents.mock.options import MockOptions
from agentbench_tui.agents.mock.question import PrefixCache, Question
from agentbench_tui.agents.mock.service import Job, Service, Step, StepKind
from agentbench_tui.agents.mock.truth import Truth
from agentbench_tui.instruments.timer import DeadlineTimer
from agentbench_tui.model.errors import UsageError

_BACKLOG = 4096
_DIALECTS: dict[str, type[Dialect]] = {
    "/v1/chat/completions": Chat,
    "/v1/completions": Completions,
}
_LAST_CHUNK = b"0\r\n\r\n"


class Reply(Job):
    """A request, the connection it came on, and what was sent of its answer."""

    __slots__ = (
        "chunked", "connection", "held", "keep_alive", "sizes", "stamps", "writer",
    )  # fmt: skip

    def __init__(
        self, connection: Connection, request: HttpRequest, tokens: int, reasoning: int,
        *, streamed: bool,
    ) -> None:  # fmt: skip
        super().__init__(tokens, reasoning, streamed=streamed)
        self.connection = connection
        self.chunked = request.version == "1.1"
        self.keep_alive = request.keep_alive and self.chunked
        self.writer: Dialect
        self.held = b""
        """What goes out together with the next chunk, which is due at the same time."""
        self.stamps = array("q")
        """When each chunk with content had been handed to the socket."""
        self.sizes = array("q")

    def framed(self, data: bytes) -> bytes:
        """A chunk of the body, as HTTP/1.1 writes it."""
        return b"%x\r\n%b\r\n" % (len(data), data) if self.chunked and data else data


class Server:
    """Listens, and does what the service says. Use `start` and `close`."""

    def __init__(self, options: MockOptions) -> None:
        self.truth = Truth()
        self._options = options
        self._service = Service(options)
        self._prefixes = PrefixCache() if options.prefix_cache else None
        self._open: dict[Connection, Reply | None] = {}
        self._listener: asyncio.Server | None = None
        self._timer: DeadlineTimer | None = None
        self._armed_ns: int | None = None
        self._pumping = False
        seconds = options.retry_after / 1e9
        self._retry_header = b"retry-after: %d\r\nretry-after-ms: %d\r\n" % (
            math.ceil(seconds),
            round(seconds * 1000),
        )

    async def start(self, host: str, port: int) -> str:
        """Listen; port 0 is any free one. Gives the base URL. Raises UsageError."""
        loop = asyncio.get_running_loop()
        self._timer = DeadlineTimer(loop, self._ring)
        try:
            self._listener = await loop.create_server(
                lambda: Connection(self), host, port, backlog=_BACKLOG
            )
        except OSError as error:
            self._timer.close()
            if error.errno == errno.EADDRINUSE:
                raise UsageError(
                    f"port {port} of {host} is in use: name another with --port (0: any free one)"
                ) from None
            raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
        chosen = self._listener.sockets[0].getsockname()[1]
        return f"http://{f'[{host}]' if ':' in host else host}:{chosen}/v1"

    async def close(self) -> None:
        """Stop listening and end the connections; what is in flight stays unfinished."""
        if self._listener is not None:
            self._listener.close()
        for connection in list(self._open):
            self._open[connection] = None
            connection.close()
        if self._timer is not None:
            self._timer.close()
            self._timer = None
        await asyncio.sleep(0)

    def connected(self, connection: Connection) -> None:
        """See `Handler`."""
        self.truth.connections += 1
        self._open[connection] = None

    def lost(self, connection: Connection) -> None:
        """See `Handler`."""
        reply = self._open.pop(connection, None)
        if reply is not None:
            now_ns = perf_counter_ns()
            self.truth.record(reply.number, "cancelled", reply.arrived_ns, now_ns, reply.sent)
            self._service.leave(reply, now_ns)
            self._pump()

    def requested(self, connection: Connection, request: HttpRequest) -> None:
        """See `Handler`."""
        dialect = _DIALECTS.get(request.path)
        if dialect is None:
            self._inform(connection, request)
        elif request.method != "POST":
            self._refuse(connection, request, 405, f"{request.path} takes POST")
        else:
            try:
                question = Question(request.body)
            except ValueError as error:
                self._refuse(connection, request, 400, str(error))
            else:
                self._arrive(connection, request, dialect, question)

    def _arrive(
        self, connection: Connection, request: HttpRequest, dialect: type[Dialect], asked: Question
    ) -> None:
        options = self._options
        tool = asked.tool if options.tool_calls and dialect is Chat else None
        tokens = asked.tokens(options, limit_only=dialect.limit_only) if tool is None else 1
        reasoning = min(options.reasoning_tokens, tokens - 1) if dialect.reasons else 0
        reply = Reply(connection, request, tokens, reasoning, streamed=asked.streamed)
        self.truth.received += 1
        self._open[connection] = reply
        self._service.arrive(reply, request.arrived_ns)
        cached = self._prefixes.cached_words(asked.words) if self._prefixes is not None else 0
        finish = "stop" if asked.asked_tokens is None else "length"
        reply.writer = dialect(
            Facts(
                reply.number,
                asked.model or options.model,
                Usage(len(asked.words), cached, tokens, reasoning),
                "tool_calls" if tool is not None else finish,
                asked.include_usage,
                tool,
            )
        )
        self._pump()

    def _ring(self) -> None:
        self._armed_ns = None
        self._pump()

    def _pump(self) -> None:
        """Take all steps that are due, and set the timer for the next."""
        if self._pumping or self._timer is None:
            return
        self._pumping = True
        try:
            while (step := self._service.next_step(perf_counter_ns())) is not None:
                self._take(step)
        finally:
            self._pumping = False
        next_ns = self._service.next_ns
        if next_ns is not None and next_ns != self._armed_ns:
            self._armed_ns = next_ns
            self._timer.arm(next_ns)

    def _take(self, step: Step) -> None:
        reply, kind = step.job, step.kind
        assert isinstance(reply, Reply), "the jobs of this server"
        if kind is StepKind.REFUSE:
            self._fail(reply, 429, "rate_limited", "over the rate limit", self._retry_header)
        elif kind is StepKind.FAIL:
            self._fail(reply, 500, "server", "an error, as asked for")
        elif kind is StepKind.BEGIN:
            if reply.streamed:
                head = stream_head(keep_alive=reply.keep_alive, chunked=reply.chunked)
                self._give(reply, head + reply.framed(reply.writer.opening()), step.due_ns)
        elif reply.streamed:
            self._send_chunk(reply, step)
        else:
            self._send_whole(reply, step)

    def _give(self, reply: Reply, data: bytes, due_ns: int) -> int:
        """Send, or keep what is followed by more at the same time; 0 when it was kept."""
        if reply.due_ns == due_ns:
            reply.held += data
            return 0
        data, reply.held = reply.held + data, b""
        return reply.connection.send(data)

    def _send_chunk(self, reply: Reply, step: Step) -> None:
        size = step.tokens
        data = b""
        if size:
            data = reply.framed(reply.writer.chunk(reply.sent - size, size))
        if step.kind is StepKind.LAST:
            data += reply.framed(reply.writer.closing()) + (_LAST_CHUNK if reply.chunked else b"")
        if step.kind is StepKind.CHUNK:
            now_ns = self._give(reply, data, step.due_ns)
        else:
            now_ns = reply.connection.send(reply.held + data)
        reply.sizes.append(size)
        if now_ns:
            while len(reply.stamps) < len(reply.sizes):
                reply.stamps.append(now_ns)
        if step.kind is not StepKind.CHUNK:
            self._end(reply, step, now_ns)

    def _send_whole(self, reply: Reply, step: Step) -> None:
        body = reply.writer.whole()
        head = json_head(200, len(body), keep_alive=reply.keep_alive)
        if step.kind is StepKind.CUT:
            body = body[: len(body) // 2]
        self._end(reply, step, reply.connection.send(head + body))

    def _end(self, reply: Reply, step: Step, now_ns: int) -> None:
        cut = step.kind is StepKind.CUT
        self._open[reply.connection] = None
        self.truth.record(
            reply.number,
            "truncated" if cut else "ok",
            reply.arrived_ns,
            now_ns,
            reply.sent,
            _first_output_ns(reply),
            reply.stamps,
            reply.sizes,
        )
        reply.connection.finish(keep_alive=reply.keep_alive and not cut)

    def _fail(self, reply: Reply, status: int, kind: str, said: str, headers: bytes = b"") -> None:
        self._open[reply.connection] = None
        body = _error(said, kind)
        now_ns = reply.connection.respond(
            status, body, keep_alive=reply.keep_alive, headers=headers
        )
        self.truth.record(reply.number, kind, reply.arrived_ns, now_ns)
        reply.connection.finish(keep_alive=reply.keep_alive)

    def _inform(self, connection: Connection, request: HttpRequest) -> None:
        documents = {"/v1/models": self._models, "/health": _health, "/truth": self.truth.document}
        document = documents.get(request.path)
        if document is None:
            known = ", ".join((*_DIALECTS, *documents))
            self._refuse(connection, request, 404, f"no {request.path}; there are {known}")
        elif request.method != "GET":
            self._refuse(connection, request, 405, f"{request.path} takes GET")
        else:
            connection.respond(200, msgspec.json.encode(document()), keep_alive=request.keep_alive)
            connection.finish(keep_alive=request.keep_alive)

    def _models(self) -> dict[str, Any]:
        model = {
            "id": self._options.model,
            "object": "model",
            "created": CREATED,
            "owned_by": "agentbench",
        }
        return {"object": "list", "data": [model]}

    def _refuse(self, connection: Connection, request: HttpRequest, status: int, said: str) -> None:
        self.truth.invalid += 1
        body = _error(said, "invalid_request_error")
        connection.respond(status, body, keep_alive=request.keep_alive)
        connection.finish(keep_alive=request.keep_alive)


def _first_output_ns(reply: Reply) -> int:
    """When the first chunk after the reasoning went out; 0: none did."""
    tokens = 0
    for stamp, size in zip(reply.stamps, reply.sizes, strict=True):
        if tokens >= reply.reasoning and size:
            return stamp
        tokens += size
    return 0


def _health() -> dict[str, Any]:
    return {"status": "ok"}


def _error(said: str, kind: str) -> bytes:
    return msgspec.json.encode({"error": {"message": said, "type": kind, "code": kind}})
