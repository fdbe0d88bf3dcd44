"""`agentbench` with its modules imported once: each command is a process forked from this one.

Read by `ReadyCommands`: a line of JSON for each command, answered by a line with its exit status.
A forked command has streams, a folder, an environment and an end of its own, as if it were started
anew by `python -m agentbench_tui`; only the half second of imports, which is no part of what a
command does, is not spent again. Where signals, terminals or the start of a process are the point,
a test starts a real one.
"""

import atexit
import functools
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[2]


class ReadyCommands:
    """The process that imports, and what is asked of it; it begins with the first command."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        *,
        together: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """A command from beginning to end; `together`: what it writes to stderr is in stdout."""
        with tempfile.TemporaryDirectory() as written:
            out = Path(written, "out")
            err = out if together else Path(written, "err")
            asked = {
                "arguments": arguments,
                "folder": str(folder),
                "environment": {**environment},
                "out": str(out),
                "err": str(err),
            }
            try:
                status = self._ask(json.dumps(asked))
            except BaseException:  # a test that ran out of time: the answer is to no later question
                self.close()
                raise
            told = "" if together else err.read_text()
            return subprocess.CompletedProcess([*arguments], status, out.read_text(), told)

    def _ask(self, line: str) -> int:
        if self._process is None:
            path = os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])
            self._process = subprocess.Popen(
                [sys.executable, __file__],
                # A pool of threads would not outlive a fork, and who waits for it would hang.
                env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End it, and a command that it still waits for."""
        process, self._process = self._process, None
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@functools.cache
def ready_commands() -> ReadyCommands:
    """Those of this test process, kept until it exits."""
    made = ReadyCommands()
    atexit.register(made.close)
    return made


def serve() -> None:
    """Fork for each line; in the child this returns when everything is as the line says."""
    import psutil

    import_all()
    gc.collect()
    gc.freeze()  # else a collection in a child would copy all of it
    for line in sys.stdin:
        assert psutil.Process().num_threads() == 1, "a forked process has one thread only"
        child = os.fork()
        if not child:
            become(json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - what the other end reads
    os._exit(0)


def import_all() -> None:
    """Everything of the package but what only a terminal needs."""
    import pkgutil
    from importlib import import_module

    import agentbench_tui

    for package in pkgutil.iter_modules(agentbench_tui.__path__, "agentbench_tui."):
        if package.name in {"agentbench_tui.tui", "agentbench_tui.__main__"}:
            continue
        module = import_module(package.name)
        for inner in pkgutil.iter_modules(getattr(module, "__path__", ()), package.name + "."):
            import_module(inner.name)


def become(asked: dict[str, Any]) -> None:
    """Take the streams, the folder, the environment and the arguments that were asked for."""
    out, err = (
        os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND) for name in ("out", "err")
    )
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, stream in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path[0] = asked["folder"]
    sys.argv = ["agentbench", *asked["arguments"]]


def end(status: Any) -> NoReturn:
    """End as Python does, but for taking every module apart: that would copy all there is."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads; Python's own first step
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
    from agentbench_tui.cli.main import run

    try:
        run()
    except SystemExit as ended:
        end(ended.code)
