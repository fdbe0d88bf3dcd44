"""Callbacks for the sender of a request, and the common part of answers."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from agentbench_tui.model.answer import AgentFailure, FailureKind

_MOST_HEADS = 64
_MOST_KNOWN_HEAD_BYTES = 2048

Headers = list[tuple[bytes, bytes]]
Packet = tuple[int, bytes]
"""When it was received, on `perf_counter_ns`, and its bytes."""


class Head(NamedTuple):
    """The head of an answer that arrived complete in one packet."""

    status: int
    fields: Headers
    body_bytes: int
    keeps_alive: bool
    is_event_stream: bool


class KnownHeads:
    """Parsed heads of whole answers, by their bytes up to the blank line.

    A parser that reads the same bytes from the same state finds the same, so an answer with one of
    these heads and a body of its length is complete, and the next begins behind it. A server that
    gives each answer a head of its own (a request id) fills the table for nothing, and it starts
    again.
    """

    def __init__(self) -> None:
        self._heads: dict[bytes, Head] = {}
        self.get = self._heads.get

    def keep(self, written: bytes, head: Head) -> None:
        """Store a parsed head."""
        if len(written) <= _MOST_KNOWN_HEAD_BYTES:
            if len(self._heads) >= _MOST_HEADS:
                self._heads.clear()
            self._heads[written] = head


def is_event_stream(fields: Headers) -> bool:
    """Return whether the content is a stream of server-sent events, by the first content type."""
    for name, value in fields:
        if len(name) == 12 and name.lower() == b"content-type":
            return value[:17].lower() == b"text/event-stream"
    return False


class Exchange(Protocol):
    """Callbacks for the sender of one request, called in the event loop, with times of
    `perf_counter_ns`.

    `on_head` is called once, `on_body` any number of times, and then exactly one of `on_end` and
    `on_failure`; `on_failure` may be called at any earlier time. An `AgentFailure` raised by
    `on_head` or `on_body` closes the connection and is passed to `on_failure`. Exchanges are
    compared by identity and must be hashable; one may be sent again once it has ended. `on_sent` is
    called for a request that was sent after `Pool.send` returned. `on_answer` and `take` are faster
    alternatives for bulk data, used only if `Pool.send` is called with `can_wait`. All three are
    optional.
    """

    def on_sent(self, _sent_ns: int, /) -> None:
        """Handle the time at which the request is sent."""
        return

    def on_answer(self, head: Head, body: bytes, received_ns: int, /) -> None:
        """Receive the whole answer, instead of `on_head`, `on_body` and `on_end`."""
        try:
            self.on_head(head.status, head.fields, received_ns)
            if body:
                self.on_body(body, received_ns)
        except AgentFailure as failure:
            self.on_failure(failure, received_ns)
        except Exception as error:
            self.on_failure(fault_of(error), received_ns)
            raise
        else:
            self.on_end(received_ns)

    def take(self, _parts: list[Packet], place: int, /) -> int:
        """Take parts of the body from that index on, instead of `on_body`; return the index of the
        first part not taken.
        """
        return place

    def on_head(self, status: int, headers: Headers, received_ns: int, /) -> None:
        """Handle status and fields of the final answer (not 1xx), names as the server wrote
        them.
        """

    def on_body(self, part: bytes, received_ns: int, /) -> None:
        """Handle a nonempty part of the body, with the time of its packet."""

    def on_end(self, received_ns: int, /) -> None:
        """Handle the complete answer, with the time of its last byte; its connection is free, so
        the next request may be sent.
        """

    def on_failure(self, failure: AgentFailure, received_ns: int, /) -> None:
        """Handle a failure: the answer will not complete, and the connection is closed."""


def fault_of(error: BaseException) -> AgentFailure:
    """Return the exception for a failed answer."""
    fault = f"{type(error).__name__} while an answer was taken in"
    return AgentFailure(FailureKind.HARNESS, fault)
