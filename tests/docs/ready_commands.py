"""`agentbench` with its modules imported once: each command is a process forked from this one.

Read by `ReadyCommands`: a line of JSON for each command, answered by a line with its exit status.
A forked command has streams, a folder, an environment and an end of its own, as if it were started
anew; only the half second of imports, which is no part of what a page says, is not spent again.
"""

import gc
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any


class ReadyCommands:
    """The process that imports, and what is asked of it."""

    def __init__(self, root: Path) -> None:
        """`root`: of the checkout whose package it is."""
        path = os.pathsep.join([str(root), os.environ["PYTHONPATH"]])
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(
        self, arguments: list[str], folder: Path, environment: dict[str, str]
    ) -> tuple[int, str]:
        """Exit status, and what it wrote to stdout and stderr together."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        written = folder.parent / f"{folder.name} output"
        asked = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": environment,
            "written": str(written),
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        return status, written.read_text()

    def close(self) -> None:
        """End it, and a command that it still waits for."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def serve() -> None:
    """Fork for each line; in the child this returns when everything is as the line says."""
    import_all()
    gc.collect()
    gc.freeze()  # else a collection in a child would copy all of it
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            become(asked)
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
    out = os.open(asked["written"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, stream in ((nothing, 0), (out, 1), (out, 2)):
        os.dup2(descriptor, stream)
    os.close(out)
    os.close(nothing)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["agentbench", *asked["arguments"]]


if __name__ == "__main__":
    serve()
    from agentbench_tui.cli.main import run

    run()
