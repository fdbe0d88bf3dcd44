"""Requests that must not get anywhere: each is refused with a problem, and nothing of the host
leaves the service."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
from service_process import TOKEN, RunningService, place_with_runs, running_service

from agentbench_tui.api.job import settings_of
from agentbench_tui.contracts.service import RunConfiguration
from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.model.errors import UsageError

RUN = "/benchmarks/run?suite_id=numbers&agent_id="
COMPARE = "/benchmarks/compare?suite_id=numbers"
WEB_SOCKET = (
    b"GET /runs/latest/events HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
SECRET = "the-content-of-a-file-of-the-host"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    place = place_with_runs(tmp_path_factory.mktemp("hostile"))
    (place.folder / "secret.jsonl").write_text(f'{{"input": "{SECRET}", "expected": "x"}}\n')
    suites = place.folder / "suites"
    suite = json.loads((suites / "numbers.json").read_text())
    suite |= {
        "suite_id": "data",
        "parameters": {
            "file": {"type": "path", "required": True},
            "word": {"type": "string", "default": "a"},
            "size": {"type": "integer", "default": 1},
            "level": {"type": "string", "default": "low", "choices": ["low", "high"]},
        },
    }
    suite["benchmarks"][0]["dataset"] = {"data_source": "${file}"}
    (suites / "data.json").write_text(json.dumps(suite))
    with running_service(place, "--suites", "suites", "--allow-host", "bench.example") as service:
        yield service


def check_refused(service: RunningService, status: int, *request: object) -> dict[str, object]:
    """The answer is this error, as a problem, and names nothing of the host."""
    answer = service.request(*request)  # type: ignore[arg-type]
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    text = answer.body.decode()
    assert SECRET not in text
    assert "root:" not in text
    assert "Traceback" not in text
    assert TOKEN not in text
    found: dict[str, object] = json.loads(text)
    assert found["status"] == status
    assert found["type"]
    return found


@pytest.mark.parametrize(
    "authorization",
    [
        None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN} {TOKEN}", "Bearer " + "x" * 5000,
        f"Bearer\t{TOKEN}", "Bearer \xff\xfe",
    ],
)  # fmt: skip
def test_without_the_token_nothing_is_answered(
    service: RunningService, authorization: str | None
) -> None:
    for method, path in (("GET", "/runs"), ("GET", "/nothing"), ("POST", RUN + "echo")):
        check_refused(service, 401, method, path, {"Authorization": authorization})
    answer = service.request("GET", "/version", {"Authorization": authorization})
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8321", "127.0.0.1.evil.example", "localhost.evil.example",
        "127.0.0.2", "[::2]", "", "bench.example.evil", "localhost@evil.example", "0.0.0.0",
        "169.254.169.254", "[", "a b", "localhost%00.evil.example",
    ],
)  # fmt: skip
def test_a_page_that_points_its_name_here_gets_nothing(service: RunningService, host: str) -> None:
    """DNS rebinding: the browser names the page's own host."""
    for path in ("/health", "/runs"):
        answer = service.request("GET", path, {"Host": host})
        assert answer.status in {400, 421}, answer.body


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "[::1]:8321", "bench.example"])
def test_names_of_the_service_are_answered(service: RunningService, host: str) -> None:
    assert service.request("GET", "/version", {"Host": host}).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://localhost", "http://127.0.0.1:1", "file://"]
)
def test_pages_of_other_origins_are_refused(service: RunningService, origin: str) -> None:
    check_refused(service, 403, "POST", RUN + "echo", {"Origin": origin})
    check_refused(service, 403, "GET", "/health", {"Origin": origin})
    preflight = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    answer = service.request("OPTIONS", "/runs", {**preflight, "Authorization": None})
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_no_page_may_read_answers_unless_its_origin_is_allowed(service: RunningService) -> None:
    own = {"Origin": f"http://127.0.0.1:{service.port}"}
    answer = service.request("GET", "/runs", own)
    assert answer.status == 200
    assert "access-control-allow-origin" not in answer.headers
    page = "https://page.example"
    with running_service(service.place, "--cors-origin", page) as open_service:
        answer = open_service.request("GET", "/version", {"Origin": page})
        assert answer.headers["access-control-allow-origin"] == page
        asked = {"Origin": page, "Authorization": None, "Access-Control-Request-Method": "POST"}
        answer = open_service.request("OPTIONS", "/runs", asked)
        assert (answer.status, answer.headers["access-control-allow-origin"]) == (204, page)
        assert open_service.request("GET", "/runs", {"Origin": page + ".evil"}).status == 403


@pytest.mark.parametrize(
    "target",
    [
        "python:os:system", "python:agents.py:right", "command:cat secret.jsonl",
        "worker:sh -c id", "replay:secret.jsonl?answer=input", "replay:/etc/passwd",
        "openai:http://169.254.169.254/v1#m", "http://127.0.0.1:1/", "https://evil.example/",
        "x=command:id", "x@1=python:os:getcwd", "anthropic:#m", "a2a:http://127.0.0.1:1/",
        "market:outsider?host=0.0.0.0", "mock?api_key_env=HOME", "Python:os:system", " python:os:x",
    ],
)  # fmt: skip
def test_targets_that_run_code_read_files_or_reach_out_are_refused(
    service: RunningService, target: str
) -> None:
    before = len(service.client.runs(limit=1000).runs)
    answer = service.request("POST", RUN + quote(target))
    assert answer.status in {403, 404, 422}, answer.body
    assert SECRET not in answer.body.decode()
    assert len(service.client.runs(limit=1000).runs) == before


def test_an_agent_of_an_imported_run_may_not_run_its_program(
    service: RunningService, tmp_path: Path
) -> None:
    """Its target comes from somebody else."""
    other = place_with_runs(tmp_path)
    done = other.run(
        "run", "suites/numbers.json", "--no-ui", "-q", "--limit", "1", "--agent",
        "theirs=command:cat",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert other.run("runs", "export", "latest", "run.db").returncode == 0
    assert service.client.import_file(other.folder / "run.db").new
    found = check_refused(service, 403, "POST", RUN + "theirs")
    assert "command" in str(found["detail"])


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd", "../numbers", "..%2f..%2fetc%2fpasswd", "suites/numbers.json",
        "secret.jsonl",
        "./numbers", "numbers.json", "~/x", "file:///etc/passwd", "", "\x00", "numbers\x00.yaml",
        "C:\\x", "//evil.example/x",
    ],
)  # fmt: skip
def test_a_suite_is_only_a_name(service: RunningService, name: str) -> None:
    path = f"/benchmarks/run?agent_id=echo&suite_id={quote(name, safe='%')}"
    check_refused(service, 422 if name in {"", "\x00", "numbers\x00.yaml"} else 404, "POST", path)
    answer = service.request("GET", f"/suites/{quote(name, safe='%')}")
    assert answer.status in {404, 422}
    assert SECRET not in answer.body.decode()


@pytest.mark.parametrize(
    "parameters",
    [
        {"file": "/etc/passwd"}, {"file": "secret.jsonl"}, {"file": "../secret.jsonl"},
        {"file": "file:///etc/passwd"}, {"file": 5}, {"word": "${HOME}"}, {"word": "x"},
        {"level": "middle"}, {"echo.file": "/etc/passwd"}, {"data.file": "x"}, {"size": "1"},
        {"size\n--agent": 1}, {"file=secret.jsonl": 1}, {"data.file=secret.jsonl": ""},
    ],
)  # fmt: skip
def test_a_parameter_names_no_file(service: RunningService, parameters: dict[str, object]) -> None:
    body = json.dumps({"parameters": parameters}).encode()
    path = "/benchmarks/run?agent_id=reference:perfect&suite_id=data"
    answer = service.request("POST", path, body=body)
    assert answer.status in {403, 422}, answer.body
    assert SECRET not in answer.body.decode()
    assert "root:" not in answer.body.decode()


@pytest.mark.parametrize("name", ["word=x", "file=/etc/passwd", "echo.word=x", "nothing", ""])
def test_no_name_of_a_parameter_carries_a_value(tmp_path: Path, name: str) -> None:
    """`--set` splits at the first `=`, so such a name would set the text before it."""
    suite = {
        "suite_id": "data",
        "parameters": {"word": {"default": "a"}, "file": {"type": "path", "required": True}},
        "benchmarks": [
            {
                "benchmark_id": "echo",
                "scorers": ["exact"],
                "dataset": {"cases": [{"id": "a", "input": "a", "expected": "a"}]},
            }
        ],
    }
    (tmp_path / "data.json").write_text(json.dumps(suite))
    with pytest.raises(UsageError, match="no such parameter"):
        settings_of(load_suite(str(tmp_path / "data.json")), RunConfiguration(parameters={name: 1}))


@pytest.mark.parametrize(
    "agents",
    [
        ["file:/etc/passwd", "echo"], ["echo", "file:secret.jsonl"], ["file:"] * 2,
        ["FILE:/etc/passwd", "echo"], ["http://evil.example", "echo"], ["echo"], [], {"a": 1},
        "echo", [1, 2], ["echo", None], ["echo"] * 1000, ["e\ncho", "right"], None,
        ["run:../../x", "echo"], ["tag:", "echo"],
    ],
)  # fmt: skip
def test_a_comparison_reads_no_file(service: RunningService, agents: object) -> None:
    check_refused(service, 422, "POST", COMPARE, None, json.dumps(agents).encode())


@pytest.mark.parametrize(
    "run", ["..", "%2e%2e", "../x", "a/../../b", "%00", "latest%00", "%", "*", "' OR 1=1--", "_"]
)
def test_a_run_is_only_an_id(service: RunningService, run: str) -> None:
    for path in (f"/runs/{run}", f"/runs/{quote(run)}", f"/runs/{quote(run, safe='')}/answers"):
        if " " not in path:
            assert service.request("GET", path).status in {404, 422}, path


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"\xff\xfe", b"[" * 100_000, b'{"limit": NaN}', b'{"limit": 1e999}', b'{"runs": -1}',
        b'{"runs": 10000000}', b'{"gates": ["' + b"x" * 5000 + b'"]}', b'{"notes": 5}', b"null",
        b"[]", b'"x"', b'{"limit": 1}garbage', b'{"tags": "x"}', b'{"seed": "\\ud800"}',
    ],
)  # fmt: skip
def test_a_body_that_is_no_configuration_is_refused(service: RunningService, body: bytes) -> None:
    check_refused(service, 422, "POST", RUN + "echo", None, body)


def test_a_body_of_another_type_is_refused(service: RunningService) -> None:
    """A form of another page can send only types that need no preflight."""
    form = {"Content-Type": "text/plain"}
    check_refused(service, 422, "POST", RUN + "echo", form, b'{"limit": 1}')


def test_what_is_too_long_is_refused_before_it_is_read(service: RunningService) -> None:
    check_refused(service, 413, "POST", RUN + "echo", {"Content-Length": str(10**12)})
    check_refused(service, 413, "POST", RUN + "echo", None, b" " * ((1 << 20) + 1))
    check_refused(service, 413, "POST", RUN + "echo", None, b" " * (32 << 20))
    check_refused(service, 413, "POST", "/runs/import", {"Content-Length": str(10**15)})
    check_refused(service, 414, "GET", "/runs?tag=" + "x" * 5000)
    check_refused(service, 431, "GET", "/runs", {f"X-{n}": "1" for n in range(100)})


def test_a_chunked_body_is_counted_as_it_comes(service: RunningService) -> None:
    head = (
        f"POST {RUN}echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    part = b"%x\r\n%s\r\n" % (1 << 16, b" " * (1 << 16))
    with closing(socket.create_connection(("127.0.0.1", service.port), timeout=60)) as link:
        link.sendall(head.encode())
        try:
            for _ in range(64):
                link.sendall(part)
            received = link.recv(1000)
        except ConnectionError:
            return  # closed in the middle, which is as good
    assert b" 413 " in received.split(b"\r\n")[0]


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /runs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /runs HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET http://evil.example/runs HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /runs/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100,
        b"GET /runs\r\n\r\n",
        b"G" * 100_000,
        b"GET /runs HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        WEB_SOCKET,
    ],
    ids=range(13),
)
def test_what_is_no_request_of_ours_gets_no_answer_of_value(
    service: RunningService, raw: bytes
) -> None:
    with closing(socket.create_connection(("127.0.0.1", service.port), timeout=60)) as link:
        received = b""
        try:
            link.sendall(raw)
            link.shutdown(socket.SHUT_WR)
            while part := link.recv(65536):
                received += part
        except OSError:  # the service has closed the connection
            pass
    status = received.split(b"\r\n")[0]
    assert b" 2" not in status[8:11], received[:200]
    assert service.client.health().status == "ok"


def test_hostile_event_ids_are_refused(service: RunningService) -> None:
    for given in ("x", "1-2", "-1-0-0-0", "9" * 90, "1-1-1-1\tx", "1;DROP TABLE runs"):
        path = "/runs/latest/events"
        check_refused(service, 422, "GET", path, {"Last-Event-ID": given})


def test_an_import_needs_its_checksum_and_a_sound_file(
    service: RunningService, tmp_path: Path
) -> None:
    good = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"  # of nothing
    check_refused(service, 422, "POST", "/runs/import", None, b"x")
    check_refused(service, 422, "POST", "/runs/import", {"Content-Digest": "md5=:x:"}, b"x")
    check_refused(service, 400, "POST", "/runs/import", {"Content-Digest": good}, b"x")
    for content in (b"", b"SQLite format 3\x00" + b"\x00" * 4096, b"not a database" * 100):
        file = tmp_path / "file.db"
        file.write_bytes(content)
        try:
            service.client.import_file(file)
        except Exception as error:  # noqa: BLE001  # every kind is shown
            assert "Traceback" not in str(error)  # noqa: PT017
            assert getattr(error, "status", None) in {422, 503}, error  # noqa: PT017
        else:
            pytest.fail("imported")
    assert service.client.health().status == "ok"


def test_the_token_is_not_on_the_command_line_and_not_said_again(service: RunningService) -> None:
    assert TOKEN not in " ".join(psutil.Process(service.process.pid).cmdline())
    for path in ("/version", "/metrics", "/openapi.json", "/runs"):
        assert TOKEN not in service.request("GET", path).body.decode()


def test_a_misspelled_parameter_is_refused_with_the_nearest_name(service: RunningService) -> None:
    answer = service.request("GET", "/benchmarks/leaderboard?metrc=accuracy&limit=1")
    assert answer.status == 422
    assert json.loads(answer.body)["problems"] == [
        'metrc: the path has no such parameter (did you mean "metric"?)'
    ]
