"""`agentbench mock` as a process: how it starts, how it ends, what it leaves."""

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "agentbench_tui", "mock"]
PATIENCE_S = 100.0


@contextmanager
def started(*arguments: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The running command and its URL."""
    process = subprocess.Popen(
        [*COMMAND, "--port", "0", "--ttft", "1ms", "--itl", "1ms", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/v1)\n", line)
        assert found, line
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()


def ask(url: str) -> int:
    """Tokens of an answer."""
    with urllib.request.urlopen(f"{url}/chat/completions", data=b"{}") as answer:
        tokens: int = json.load(answer)["usage"]["completion_tokens"]
    return tokens


def refused(*arguments: str) -> str:
    """What it says when it does not start."""
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 or done.stderr.startswith("Usage:")
    return done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_the_truth_is_written(tmp_path: Path, number: int) -> None:
    truth, log = tmp_path / "truth.json", tmp_path / "log.jsonl"
    files = ["--truth", str(truth), "--requests-log", str(log)]
    with started("--tokens", "3", *files) as (process, url):
        assert [ask(url), ask(url)] == [3, 3]
        process.send_signal(number)
        said, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, said, errors) == (0, "", "")
    document = json.loads(truth.read_text())
    assert document["requests"]["ok"] == 2
    assert document["metrics"]["e2e_ms"]["n"] == 2
    assert [json.loads(line)["number"] for line in log.read_text().splitlines()] == [0, 1]


def test_the_end_of_its_input_ends_it_where_that_was_asked_for() -> None:
    with started("--until-stdin-closes") as (process, _):
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, "")


def test_what_is_in_flight_at_the_end_is_unfinished(tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    body = b'{"stream":true}'
    with started("--ttft", "3600s", "--truth", str(truth)) as (process, url):
        port = int(url.split(":")[2].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
            connection.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body)
                + body
            )
            assert connection.recv(15) == b"HTTP/1.1 200 OK"
            process.terminate()
            process.communicate(timeout=PATIENCE_S)
            while connection.recv(4096):
                pass
    requests = json.loads(truth.read_text())["requests"]
    assert (requests["received"], requests["unfinished"], requests["cancelled"]) == (1, 1, 0)


def test_a_port_in_use_is_told_in_a_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused("--port", str(port))
    assert said == (
        f"agentbench: port {port} of 127.0.0.1 is in use: name another with --port "
        "(0: any free one)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ttft", "5"], "option `ttft`: `5` is not a duration: write a number and a unit"),
        (["--ttft-dist", "lognormel"], 'no distribution `lognormel` (did you mean "lognormal"?)'),
        (["--stall", "10s/2s"], "a stall lasts more than 0 and less than its period"),
        (["--reasoning-tokens", "40"], "reasoning-tokens: fewer than tokens"),
        (["--truth", "no/such/folder/truth.json"], "no folder"),
        (["--host", "192.0.2.1", "--port", "0"], "cannot listen on 192.0.2.1, port 0"),
        (["--tttf", "5ms"], "No such option '--tttf'"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(arguments: list[str], said: str) -> None:
    assert said in refused(*arguments)


def test_help_names_every_option() -> None:
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True)
    for name in ("--ttft ", "--itl-dist", "--stall", "--truth", "--tool-calls"):
        assert name in done.stdout
    assert "--until-stdin-closes" not in done.stdout


@pytest.mark.parametrize("host", ["a..b", "x" * 70, "\x1b[2J", "..", "ü" * 70, "999.1.1.1", "[::1"])
def test_what_is_no_host_is_refused(host: str) -> None:
    ended = subprocess.run(
        [*COMMAND, "--port", "0", "--host", host],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("agentbench: ")
    assert "\x1b" not in ended.stderr
