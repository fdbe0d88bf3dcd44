"""A child process in its own session, with its pipes served by the event loop.

Spawned with `subprocess.Popen` and awaited through a pidfd rather than by asyncio's own
subprocesses: one callback less on every line, no thread a child, and the exact CPU time when it
ends.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from agentbench_tui.model.text.secrets import redact
from agentbench_tui.process.adoption import MARK_NAME, adopt_orphans, new_mark, roots
from agentbench_tui.process.snapshot import peak_resident_bytes
from agentbench_tui.process.tree import ProcessTree
from agentbench_tui.process.watcher import current_watcher

STDERR_KEPT_BYTES = 16 * 1024
_CHUNK_BYTES = 256 * 1024
_GIVE_UP_S = 5.0
"""A killed process that is not gone by then hangs in the kernel."""
_EARLY_READINGS_S = (0.004, 0.01, 0.02, 0.035, 0.06)
"""Memory readings before the watcher's first, for programs that end within a tenth of a second."""


class SpawnError(Exception):
    """The program could not be started."""


class Program(NamedTuple):
    """A started program, in its own session."""

    popen: subprocess.Popen[bytes]
    mark: str
    """By which its descendants are known, see `process.adoption`."""

    def end(self) -> None:
        """Kill it, unless it has ended; for a program that no `Child` has taken over."""
        for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            if pipe is not None:
                pipe.close()
        self.popen.kill()
        self.popen.wait()
        roots.discard(self.popen.pid)


def start_program(
    command: Sequence[str], *, environment: Mapping[str, str], cwd: str | None = None
) -> Program:
    """Start a program without reading its pipes yet; needs no event loop. Raises SpawnError."""
    mark = new_mark()
    try:
        popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**environment, MARK_NAME: mark},
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SpawnError(f"cannot start `{command[0]}`: {reason or error}") from error
    roots.add(popen.pid)
    return Program(popen, mark)


class Child:
    """One running program.

    `on_output` is called with every chunk of its standard output, `on_end` once it has closed its
    output or ended; both from the event loop. There is no output after `on_end`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: str | None = None,
        memory_limit_mb: float | None = None,
        address_space_mb: float | None = None,
        ahead: Program | None = None,
        watched: bool = True,
        on_output: Callable[[bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        """Start the program, or take over one that was started `ahead`. Raises SpawnError.

        Its tree's memory is sampled ten times a second, unless it is not `watched`, as for internal
        processes whose memory is not needed.
        """
        adopt_orphans()
        begun = ahead or start_program(command, environment=environment, cwd=cwd)
        self._own_peak_bytes = peak_resident_bytes(os.getpid())
        self._popen, mark = begun.popen, begun.mark
        self.pid = self._popen.pid
        self.tree = ProcessTree(self.pid, mark, memory_limit_mb)
        self._watcher = current_watcher()
        self._watched = watched
        if watched:
            self._watcher.add(self.tree)
        self._limit_address_space(address_space_mb)
        self._loop = asyncio.get_running_loop()
        self._on_output = on_output
        self._on_end = on_end
        self._ended = False
        self._stderr = bytearray()
        self._to_write = bytearray()
        self._all_taken = asyncio.Event()
        self._all_taken.set()
        self._close_after_write = False
        self.exited = asyncio.Event()
        self._input, self._output, self._errors = self._open_pipes()
        self._await_exit()
        for delay_s in _EARLY_READINGS_S if watched else ():
            self._loop.call_later(delay_s, self._note_peak)

    @property
    def exit_code(self) -> int | None:
        """Return the exit status, −N when ended by signal N, None while it runs."""
        return self._popen.returncode

    def stderr_tail(self) -> str:
        """Return the end of its standard error, at most 16 KiB."""
        return self._stderr.decode("utf-8", "replace").strip()

    def ending(self) -> str:
        """Describe how it ended: `exited with code 3: last lines of stderr`."""
        code = self.exit_code
        if code is None:
            said = "closed its output"
        elif code < 0:
            said = f"was ended by {_signal_name(-code)}"
        else:
            said = f"exited with code {code}"
        # Masked before its lines are joined and cut: a secret is no longer known as one then.
        tail = " | ".join(redact(self.stderr_tail()).splitlines()[-5:])
        return f"{said}: {tail[-1000:]}" if tail else said

    def write(self, data: bytes, *, close: bool = False) -> None:
        """Write to its standard input without waiting; `close` ends the input afterwards.

        Data that the pipe does not accept are sent as the program reads; a closed pipe is ignored
        here, because the end of the program is more informative.
        """
        if self._input < 0:
            return
        self._close_after_write = close
        self._to_write += data
        self._write_some()

    @property
    def unsent_bytes(self) -> int:
        """Return the written bytes that its pipe has not accepted yet."""
        return len(self._to_write)

    async def all_taken(self) -> None:
        """Wait until its pipe has accepted everything written, or was closed."""
        await self._all_taken.wait()

    def pause_output(self) -> None:
        """Stop reading its output, so that it has to wait once the pipe is full."""
        if self._output >= 0:
            self._loop.remove_reader(self._output)

    def resume_output(self) -> None:
        """Resume reading its output."""
        if self._output >= 0:
            self._loop.add_reader(self._output, self._read_output)

    def _write_some(self) -> None:
        if self._input < 0:
            return
        try:
            while self._to_write:
                del self._to_write[: os.write(self._input, self._to_write)]
        except BlockingIOError:
            self._all_taken.clear()
            self._loop.add_writer(self._input, self._write_some)
            return
        except OSError:
            self._close_after_write = True
        else:
            self._loop.remove_writer(self._input)
        self._all_taken.set()
        if self._close_after_write:
            self._close_input()

    def _close_input(self) -> None:
        if self._input >= 0:
            self._loop.remove_writer(self._input)
            os.close(self._input)
            self._input = -1
        self._to_write.clear()
        self._all_taken.set()

    def _open_pipes(self) -> tuple[int, int, int]:
        popen = self._popen
        assert popen.stdin is not None
        assert popen.stdout is not None
        assert popen.stderr is not None
        pipes = []
        for stream in (popen.stdin, popen.stdout, popen.stderr):
            number = os.dup(stream.fileno())
            stream.close()
            os.set_blocking(number, False)
            pipes.append(number)
        popen.stdin = popen.stdout = popen.stderr = None
        self._loop.add_reader(pipes[1], self._read_output)
        self._loop.add_reader(pipes[2], self._read_errors)
        return pipes[0], pipes[1], pipes[2]

    def _read_output(self) -> None:
        if self._output < 0:
            return
        self._note_peak()  # before its output is taken: it may end as soon as that is gone
        try:
            data = os.read(self._output, _CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._on_output(data)
        else:
            self._close_output()
            self._end()

    def _close_output(self) -> None:
        if self._output >= 0:
            self._loop.remove_reader(self._output)
            os.close(self._output)
            self._output = -1

    def _read_errors(self) -> None:
        try:
            data = os.read(self._errors, _CHUNK_BYTES) if self._errors >= 0 else b""
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._stderr += data
            del self._stderr[:-STDERR_KEPT_BYTES]
        elif self._errors >= 0:
            self._loop.remove_reader(self._errors)
            os.close(self._errors)
            self._errors = -1

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._on_end()

    def _note_peak(self) -> None:
        """Read its peak memory so far: the kernel's final value is useless below the harness's own
        memory.
        """
        if self._watched and not self._ended and self.exit_code is None:
            self.tree.note_root_peak(peak_resident_bytes(self.pid))

    def _await_exit(self) -> None:
        if sys.platform != "linux":
            threading.Thread(target=self._wait_in_thread, daemon=True).start()
            return
        handle = os.pidfd_open(self.pid)

        def collect() -> None:
            self._loop.remove_reader(handle)
            os.close(handle)
            self._exited(os.wait4(self.pid, 0))

        self._loop.add_reader(handle, collect)

    def _wait_in_thread(self) -> None:
        result = os.wait4(self.pid, 0)
        self._loop.call_soon_threadsafe(self._exited, result)

    def _exited(self, result: tuple[int, int, resource.struct_rusage]) -> None:
        _, status, usage = result
        # The kernel counts what a child shared with its parent until exec: only more is its own.
        # The parent's ru_maxrss would not do, since it has what *its* parent shared with it.
        if sys.platform == "linux" and usage.ru_maxrss * 1024 > self._own_peak_bytes:
            self.tree.note_root_peak(usage.ru_maxrss * 1024)
        self.tree.forget(self.pid)
        self.tree.add_ended_cpu(usage.ru_utime + usage.ru_stime)
        roots.discard(self.pid)
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        # Bounded: a pipe holds so much, and a descendant that goes on writing is not waited for.
        for _ in range(4):
            self._read_output()
            self._read_errors()
        self._close_output()
        self.exited.set()
        self._end()

    def _limit_address_space(self, address_space_mb: float | None) -> None:
        if address_space_mb is not None and sys.platform == "linux":
            limit = int(address_space_mb * 1e6)
            resource.prlimit(self.pid, resource.RLIMIT_AS, (limit, limit))

    async def close(self, grace_s: float = 0.0) -> None:
        """End the whole tree: end of input, then SIGTERM, then SIGKILL, `grace_s` apart.

        Safe to call again, and for a program that has ended; leaves no member and no zombie.
        """
        self._close_input()
        if grace_s > 0 and not await self.exits_within(grace_s):
            self.tree.signal_all(signal.SIGTERM)
            await self.exits_within(grace_s)
        await self.tree.kill()
        await self.exits_within(_GIVE_UP_S)
        self._watcher.discard(self.tree)
        self._close_output()
        self._end()
        self._read_errors()
        if self._errors >= 0:
            self._loop.remove_reader(self._errors)
            os.close(self._errors)
            self._errors = -1

    async def exits_within(self, seconds: float) -> bool:
        """Wait for the end of the program; return False if it still runs then."""
        try:
            await asyncio.wait_for(self.exited.wait(), seconds)
        except TimeoutError:
            return False
        return True


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
