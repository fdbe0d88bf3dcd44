"""The options of `agentbench serve`: the token, what is printed, and mistakes."""

import os
import subprocess
from pathlib import Path

import pytest
from service_process import COMMAND, Place, running_service

from agentbench_tui.api.settings import (
    ServiceSettings,
    TokenCheck,
    is_loopback,
    token_of_client,
    token_of_service,
)
from agentbench_tui.model.errors import UsageError
from agentbench_tui.python_api.client import Client

TOKEN = "a-token-of-a-test-0123456789"


def test_a_token_file_is_created_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "token.txt"
    first = token_of_service(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(first.value) >= 43  # 256 bits in base 64
    assert not first.is_new  # the file says it, so it is not printed
    assert token_of_service(file) == first
    assert token_of_client(file) == first.value


def test_a_token_that_all_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token.txt"
    file.write_text(TOKEN)
    file.chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        token_of_service(file)
    file.chmod(0o640)  # a secret that a container gets through its group
    assert token_of_service(file).value == TOKEN


@pytest.mark.parametrize(
    "text", ["", "short", "x" * 15, "x" * 5000, "with a space inside it", "é" * 20]
)
def test_a_weak_or_damaged_token_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token.txt"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(UsageError, match="a token has"):
        token_of_service(file)


def test_the_environment_names_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTBENCH_TOKEN", TOKEN)
    assert token_of_service(None).value == TOKEN
    assert token_of_client(None) == TOKEN
    monkeypatch.delenv("AGENTBENCH_TOKEN")
    drawn = [token_of_service(None) for _ in range(2)]
    assert drawn[0].is_new
    assert drawn[0].value != drawn[1].value
    with pytest.raises(UsageError, match="set AGENTBENCH_TOKEN"):
        token_of_client(None)


def test_only_the_token_is_the_token() -> None:
    check = TokenCheck(TOKEN)
    assert check(TOKEN.encode())
    for other in (b"", TOKEN[:-1].encode(), TOKEN.encode() + b"x", TOKEN.upper().encode()):
        assert not check(other)


def test_addresses_that_only_this_machine_reaches() -> None:
    assert [is_loopback(host) for host in ("localhost", "127.9.9.9", "::1", "[::1]")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "example.org", "")] == [
        False
    ] * 5


def test_the_hosts_of_a_wildcard_are_not_guessed() -> None:
    anywhere = ServiceSettings(Path("x.db"), TOKEN, host="0.0.0.0", hosts=frozenset({"Box"}))
    assert anywhere.known_hosts == {"localhost", "127.0.0.1", "::1", "box"}
    assert "10.0.0.1" in ServiceSettings(Path("x.db"), TOKEN, host="10.0.0.1").known_hosts


def test_a_new_token_is_printed_once_and_the_database_is_made(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with running_service(place, AGENTBENCH_TOKEN="") as service:
        assert service.process.stderr is not None
        said, _ = service.process.stderr.readline(), service.process.stderr.readline()
        token = said.removeprefix("token: ").strip()
        client = Client(service.url, token)
        assert client.runs().runs == ()
        assert client.leaderboard().reason
        assert place.database.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--allow-target", "opnai"], 'did you mean "openai"'),
        (["--cors-origin", "bench.example"], "expected SCHEME://HOST"),
        (["--cors-origin", "*"], "expected SCHEME://HOST"),
        (["--agent", "x=nothing:y"], "nothing"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
        (["--suites", "nowhere"], "nowhere"),
    ],
)
def test_a_mistake_is_named_before_anything_is_served(
    tmp_path: Path, options: list[str], said: str
) -> None:
    place = Place(tmp_path)
    done = place.run("serve", "--port", "0", *options, AGENTBENCH_TOKEN=TOKEN)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_extra_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "fastapi.py").write_text('raise ModuleNotFoundError("no", name="fastapi")\n')
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    done = subprocess.run(
        [*COMMAND, "serve", "--port", "0"],
        env={**os.environ, "PYTHONPATH": path, "AGENTBENCH_TOKEN": TOKEN},
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "pip install 'agentbench-tui[api]'" in done.stderr
