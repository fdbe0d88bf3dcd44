"""Starts the model server of this folder in a process of its own, and asks it what it saw."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("openai_server.py")


@dataclass(frozen=True)
class RunningServer:
    """A server that listens."""

    url: str
    """`http://127.0.0.1:PORT`, without a path."""

    def requests(self) -> list[dict[str, Any]]:
        """The requests it got so far: `method`, `path`, `headers`, `body`."""
        with urllib.request.urlopen(f"{self.url}/requests") as answer:
            found: list[dict[str, Any]] = json.load(answer)
        return found

    def wait_for(self, behavior: str) -> None:
        """Return once a request with that behavior has arrived."""
        with urllib.request.urlopen(f"{self.url}/arrived/{behavior}"):
            pass

    def last_request(self) -> dict[str, Any]:
        """The last of them."""
        return self.requests()[-1]


@contextmanager
def running_openai_server(*arguments: str) -> Iterator[RunningServer]:
    """The server, from its first line until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        scheme = "https" if "--tls" in arguments else "http"
        yield RunningServer(f"{scheme}://127.0.0.1:{int(process.stdout.readline())}")
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=5)
        finally:
            process.kill()
            process.stdout.close()
