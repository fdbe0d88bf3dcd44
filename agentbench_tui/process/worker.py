"""A persistent program that answers JSON lines, one call at a time.

Each side writes one JSON object per line. At the start agentbench sends `{"type": "hello",
"protocol": 1}` and the program answers with its own hello; then each call is one line in each
direction. A program that breaks the protocol, ends, or is too late is killed with its whole tree,
and the next call starts it again, because a late line would be taken for the next answer.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.text.not_json import NOT_JSON
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.process.child import Child, SpawnError
from agentbench_tui.process.tree import ProcessTree

PROTOCOL = 1
MAX_REPLY_BYTES = 4 * 1024 * 1024
START_TIMEOUT_S = 60.0
_MOST_QUOTED = 8192
"""Bytes of a bad reply that are read for the message about it."""
_EXIT_WAIT_S = 0.5
"""Time for a program that closed its output to end, so that its exit code is known."""

_decoder = msgspec.json.Decoder(dict[str, Any])
_encoder = msgspec.json.Encoder()
_HELLO = _encoder.encode({"type": "hello", "protocol": PROTOCOL}) + b"\n"


class JsonLinesWorker:
    """One program, started when first needed and again after each breakdown."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: str | None = None,
        memory_limit_mb: float | None = None,
        address_space_mb: float | None = None,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        start_timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        self._command = command
        self._environment = environment
        self._cwd = cwd
        self._memory_limit_mb = memory_limit_mb
        self._address_space_mb = address_space_mb
        self._max_reply_bytes = max_reply_bytes
        self._start_timeout_s = start_timeout_s
        self._child: Child | None = None
        self._ready = False
        self._buffer = bytearray()
        self._ended = False
        self._line: asyncio.Future[bytes] | None = None
        self._peak_memory_mb: float | None = None
        self._cpu_before_s = 0.0
        self._calls = 0
        self.hello: dict[str, Any] = {}
        """The program's self-description."""
        self.starts = 0
        """Number of starts of the program."""

    @property
    def pid(self) -> int | None:
        """The running program, or None."""
        return self._child.pid if self._child is not None and not self._ended else None

    @property
    def peak_memory_mb(self) -> float | None:
        """Highest resident memory of its tree over all its lives; None before a reading."""
        now = None
        if self._child is not None:
            self._tree.check_peak()  # a quick run may end before the watcher's first reading
            now = self._tree.peak_memory_mb
        return max((peak for peak in (now, self._peak_memory_mb) if peak is not None), default=None)

    @property
    def cpu_seconds(self) -> float:
        """User and system time of its tree over all its lives."""
        now = self._child.tree.cpu_seconds if self._child is not None else 0.0
        return self._cpu_before_s + now

    async def start(self) -> None:
        """Start the program and shake hands, unless it runs. Raises AgentFailure."""
        if self._ready and not self._ended:
            return
        await self.close()
        try:
            self._child = Child(
                self._command,
                environment=self._environment,
                cwd=self._cwd,
                memory_limit_mb=self._memory_limit_mb,
                address_space_mb=self._address_space_mb,
                on_output=self._take,
                on_end=self._end,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.AGENT, str(error)) from error
        self.starts += 1
        hello = await self._exchange(_HELLO, self._start_timeout_s)
        if hello.get("type") != "hello" or hello.get("protocol") != PROTOCOL:
            self._give_up()
            raise AgentFailure(
                FailureKind.PARSE,
                f"expected a hello of protocol {PROTOCOL}, got {one_line(str(hello), 120)}",
            )
        self.hello = hello
        self._ready = True

    async def call(self, payload: Mapping[str, Any], timeout_s: float | None) -> dict[str, Any]:
        """One line there and one line back, told apart by an `id` that is added to `payload`.

        `timeout_s` counts from when the program is ready. When canceled, the program is killed.
        Raises AgentFailure: `timeout`; `parse` for a line that is not a JSON object or has another
        id; `truncated` for an end in mid-line; `limit`; `agent` with exit code and the end of
        stderr; `harness` for a payload that JSON can't carry. Raises RuntimeError for a second
        call while one is in flight.
        """
        if self._line is not None:
            raise RuntimeError("a worker takes one call at a time")
        if not self._ready or self._ended:
            await self.start()
        self._calls += 1
        reply = await self._exchange(_line({**payload, "id": self._calls}), timeout_s)
        if reply.pop("id", None) != self._calls:
            self._give_up()
            raise AgentFailure(FailureKind.PARSE, f"the answer does not have the id {self._calls}")
        if self._memory_limit_mb is not None and not self._tree.check_peak():
            self._give_up()
            raise _limit_failure(self._tree)
        return reply

    async def close(self, grace_s: float = 0.0) -> None:
        """End the program and everything it started. Safe to call again."""
        child = self._child
        self._ready = False
        if child is None:
            return
        await child.close(grace_s)
        self._peak_memory_mb = self.peak_memory_mb
        self._cpu_before_s += child.tree.cpu_seconds
        self._child = None
        self._buffer.clear()
        self._ended = False

    @property
    def _tree(self) -> ProcessTree:
        assert self._child is not None
        return self._child.tree

    async def _exchange(self, line: bytes, timeout_s: float | None) -> dict[str, Any]:
        child = self._child
        assert child is not None
        loop = asyncio.get_running_loop()
        self._line = loop.create_future()
        timer = None if timeout_s is None else loop.call_later(timeout_s, self._too_late, timeout_s)
        try:
            child.write(line)
            self._next_line()
            reply = await self._line
        except AgentFailure as failure:
            try:
                raise await self._explained(failure, child) from None
            finally:
                self._give_up()
        except BaseException:
            self._give_up()
            raise
        finally:
            self._line = None
            if timer is not None:
                timer.cancel()
        try:
            return _decoder.decode(reply)
        except NOT_JSON:
            self._give_up()
            text = one_line(reply[:_MOST_QUOTED].decode("utf-8", "replace"), 120)
            raise AgentFailure(FailureKind.PARSE, f"not a JSON object: {text}") from None

    def _take(self, data: bytes) -> None:
        self._buffer += data
        self._next_line()

    def _next_line(self) -> None:
        """Pass the first whole line to the waiting call; between calls there is none."""
        line, buffer = self._line, self._buffer
        end = buffer.find(b"\n")
        if end < 0 and len(buffer) <= self._max_reply_bytes:
            if self._ended:
                self._end()
            return
        if end > self._max_reply_bytes or end < 0 or len(buffer) > 2 * self._max_reply_bytes:
            buffer.clear()
            self._give_up()
            self._fail(FailureKind.LIMIT, f"answered more than {self._max_reply_bytes} bytes")
        elif line is not None and not line.done():
            line.set_result(bytes(buffer[:end]))
            del buffer[: end + 1]

    def _end(self) -> None:
        self._ended = True
        if self._buffer:
            self._fail(FailureKind.TRUNCATED, "the answer broke off in mid-line")
        else:
            self._fail(FailureKind.AGENT, "")

    def _too_late(self, timeout_s: float) -> None:
        self._fail(FailureKind.TIMEOUT, f"no answer within {timeout_s:g} s")

    def _fail(self, kind: FailureKind, detail: str) -> None:
        if self._line is not None and not self._line.done():
            self._line.set_exception(AgentFailure(kind, detail))

    async def _explained(self, failure: AgentFailure, child: Child) -> AgentFailure:
        """Return the failure with details that are known only at the program's end."""
        if failure.kind in {FailureKind.TIMEOUT, FailureKind.LIMIT}:
            return failure
        await child.exits_within(_EXIT_WAIT_S)
        if child.tree.over_limit is not None:
            return _limit_failure(child.tree)
        ending = f"`{self._command[0]}` {child.ending()}"
        return AgentFailure(failure.kind, f"{failure.detail}: {ending}".removeprefix(": "))

    def _give_up(self) -> None:
        """The program can't be trusted with another call: kill it now, sweep at next start."""
        self._ready = False
        if self._child is not None:  # it may have been closed while a call was in flight
            self._tree.signal_all(signal.SIGKILL)


def _limit_failure(tree: ProcessTree) -> AgentFailure:
    return AgentFailure(FailureKind.LIMIT, f"memory: {tree.over_limit}")


def _line(payload: Mapping[str, Any]) -> bytes:
    try:
        return _encoder.encode(payload) + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        detail = f"the case cannot be sent as JSON: {error}"
        raise AgentFailure(FailureKind.HARNESS, detail) from None
