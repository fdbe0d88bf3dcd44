"""Starts a server of `faulty_server` in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_name("faulty_server.py")


@dataclass(frozen=True)
class FaultyProcess:
    """A server that listens."""

    url: str
    """`http://127.0.0.1:PORT`, without a path."""
    pid: int

    @property
    def target(self) -> str:
        """As an agent."""
        return f"openai:{self.url}#faulty"


@contextmanager
def faulty(kind: str, **fields: object) -> Iterator[FaultyProcess]:
    """The server of a kind, with some of its fields changed, until the end of the block."""
    changed = [f"{name}={value}" for name, value in fields.items()]
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), kind, *changed], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        yield FaultyProcess(f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=5)
        finally:
            process.kill()
            process.stdout.close()
