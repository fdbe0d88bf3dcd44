"""Requests and answers of one connection, and the faults applied to them.

An answer of our own takes its turn: a request that is to get one waits, and everything behind it,
until the target has answered those before it.
"""

from __future__ import annotations

from collections import deque
from http import HTTPStatus
from typing import TYPE_CHECKING

from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.stress.faults.fault import ErrorReply, SlowHeaders, TooManyRequests, Truncation
from agentbench_tui.stress.faults.messages import Head, Part, answers, requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.stress.faults.pipe import Pipe
    from agentbench_tui.stress.faults.timetable import RunningFault, Timetable

_HEAD = b"HTTP/1.1 %d %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n%b\r\n"
_CLOSE = b"connection: close\r\n"


class Exchanges:
    """Applies faults to messages between the ends of a connection and its pipes."""

    def __init__(
        self,
        timetable: Timetable,
        to_target: Pipe,
        to_client: Pipe,
        hold_back_client: Callable[[bool], None],
    ) -> None:
        self.requests = 0
        """Number of request heads seen."""
        self._timetable = timetable
        self._to_target = to_target
        self._to_client = to_client
        self._hold_back_client = hold_back_client
        self._requests = requests()
        self._answers = answers(self._is_bodyless)
        self._open: deque[bool] = deque()
        """Requests that the target has not answered to the end: whether each was HEAD."""
        self._waiting: deque[Part] = deque()
        self._blocked = False
        """Whether the first waiting item is a request whose turn has not come."""
        self._drawn = False
        """Whether the fault that answers that request, if any, has been chosen."""
        self._replying: RunningFault | None = None
        """That fault."""
        self._swallowing: Head | None = None
        """The request that was answered here, until its body is over."""
        self._half_closed = False
        """The client has ended its sending, and that is still to be passed on."""
        self._truncating: RunningFault | None = None
        self._body_left = 0
        self._broken_off = False

    def from_client(self, data: bytes) -> None:
        """Accept bytes from the client."""
        self._waiting += self._requests.feed(data, apart=False)
        self._go_on()
        if self._requests.unread:
            self._read_no_more()
            self._go_on()

    def end_of_client(self) -> None:
        """Handle the client closing its sending side."""
        self._waiting += self._requests.stop_reading()
        self._half_closed = True
        self._go_on()

    def from_target(self, data: bytes) -> None:
        """Accept bytes from the target."""
        for part in self._answers.feed(data, apart=bool(self._timetable.on)):
            self._pass_answer(part)
        if self._answers.unread:
            self._read_no_more()
        if self._waiting:
            self._go_on()

    def end_of_target(self) -> None:
        """Handle the target closing its sending side."""
        for part in self._answers.stop_reading():
            self._pass_answer(part)
        self._to_client.put_end("half")

    def _read_no_more(self) -> None:
        """Stop parsing both sides, because one is not plain HTTP/1.1."""
        self._waiting += self._requests.stop_reading()
        for part in self._answers.stop_reading():
            self._pass_answer(part)
        self._open.clear()
        self._replying = None
        if self._swallowing is not None:
            # Where the body of a request that the target never saw ends is not known.
            self._waiting.clear()
            self._to_client.put_end("close")

    def _go_on(self) -> None:
        while self._waiting and self._pass_request(self._waiting[0]):
            self._waiting.popleft()
        blocked = bool(self._waiting)
        if blocked != self._blocked:
            self._blocked = blocked
            self._hold_back_client(blocked)
        if self._half_closed and not blocked:
            self._half_closed = False
            self._to_target.put_end("half")

    def _pass_request(self, part: Part) -> bool:
        """Pass on, answer or drop the request if its turn has come; return whether it had."""
        if part.head is not None:
            if not self._drawn:
                self._drawn = True
                self.requests += 1
                self._replying = self._draw_reply()
            if self._replying is not None and self._replying.on and self._open:
                return False
            self._drawn = False
            if self._replying is not None and self._replying.on:
                self._reply(part.head, self._replying)
            else:
                self._open.append(part.head.method == b"HEAD")
        if self._swallowing is None:
            self._to_target.put(part.data)
        elif part.last:
            if not self._swallowing.keep_alive:
                self._to_client.put_end("close")
            self._swallowing = None
        return True

    def _draw_reply(self) -> RunningFault | None:
        now_ns = perf_counter_ns()
        for running in self._timetable.on:
            kind = running.kind
            if isinstance(kind, ErrorReply):
                if running.hits():
                    return running
            elif isinstance(kind, TooManyRequests):
                above = kind.above_per_s is None or running.is_above(
                    kind.above_per_s, kind.burst, now_ns
                )
                if above and running.hits():
                    return running
        return None

    def _reply(self, head: Head, running: RunningFault) -> None:
        running.applied += 1
        self._replying = None
        self._swallowing = head
        kind = running.kind
        status, fields = HTTPStatus.TOO_MANY_REQUESTS.value, b""
        assert isinstance(kind, ErrorReply | TooManyRequests)
        if isinstance(kind, ErrorReply):
            status = kind.status
        elif kind.retry_after_s is not None:
            fields = b"retry-after: %d\r\n" % kind.retry_after_s
        if not head.keep_alive:
            fields += _CLOSE
        body = kind.body.encode()
        content_type = kind.content_type.encode()
        answer = _HEAD % (status, _reason(status), content_type, len(body), fields)
        self._to_client.put(answer if head.method == b"HEAD" else answer + body)

    def _pass_answer(self, part: Part) -> None:
        if self._broken_off:
            return
        if part.head is not None and part.head.status >= 200:
            self._begin_answer(part.data)
        elif self._truncating is not None and self._truncating.on:
            self._truncate(part.data, self._truncating)
        else:
            self._to_client.put(part.data)
        is_interim = part.head is not None and part.head.status < 200
        if part.last and self._open and not is_interim:
            self._open.popleft()

    def _begin_answer(self, data: bytes) -> None:
        slow: RunningFault | None = None
        self._truncating = None
        for running in self._timetable.on:
            kind = running.kind
            if isinstance(kind, SlowHeaders):
                if slow is None and running.hits():
                    slow = running
                    slow.applied += 1
            elif isinstance(kind, Truncation) and self._truncating is None and running.hits():
                self._truncating = running
                self._body_left = kind.after_body_bytes
        self._to_client.put(data, slow)

    def _truncate(self, data: bytes, running: RunningFault) -> None:
        if len(data) > self._body_left:
            self._broken_off = True
            running.applied += 1
            self._to_client.put(data[: self._body_left])
            self._to_client.put_end("close")
        else:
            self._body_left -= len(data)
            self._to_client.put(data)

    def _is_bodyless(self) -> bool:
        return bool(self._open) and self._open[0]


def _reason(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b"Error"
