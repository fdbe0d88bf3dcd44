"""An agent that answers from persistent programs, one for each concurrent call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentbench_tui.agents.reply import answer_of_fields, failure_of
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, Request
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.process.worker import JsonLinesWorker

_CLOSE_GRACE_S = 1.0
_DETAIL_CHARACTERS = 1000


class WorkerAgent:
    """One persistent program per concurrent call."""

    def __init__(
        self,
        workers: Sequence[JsonLinesWorker],
        payload_of: Callable[[Request], Mapping[str, Any]],
    ) -> None:
        """`payload_of` returns the message that a worker receives for a request."""
        self._workers = workers
        self._payload_of = payload_of
        self._free: asyncio.LifoQueue[JsonLinesWorker] = asyncio.LifoQueue()

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the running programs."""
        return tuple(worker.pid for worker in self._workers if worker.pid is not None)

    @property
    def peak_memory_mb(self) -> float | None:
        """Return the peak resident memory of any one program's tree, in MB of 10^6 bytes."""
        peaks = [worker.peak_memory_mb for worker in self._workers]
        return max((peak for peak in peaks if peak is not None), default=None)

    @property
    def cpu_seconds(self) -> float | None:
        """Return user and system CPU time of all the programs' trees."""
        return sum(worker.cpu_seconds for worker in self._workers)

    async def start(self) -> None:
        """Start the programs and exchange greetings. Raises AgentFailure."""
        try:
            results = await asyncio.gather(
                *(worker.start() for worker in self._workers), return_exceptions=True
            )
            failures = [result for result in results if result is not None]
            if failures:
                raise failures[0]
        except BaseException:  # an interrupt, too
            await self.close()
            raise
        for worker in self._workers:
            self._free.put_nowait(worker)

    async def answer(self, request: Request) -> Answer:
        """Send the request to an idle program. Raises AgentFailure."""
        worker = await self._free.get()
        try:
            reply = await worker.call(self._payload_of(request), request.time_limit_s)
        finally:
            self._free.put_nowait(worker)
        if "error" in reply:
            raise _reported(reply["error"])
        return answer_of_fields(reply)

    async def close(self) -> None:
        """End the programs: end of input, SIGTERM, SIGKILL, one second apart."""
        await asyncio.gather(*(worker.close(_CLOSE_GRACE_S) for worker in self._workers))


def _reported(error: Any) -> AgentFailure:
    """Return the failure that a worker reported: `{kind, detail, retry_after_s, final,
    partial}`.
    """
    fields: Mapping[str, Any] = error if isinstance(error, dict) else {"detail": error}
    detail = one_line(str(fields.get("detail", "")), _DETAIL_CHARACTERS)
    try:
        kind = FailureKind(fields.get("kind", FailureKind.AGENT))
    except ValueError:
        kind = FailureKind.HARNESS
    wait: Any = fields.get("retry_after_s")
    is_number = isinstance(wait, int | float) and not isinstance(wait, bool)
    known = is_number and 0 <= wait < float("inf")
    return failure_of(
        AgentFailure(
            kind,
            detail,
            retry_after_s=wait if known else None,
            partial=_partial(fields.get("partial")),
            final=fields.get("final") is True,
        )
    )


def _partial(fields: Any) -> Answer | None:
    """Return the partial answer of a reported failure; None if it has none."""
    try:
        return answer_of_fields(fields) if isinstance(fields, dict) else None
    except AgentFailure:
        return None
