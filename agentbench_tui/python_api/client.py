"""`Client`: the HTTP API of `agentbench serve` from Python, without further dependencies."""

from __future__ import annotations

import base64
import hashlib
import http.client
import ipaddress
import json
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from agentbench_tui import __version__
from agentbench_tui.contracts.catalog import decode_document
from agentbench_tui.contracts.compare import CompareDocument, CompareMatrixDocument
from agentbench_tui.contracts.leaderboard import AgentMatrixDocument, LeaderboardDocument
from agentbench_tui.contracts.listings import AgentsDocument, SuiteDocument, SuitesDocument
from agentbench_tui.contracts.regressions import RegressionsDocument
from agentbench_tui.contracts.run import GatesDocument, RunDocument
from agentbench_tui.contracts.runs import AnswersDocument, RunDetailsDocument, RunsDocument
from agentbench_tui.contracts.service import (
    HealthDocument,
    ImportedDocument,
    ProblemDetails,
    ResultsDocument,
    RunConfiguration,
    StartedRunDocument,
    StopDocument,
    VersionDocument,
)
from agentbench_tui.model.errors import AgentbenchError, UsageError

if TYPE_CHECKING:
    from os import PathLike

Answer = TypeVar("Answer")
_JSON = "application/json"
_SQLITE = "application/vnd.sqlite3"
_PART_BYTES = 1 << 20
_LONGEST_ANSWER = 1 << 30
_LONGEST_LINE = 1 << 20
"""Bytes of a line of an event stream."""
_RECONNECT_S = 2.0
"""Pause before reconnecting after a connection without data, as the service requests."""


class ServiceFailed(AgentbenchError):
    """The service refused a request, or could not be reached."""

    exit_code = 2

    def __init__(self, message: str, problem: ProblemDetails | None = None) -> None:
        super().__init__(message)
        self.problem = problem
        """What the service answered; None if it could not be reached."""

    @property
    def status(self) -> int | None:
        """The HTTP status code; None if the service could not be reached."""
        return None if self.problem is None else self.problem.status


@dataclass(frozen=True, slots=True)
class ServiceEvent:
    """One live event of a run."""

    id: str
    """Give it to `events(after=…)` to continue after this event."""
    name: str
    """`state`, `failure`, `iteration`, `tick`, `gauge`, or `end` as the last one."""
    data: Mapping[str, Any]


class Client:
    """The service at a URL.

    Each method is one request, and returns the typed document of the answer. Raises ServiceFailed
    with the problem that the service states.

    Args:
        url: Address of the service, such as `http://127.0.0.1:8321`.
        token: Its token, which `agentbench serve` prints.
        timeout_s: Longest wait for a part of an answer. A run without `async_execution` has no
            limit.
    """

    def __init__(self, url: str, token: str, *, timeout_s: float = 60.0) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in {"http", "https"} or not parts.hostname or port == -1:
            raise UsageError(f"{url}: expected a URL such as http://127.0.0.1:8321")
        self.url = url.rstrip("/")
        self._is_tls = parts.scheme == "https"
        self._host = parts.hostname
        self._port = port
        self._path = parts.path.rstrip("/")
        self._token = token
        self._timeout_s = timeout_s

    @property
    def is_encrypted(self) -> bool:
        """Whether the token cannot be read on the way: by TLS, or because it stays here."""
        if self._is_tls or self._host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self._host).is_loopback
        except ValueError:
            return False

    def health(self) -> HealthDocument:
        """Return whether the service answers."""
        return self._get("/health", HealthDocument)

    def version(self) -> VersionDocument:
        """Return the versions of the service."""
        return self._get("/version", VersionDocument)

    def run(
        self, agent_id: str, suite_id: str, configuration: RunConfiguration | None = None
    ) -> RunDocument:
        """Run a suite against an agent and return the result when the run has ended."""
        answer = self._run(agent_id, suite_id, configuration, async_execution=False)
        return _decoded(answer, RunDocument)

    def start(
        self, agent_id: str, suite_id: str, configuration: RunConfiguration | None = None
    ) -> StartedRunDocument:
        """Start a run and return its id; see `events` and `show`."""
        answer = self._run(agent_id, suite_id, configuration, async_execution=True)
        return _decoded(answer, StartedRunDocument)

    def results(
        self, agent_id: str, *, suite_id: str | None = None, timeframe: str = "latest",
        limit: int = 100,
    ) -> ResultsDocument:  # fmt: skip
        """Return complete executions of an agent: `latest`, `all`, or of a time such as `7d`."""
        path = f"/benchmarks/agents/{quote(agent_id, safe='')}/results"
        given = {"suite_id": suite_id, "timeframe": timeframe, "limit": limit}
        return self._get(path, ResultsDocument, given)

    def leaderboard(
        self, *, category: str = "overall", metric: str = "all", limit: int = 20
    ) -> LeaderboardDocument:
        """Return the leaderboard."""
        given = {"category": category, "metric": metric, "limit": limit}
        return self._get("/benchmarks/leaderboard", LeaderboardDocument, given)

    def compare(
        self,
        agent_ids: Sequence[str],
        suite_id: str,
        *,
        comparison_type: Literal["head_to_head", "matrix"] = "head_to_head",
    ) -> CompareDocument | CompareMatrixDocument | AgentMatrixDocument:
        """Compare every pair of agents, or return their mean scores and ranks."""
        given = {"suite_id": suite_id, "comparison_type": comparison_type}
        body = json.dumps(list(agent_ids)).encode()
        answer = self._request("POST", "/benchmarks/compare", given, body, {"Content-Type": _JSON})
        document = decode_document(answer)
        assert isinstance(document, CompareDocument | CompareMatrixDocument | AgentMatrixDocument)
        return document

    def regressions(
        self, agent_id: str, *, baseline_version: str | None = None, threshold: float = 0.1
    ) -> RegressionsDocument:
        """Return whether the newest runs of an agent are worse than before."""
        path = f"/benchmarks/agents/{quote(agent_id, safe='')}/regressions"
        given = {"baseline_version": baseline_version, "threshold": threshold}
        return self._get(path, RegressionsDocument, given)

    def runs(self, *, limit: int = 20, tag: str | None = None) -> RunsDocument:
        """List runs, the newest first."""
        return self._get("/runs", RunsDocument, {"limit": limit, "tag": tag})

    def show(self, run: str = "latest") -> RunDetailsDocument:
        """Return a run with its results and circumstances."""
        return self._get(f"/runs/{quote(run, safe='')}", RunDetailsDocument)

    def answers(
        self, run: str = "latest", *, agent: str | None = None, benchmark: str | None = None,
        wrong: bool = False, limit: int = 50,
    ) -> AnswersDocument:  # fmt: skip
        """Return observations of a run."""
        given = {"agent": agent, "benchmark": benchmark, "wrong": wrong, "limit": limit}
        return self._get(f"/runs/{quote(run, safe='')}/answers", AnswersDocument, given)

    def gates(self, run: str = "latest", gates: Sequence[str] = ()) -> GatesDocument:
        """Return whether a run meets gates; its own without any."""
        return self._get(f"/runs/{quote(run, safe='')}/gates", GatesDocument, {"gate": [*gates]})

    def stop(self, run: str) -> StopDocument:
        """Ask a run to end after its in-flight requests."""
        answer = self._request("POST", f"/runs/{quote(run, safe='')}/stop")
        return _decoded(answer, StopDocument)

    def suites(self) -> SuitesDocument:
        """List the suites that can be run."""
        return self._get("/suites", SuitesDocument)

    def suite(self, suite_id: str) -> SuiteDocument:
        """Return a suite."""
        return self._get(f"/suites/{quote(suite_id)}", SuiteDocument)

    def agents(self) -> AgentsDocument:
        """List the agents that were measured."""
        return self._get("/agents", AgentsDocument)

    def metrics(self) -> str:
        """Return the metrics of the service in the text format of Prometheus."""
        return self._request("GET", "/metrics").decode()

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        return _decoded(self._request("GET", "/openapi.json"), dict[str, Any])

    def import_file(self, file: str | PathLike[str]) -> ImportedDocument:
        """Send a file of `agentbench runs export`. A run that is there already does not change."""
        path = Path(file)
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").digest()
            stream.seek(0)
            headers = {
                "Content-Type": _SQLITE,
                "Content-Length": str(path.stat().st_size),
                "Content-Digest": f"sha-256=:{base64.b64encode(digest).decode()}:",
            }
            answer = self._request("POST", "/runs/import", body=stream, headers=headers)
        return _decoded(answer, ImportedDocument)

    def events(self, run: str = "latest", *, after: str = "") -> Iterator[ServiceEvent]:
        """Yield the events of a run until it ends; `after` is the id of the last known one.

        A connection that breaks is opened again where it broke, after a pause if it brought
        nothing.
        """
        # The id stays while runs begin and end: the newest run may be another one by then.
        run = self.show(run).run_id
        last = after
        while True:
            ended = False
            known = last
            try:
                for event in self._events(run, last):
                    last, ended = event.id, event.name == "end"
                    yield event
            except (http.client.HTTPException, ConnectionError, TimeoutError):
                pass  # a stopped service raises ServiceFailed at the next request
            else:
                if ended or not last or self._is_over(run, last):
                    return
            if last == known:
                time.sleep(_RECONNECT_S)

    def _is_over(self, run: str, last: str) -> bool:
        with self._opened(
            "GET", f"/runs/{quote(run, safe='')}/events", {}, None, {"Last-Event-ID": last}
        ) as response:
            return response.status == 204

    def _events(self, run: str, last: str) -> Iterator[ServiceEvent]:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        path = f"/runs/{quote(run, safe='')}/events"
        with self._opened("GET", path, {}, None, headers) as response:
            fields: dict[str, str] = {}
            while line := response.readline(_LONGEST_LINE):
                name, _, value = line.decode().rstrip("\r\n").partition(":")
                if name:
                    fields[name] = value.removeprefix(" ")
                elif "data" in fields:
                    data = json.loads(fields["data"])
                    yield ServiceEvent(fields.get("id", ""), fields.get("event", ""), data)
                    fields = {}
                else:
                    fields = {}

    def _run(
        self,
        agent_id: str,
        suite_id: str,
        configuration: RunConfiguration | None,
        *,
        async_execution: bool,
    ) -> bytes:
        given = {"agent_id": agent_id, "suite_id": suite_id, "async_execution": async_execution}
        body = msgspec.json.encode(configuration or RunConfiguration())
        headers = {"Content-Type": _JSON}
        timeout_s = self._timeout_s if async_execution else None
        return self._request("POST", "/benchmarks/run", given, body, headers, timeout_s)

    def _get(
        self, path: str, of: type[Answer], parameters: Mapping[str, object] | None = None
    ) -> Answer:
        return _decoded(self._request("GET", path, parameters), of)

    def _request(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, object] | None = None,
        body: bytes | IO[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float | None = 0,
    ) -> bytes:
        try:
            with self._opened(
                method, path, parameters or {}, body, headers or {}, timeout_s
            ) as response:
                return response.read(_LONGEST_ANSWER)
        except (http.client.HTTPException, OSError) as error:
            raise self._unreachable(error) from None

    @contextmanager
    def _opened(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, object],
        body: bytes | IO[bytes] | None,
        headers: Mapping[str, str],
        timeout_s: float | None = 0,
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request; the answer, if it is not a problem. Redirects are not followed: another
        server has no business with the token."""
        wait_s = self._timeout_s if timeout_s == 0 else timeout_s
        with closing(self._connection(wait_s)) as connection:
            try:
                connection.request(
                    method,
                    self._path + path + _query(parameters),
                    body,
                    {
                        "Authorization": f"Bearer {self._token}",
                        "User-Agent": f"agentbench/{__version__}",
                        **headers,
                    },
                )
                response = connection.getresponse()
            except (http.client.HTTPException, OSError) as error:
                raise self._unreachable(error) from None
            if response.status >= 300:
                raise _refusal(self.url, response.status, response.read(_PART_BYTES))
            yield response

    def _connection(self, timeout_s: float | None) -> http.client.HTTPConnection:
        if self._is_tls:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=timeout_s, context=context
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)

    def _unreachable(self, error: Exception) -> ServiceFailed:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return ServiceFailed(f"{self.url}: no answer from a service: {reason}")


def _decoded(body: bytes, of: type[Answer]) -> Answer:
    try:
        return msgspec.json.decode(body, type=of)
    except msgspec.MsgspecError as error:
        raise ServiceFailed(
            f"the answer is not the expected document ({error}); client and service may be of"
            " different versions of agentbench"
        ) from None


def _query(parameters: Mapping[str, object]) -> str:
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in parameters.items()
        if value is not None
    }
    return f"?{urlencode(given, doseq=True)}" if given else ""


def _refusal(url: str, status: int, body: bytes) -> ServiceFailed:
    try:
        problem = msgspec.json.decode(body, type=ProblemDetails)
    except msgspec.MsgspecError:
        problem = ProblemDetails(title="", status=status, detail="not an answer of agentbench")
    return ServiceFailed(f"{url}: {status}: {problem.detail}", problem)
