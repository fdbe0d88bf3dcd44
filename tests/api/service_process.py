"""`agentbench serve` as a process, with a database of its own, and requests to it."""

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))

from processes import COMMAND, Place

from agentbench_tui.python_api.client import Client

TOKEN = "a-token-of-the-tests-0123456789"
AGENTS = """
import os
from pathlib import Path
here = Path(__file__).parent
def echo(prompt):
    return prompt if int(prompt) % 3 else "?"
def right(prompt):
    return prompt
def waits(prompt):
    (here / "arrived").write_text(prompt)
    (here / "go").read_text()
    return prompt
def told(prompt):
    (here / "environment").write_text(repr(dict(os.environ)))
    return prompt
"""


class Answer(NamedTuple):
    """Status, headers (names in lower case) and body of an answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class RunningService:
    """A service that runs."""

    port: int
    place: Place
    process: "subprocess.Popen[str]"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def client(self) -> Client:
        return Client(self.url, TOKEN)

    def request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str | None] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Send a request as it is given. `None` leaves a header out."""
        wanted: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {TOKEN}",
            **(headers or {}),
        }
        if body is not None:
            wanted.setdefault("Content-Length", str(len(body)))
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(connection):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in wanted.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())


@contextmanager
def running_service(place: Place, *options: str, **environment: str) -> Iterator[RunningService]:
    """Serve the database of a place until the end of the block."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", *options],
        cwd=place.folder,
        env=place.environment(**{"AGENTBENCH_TOKEN": TOKEN, **environment}),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r" at http://127\.0\.0\.1:([0-9]+)", line)
        assert found, line + process.stderr.read()
        yield RunningService(int(found[1]), place, process)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def place_with_runs(folder: Path) -> Place:
    """A place with one run of two agents on 12 cases, whose suite lies in `suites`."""
    place = Place(folder)
    place.suite(12, suite={"agents": [{"id": "echo", "target": "python:agents.py:echo"}]})
    (folder / "suites").mkdir()
    (folder / "suite.json").rename(folder / "suites" / "numbers.json")
    for where in (folder, folder / "suites"):
        (where / "agents.py").write_text(AGENTS)
    done = place.run(
        "run", "suites/numbers.json", "--no-ui", "-q", "--tag", "first",
        "--agent", "echo", "--agent", "right=python:agents.py:right",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return place
