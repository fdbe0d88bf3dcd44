"""Parses server-sent events as they arrive (WHATWG HTML, section 9.2, event streams).

The parser is fed bytes in any split and gives the same events for every split. It decodes
nothing: the data of an event stays bytes, for a JSON decoder to read in place.
"""

from __future__ import annotations

import msgspec

from agentbench_tui.model.answer import AgentFailure, FailureKind

MAX_LINE_BYTES = 1024 * 1024
MAX_EVENT_BYTES = 4 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_LF, _CR = b"\n\r"


class SseEvent(msgspec.Struct, frozen=True):
    """One dispatched event."""

    data: bytes
    """The data lines joined by newlines, UTF-8 as sent."""
    event: str = "message"
    """Type of the event."""
    id: str = ""
    """Last event id so far in the stream."""


class SseParser:
    """Incremental parser. Raises `AgentFailure` (`limit`) for endless lines or events."""

    def __init__(
        self, max_line_bytes: int = MAX_LINE_BYTES, max_event_bytes: int = MAX_EVENT_BYTES
    ) -> None:
        self._max_line_bytes = max_line_bytes
        self._max_event_bytes = max_event_bytes
        self._head: bytes | None = b""
        """First bytes of the stream while they may still be a byte order mark."""
        self.is_between = False
        """Whether the last event is complete and the next has not begun."""
        self._short = min(max_line_bytes, max_event_bytes)
        self._after_cr = False
        self._pieces: list[bytes] = []
        """The unfinished line; a list, so that many small packets cost no copying."""
        self._line_bytes = 0
        self._data: list[bytes] = []
        self._event_bytes = 0
        self._type = ""
        self._id = ""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Return the events that `chunk` completes."""
        if self.is_between and chunk[:6] == b"data: " and chunk[-2:] == b"\n\n":
            data = chunk[6:-2]
            # A byte is looked for as a number, which takes a third of the time.
            if _LF not in data and _CR not in data and len(chunk) <= self._short:
                # One whole event of one line, as most are: the long way gives the same.
                return [SseEvent(data, "message", self._id)]
        events = self._events(chunk)
        self.is_between = self._head is None and not (
            self._after_cr or self._pieces or self._data or self._type
        )
        return events

    def _events(self, chunk: bytes) -> list[SseEvent]:
        if self._head is not None:
            chunk = self._without_bom(chunk)
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk[0] == 0x0A:
                chunk = chunk[1:]
        if _CR in chunk:
            self._after_cr = chunk[-1] == 0x0D
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if _LF not in chunk:
            self._keep(chunk)
            return []
        if self._pieces:
            chunk = b"".join((*self._pieces, chunk))
            self._pieces.clear()
            self._line_bytes = 0
        lines = chunk.split(b"\n")
        rest = lines.pop()
        events: list[SseEvent] = []
        for line in lines:
            if line:
                self._field(line)
            elif self._data:
                events.append(self._dispatch())
            else:
                self._type = ""
        self._keep(rest)
        return events

    def finish(self) -> list[SseEvent]:
        """Return the event that lacks only its blank line at the end of the stream.

        The standard drops it; servers exist that never send the last blank line. A last line
        without its line end is dropped: it may have been cut.
        """
        return [self._dispatch()] if self._data else []

    def _without_bom(self, chunk: bytes) -> bytes:
        head = (self._head or b"") + chunk
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._head = head
            return b""
        self._head = None
        return head.removeprefix(_BOM)

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self._line_bytes += len(piece)
            self._check(self._line_bytes, self._max_line_bytes, "line")

    def _field(self, line: bytes) -> None:
        self._check(len(line), self._max_line_bytes, "line")
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            self._event_bytes += len(value) + 1
            self._check(self._event_bytes, self._max_event_bytes, "event")
        elif name == b"event":
            self._type = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")

    def _dispatch(self) -> SseEvent:
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        event = SseEvent(data, self._type or "message", self._id)
        self._data = []
        self._event_bytes = 0
        self._type = ""
        return event

    def _check(self, size: int, limit: int, what: str) -> None:
        if size > limit:
            raise AgentFailure(
                FailureKind.LIMIT, f"a {what} of the event stream is longer than {limit} bytes"
            )
