"""Runs a program once with given input, collects its output, and ends its process tree."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentbench_tui.process.child import Child
from agentbench_tui.process.tree import ProcessTree

MAX_OUTPUT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended, and its output."""

    output: bytes
    """Standard output, at most the limit."""
    exit_code: int | None
    """−N if ended by signal N; None if it closed its output and continued."""
    ending: str
    """The exit in words, with the end of standard error."""
    timed_out: bool = False
    too_long: bool = False
    """True when it wrote more than the limit; it was killed then."""
    over_limit: str | None = None
    """`used X MB of Y MB` when it was killed for its memory."""
    peak_memory_mb: float | None = None
    cpu_seconds: float = 0.0


async def run_program(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    data: bytes = b"",
    cwd: str | None = None,
    timeout_s: float | None = None,
    memory_limit_mb: float | None = None,
    address_space_mb: float | None = None,
    max_output_bytes: int = MAX_OUTPUT_BYTES,
    on_start: Callable[[int], None] | None = None,
) -> Finished:
    """Run a program to its end with `data` as its whole input. Raises SpawnError.

    Returns when it has ended, closed its output, run out of time or broken a limit; nothing that
    it started lives on, also when this call is canceled. `on_start` gets its pid.
    """
    run = _Run(max_output_bytes)
    child = Child(
        command,
        environment=environment,
        cwd=cwd,
        memory_limit_mb=memory_limit_mb,
        address_space_mb=address_space_mb,
        on_output=run.take,
        on_end=run.done.set,
    )
    run.tree = child.tree
    try:
        if on_start is not None:
            on_start(child.pid)
        child.write(data, close=True)
        timed_out = False
        try:
            await asyncio.wait_for(run.done.wait(), timeout_s)
        except TimeoutError:
            timed_out = True
        if not timed_out and not run.too_long:
            await child.exits_within(_EXIT_WAIT_S)
        exit_code, ending = child.exit_code, child.ending()
    finally:
        await asyncio.shield(child.close())
    return Finished(
        output=bytes(run.output),
        exit_code=exit_code,
        ending=ending,
        timed_out=timed_out,
        too_long=run.too_long,
        over_limit=child.tree.over_limit,
        peak_memory_mb=child.tree.peak_memory_mb,
        cpu_seconds=child.tree.cpu_seconds,
    )


_EXIT_WAIT_S = 0.5
"""Time for a program that closed its output to end, so that its exit code is known."""


class _Run:
    """Data collected while the program runs."""

    def __init__(self, max_output_bytes: int) -> None:
        self.output = bytearray()
        self.too_long = False
        self.done = asyncio.Event()
        self.tree: ProcessTree | None = None
        self._max_output_bytes = max_output_bytes

    def take(self, data: bytes) -> None:
        # Most programs answer shortly before they end: the last moment to see their memory.
        if self.tree is not None and not self.output:
            self.tree.check_peak()
        room = self._max_output_bytes - len(self.output)
        self.output += data[:room]
        if len(data) > room and not self.too_long:
            self.too_long = True
            self.done.set()
