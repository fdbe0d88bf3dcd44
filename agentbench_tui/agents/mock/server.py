"""The practice server: a `Service` on a socket, with each step at its exact time."""

from __future__ import annotations

import asyncio
import errno
import math
from typing import Any

import msgspec

from agentbench_tui.agents.mock.connection import Connection, HttpRequest
from agentbench_tui.agents.mock.dialects import CREATED, Chat, Completions, Dialect, Facts, Usage
from agentbench_tui.agents.mock.options import MockOptions
from agentbench_tui.agents.mock.question import PrefixCache, Question
from agentbench_tui.agents.mock.reply import Reply
from agentbench_tui.agents.mock.service import Service, Step, StepKind
from agentbench_tui.agents.mock.truth import Truth
from agentbench_tui.agents.mock.typed_dialects import Messages, Responses
from agentbench_tui.instruments.timer import DeadlineTimer
from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.model.errors import UsageError

_BACKLOG = 4096
_DIALECTS: dict[str, type[Dialect]] = {
    "/v1/chat/completions": Chat,
    "/v1/completions": Completions,
    "/v1/responses": Responses,
    "/v1/messages": Messages,
}
_MOST_STEPS = 4
"""Taken in one turn of the loop: a request that comes while many tokens are due is seen at once,
as the kernel would see it, and not when they are all written."""


class Server:
    """Listens, and executes the service's steps. Use `start` and `close`."""

    def __init__(self, options: MockOptions, *, keeps_truth: bool = True) -> None:
        self.truth = Truth(kept=keeps_truth)
        self._options = options
        self._service = Service(options)
        self._prefixes = PrefixCache() if options.prefix_cache else None
        self._open: dict[Connection, Reply | None] = {}
        self._listener: asyncio.Server | None = None
        self._timer: DeadlineTimer | None = None
        self._armed_ns: int | None = None
        self._pumping = self._goes_on = False
        seconds = options.retry_after / 1e9
        self._retry_header = b"retry-after: %d\r\nretry-after-ms: %d\r\n" % (
            math.ceil(seconds),
            round(seconds * 1000),
        )

    async def start(self, host: str, port: int) -> str:
        """Listen; port 0 is any free one. Return the base URL. Raises UsageError."""
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
        except UnicodeError:
            self._timer.close()
            raise UsageError(f"{host[:80]!r} is not a host name") from None
        chosen = self._listener.sockets[0].getsockname()[1]
        return f"http://{f'[{host}]' if ':' in host else host}:{chosen}/v1"

    async def close(self) -> None:
        """Stop listening and close the connections; in-flight requests stay unfinished."""
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
        finish = "length" if tokens == asked.asked_tokens else "stop"
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
            for _ in range(_MOST_STEPS):
                step = self._service.next_step(perf_counter_ns())
                if step is None:
                    break
                self._take(step)
        finally:
            self._pumping = False
        next_ns = self._service.next_ns
        if next_ns is None:
            return
        if next_ns <= perf_counter_ns():
            if not self._goes_on:
                self._goes_on = True
                asyncio.get_running_loop().call_soon(self._go_on)
        elif next_ns != self._armed_ns:
            self._armed_ns = next_ns
            self._timer.arm(next_ns)

    def _go_on(self) -> None:
        self._goes_on = False
        self._pump()

    def _take(self, step: Step) -> None:
        reply, kind = step.job, step.kind
        assert isinstance(reply, Reply), "the jobs of this server"
        if kind is StepKind.REFUSE:
            self._fail(reply, 429, "rate_limited", "over the rate limit", self._retry_header)
        elif kind is StepKind.FAIL:
            self._fail(reply, 500, "server", "an error, as requested")
        elif kind is StepKind.BEGIN:
            reply.begin(step)
        else:
            now_ns = reply.go_on(step)
            if kind is not StepKind.CHUNK:
                self._end(reply, "ok" if kind is StepKind.LAST else "truncated", now_ns)

    def _end(self, reply: Reply, status: str, now_ns: int) -> None:
        self._open[reply.connection] = None
        self.truth.record(
            reply.number,
            status,
            reply.arrived_ns,
            now_ns,
            reply.sent,
            reply.first_output_ns,
            reply.stamps,
            reply.sizes,
        )
        reply.connection.finish(keep_alive=reply.keep_alive and status == "ok")

    def _fail(self, reply: Reply, status: int, kind: str, said: str, headers: bytes = b"") -> None:
        self._open[reply.connection] = None
        body = _error(said, kind)
        now_ns = reply.connection.respond(
            status, body, keep_alive=reply.keep_alive, headers=headers
        )
        self.truth.record(reply.number, kind, reply.arrived_ns, now_ns)
        reply.connection.finish(keep_alive=reply.keep_alive)

    def _inform(self, connection: Connection, request: HttpRequest) -> None:
        documents = {"/v1/models": self._models, "/health": _health}
        if self.truth.kept:
            documents["/truth"] = self.truth.document
        document = documents.get(request.path)
        if document is None:
            known = ", ".join((*_DIALECTS, *documents))
            self._refuse(connection, request, 404, f"no {request.path}; there are {known}")
        elif request.method not in {"GET", "HEAD"}:
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


def _health() -> dict[str, Any]:
    return {"status": "ok"}


def _error(said: str, kind: str) -> bytes:
    return msgspec.json.encode({"error": {"message": said, "type": kind, "code": kind}})
