"""The guards around the tests do guard: network, environment, leftovers."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import network_guard
import pytest

TESTS = Path(__file__).parents[1]
OUTSIDE = "192.0.2.1"  # TEST-NET-1, RFC 5737: an address that belongs to nobody


def _connect() -> None:
    with socket.socket() as sock:
        sock.connect((OUTSIDE, 80))


def _connect_ipv6() -> None:
    with socket.socket(socket.AF_INET6) as sock:
        sock.connect(("2001:db8::1", 80))


def _send_datagram() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", (OUTSIDE, 9))


def _send_message() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.sendmsg([b"x"], [], 0, (OUTSIDE, 9))


def _resolve() -> None:
    socket.getaddrinfo("example.com", 80)


def _resolve_old_way() -> None:
    socket.gethostbyname("example.com")


def _open_with_asyncio() -> None:
    asyncio.run(asyncio.wait_for(asyncio.open_connection(OUTSIDE, 80), 5))


@pytest.fixture
def attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of this test's own: a refusal written there does not fail the test that wants it."""
    log = tmp_path / "attempts.log"
    monkeypatch.setenv(network_guard.LOG_VARIABLE, str(log))
    return log


@pytest.mark.parametrize(
    "reach",
    [
        _connect,
        _connect_ipv6,
        _send_datagram,
        _send_message,
        _resolve,
        _resolve_old_way,
        _open_with_asyncio,
    ],
)
def test_outside_is_refused_and_recorded(reach: Callable[[], None], attempts: Path) -> None:
    with pytest.raises(network_guard.NetworkClosedError):
        reach()
    assert len(attempts.read_text().splitlines()) == 1


def test_a_child_process_is_refused_too(attempts: Path) -> None:
    code = f"import socket; socket.create_connection(('{OUTSIDE}', 80), 5)"
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert child.returncode == 1
    assert "NetworkClosedError" in child.stderr
    assert f"socket.getaddrinfo {OUTSIDE}" in attempts.read_text()


def test_loopback_and_local_sockets_are_open(attempts: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        for host in ("127.0.0.1", "localhost"):
            with socket.create_connection((host, server.getsockname()[1]), 5):
                pass
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        client.connect(path)
    assert not attempts.exists()


def test_a_reserved_name_fails_to_resolve_without_asking_anybody(attempts: Path) -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("nowhere.invalid", 80)
    assert not attempts.exists()


def test_the_environment_is_clean(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert [name for name in os.environ if name.endswith("_API_KEY")] == []
    assert [name for name in os.environ if name.startswith("AGENTBENCH_")] == ["AGENTBENCH_DB"]
    assert time.tzname[0] == "UTC"
    home = Path.home()
    assert home.is_relative_to(tmp_path_factory.getbasetemp())
    assert list(home.iterdir()) == []
    assert Path(os.environ["AGENTBENCH_DB"]).parent == home


_CARELESS = {
    "test_process.py": """
import subprocess, sys

def test_leaves_a_process():
    subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
""",
    "test_thread.py": """
import threading

def test_leaves_a_thread():
    threading.Thread(target=threading.Event().wait, args=(2,), name="forgotten").start()
""",
    "test_network.py": """
import contextlib, socket

def test_hides_a_refused_connection():
    with contextlib.suppress(Exception), socket.socket() as sock:
        sock.connect(("192.0.2.1", 80))
""",
    "test_tidy.py": """
import os

def test_is_tidy():
    assert "OPENAI_API_KEY" not in os.environ
    assert "HTTPS_PROXY" not in os.environ
    assert "NO_COLOR" not in os.environ
""",
}


def test_careless_tests_are_named(tmp_path: Path) -> None:
    conftest = (TESTS / "conftest.py").read_text()
    (tmp_path / "conftest.py").write_text(conftest.replace("GRACE_S = 20.0", "GRACE_S = 0.2"))
    shutil.copytree(TESTS / "guard", tmp_path / "guard")
    for name, source in _CARELESS.items():
        (tmp_path / name).write_text(source)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    keys = {"OPENAI_API_KEY": "k", "HTTPS_PROXY": "p", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", str(tmp_path)]
    inner = subprocess.run(
        command, cwd=tmp_path, env=os.environ | keys, capture_output=True, text=True, check=False
    )
    assert inner.returncode == 1, inner.stdout + inner.stderr
    assert "ERROR test_process.py::test_leaves_a_process - Failed: left running" in inner.stdout
    assert "ERROR test_thread.py::test_leaves_a_thread - Failed: left running" in inner.stdout
    assert "thread forgotten" in inner.stdout
    assert (
        "ERROR test_network.py::test_hides_a_refused_connection - Failed: reached" in inner.stdout
    )
    assert "4 passed, 3 errors" in inner.stdout
