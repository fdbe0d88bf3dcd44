"""One answer of the practice server: its data, and when they were sent."""

from __future__ import annotations

from array import array

from agentbench_tui.agents.mock.connection import Connection, HttpRequest, json_head, stream_head
from agentbench_tui.agents.mock.dialects import Dialect
from agentbench_tui.agents.mock.service import Job, Step, StepKind

_LAST_CHUNK = b"0\r\n\r\n"
_MOST_HELD_BYTES = 65_536


class Reply(Job):
    """A job of the service, its connection, and the times of its chunks."""

    __slots__ = (
        "_held", "_held_bytes", "chunked", "connection", "keep_alive", "sizes", "stamps", "writer",
    )  # fmt: skip

    def __init__(
        self,
        connection: Connection,
        request: HttpRequest,
        tokens: int,
        reasoning: int,
        *,
        streamed: bool,
    ) -> None:
        super().__init__(tokens, reasoning, streamed=streamed)
        self.connection = connection
        self.chunked = request.version == "1.1"
        self.keep_alive = request.keep_alive and self.chunked
        self.writer: Dialect
        """Made when the request's number is known."""
        self.stamps = array("q")
        """When each chunk of tokens had been handed to the socket."""
        self.sizes = array("q")
        """Tokens of each."""
        self._held: list[bytes] = []
        """Data sent together with the next chunk, which is due at the same time."""
        self._held_bytes = 0

    @property
    def first_output_ns(self) -> int:
        """Return when the first chunk after the reasoning was sent; 0 if none was."""
        tokens = 0
        for stamp, size in zip(self.stamps, self.sizes, strict=True):
            if tokens >= self.reasoning:
                return stamp
            tokens += size
        return 0

    def begin(self, step: Step) -> None:
        """Send the head of a stream, and what precedes its first token."""
        if self.streamed:
            head = stream_head(keep_alive=self.keep_alive, chunked=self.chunked)
            self._give(head + self._framed(self.writer.opening()), step.due_ns)

    def go_on(self, step: Step) -> int:
        """Send the tokens of a step, and possibly the end of the answer; return the time after the
        last byte.
        """
        return self._send_tokens(step) if self.streamed else self._send_whole(step)

    def _send_tokens(self, step: Step) -> int:
        size = step.tokens
        data = self._framed(self.writer.chunk(self.sent - size, size)) if size else b""
        if size:
            self.sizes.append(size)
        if step.kind is StepKind.CHUNK:
            return self._give(data, step.due_ns)
        if step.kind is StepKind.LAST:
            data += self._framed(self.writer.closing()) + (_LAST_CHUNK if self.chunked else b"")
        return self._send(data)

    def _send_whole(self, step: Step) -> int:
        body = self.writer.whole()
        head = json_head(200, len(body), keep_alive=self.keep_alive)
        if step.kind is StepKind.CUT:
            body = body[: len(body) // 2]
        return self.connection.send(head + body)

    def _framed(self, data: bytes) -> bytes:
        """Return a chunk of the body in HTTP/1.1 framing."""
        return b"%x\r\n%b\r\n" % (len(data), data) if self.chunked and data else data

    def _give(self, data: bytes, due_ns: int) -> int:
        """Send data, or hold them if more is due at the same time."""
        if self.due_ns == due_ns and self._held_bytes < _MOST_HELD_BYTES:
            self._held.append(data)
            self._held_bytes += len(data)
            return 0
        return self._send(data)

    def _send(self, data: bytes) -> int:
        if self._held:
            data = b"".join((*self._held, data))
            self._held.clear()
            self._held_bytes = 0
        now_ns = self.connection.send(data)
        for _ in range(len(self.sizes) - len(self.stamps)):
            self.stamps.append(now_ns)
        return now_ns
