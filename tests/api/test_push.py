"""`agentbench push`: several databases report to one; the same run twice is one run."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from service_process import TOKEN, RunningService, place_with_runs, running_service

from agentbench_tui.python_api.client import ServiceFailed
from agentbench_tui.python_api.store import open_store


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(place_with_runs(tmp_path_factory.mktemp("target"))) as service:
        yield service


def test_runs_of_several_machines_are_in_one_database(
    service: RunningService, tmp_path: Path
) -> None:
    ids = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        box = place_with_runs(tmp_path / name)
        ids.append(open_store(box.database).run().document.run_id)
        done = box.run("push", service.url, "latest", AGENTBENCH_TOKEN=TOKEN)
        assert (done.returncode, done.stdout) == (0, f"{ids[-1]}  sent\n"), done.stderr
        again = box.run("push", service.url, ids[-1][:-4], AGENTBENCH_TOKEN=TOKEN)
        assert (again.returncode, again.stdout) == (0, f"{ids[-1]}  was there already\n")
        sent = open_store(service.place.database).run(ids[-1])
        assert sent.document == open_store(box.database).run().document
    assert {one.id for one in service.client.runs().runs} > set(ids)


def test_a_token_may_come_from_a_file(service: RunningService, tmp_path: Path) -> None:
    box = place_with_runs(tmp_path)
    (tmp_path / "token.txt").write_text(TOKEN + "\n")
    (tmp_path / "token.txt").chmod(0o600)
    done = box.run("push", service.url, "latest", "--token-file", "token.txt")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "token", "said"),
    [
        (["latest"], "", "set AGENTBENCH_TOKEN"),
        (["latest"], "another-token-of-the-tests", "send the token of the service"),
        (["zzz"], TOKEN, "no run 'zzz'"),
    ],
)
def test_a_mistake_is_one_line(
    service: RunningService, arguments: list[str], token: str, said: str
) -> None:
    done = service.place.run("push", service.url, *arguments, AGENTBENCH_TOKEN=token)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_service_that_is_not_there_is_one_line(service: RunningService) -> None:
    done = service.place.run("push", "http://127.0.0.1:1", "latest", AGENTBENCH_TOKEN=TOKEN)
    assert done.returncode == 2
    assert "no answer from a service" in done.stderr
    done = service.place.run("push", "ftp://x", "latest", AGENTBENCH_TOKEN=TOKEN)
    assert "expected a URL such as http://127.0.0.1:8321" in done.stderr


def test_a_damaged_run_is_refused_and_named(service: RunningService, tmp_path: Path) -> None:
    box = place_with_runs(tmp_path)
    assert box.run("runs", "export", "latest", "run.db").returncode == 0
    file = box.folder / "run.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE runs SET id='../../escape'")
    with pytest.raises(ServiceFailed) as refused:
        service.client.import_file(file)
    assert refused.value.status == 422
    assert "escape" in str(refused.value)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON runs BEGIN SELECT 1; END")
    with pytest.raises(ServiceFailed, match="the file: its trigger 't' is not one of agentbench"):
        service.client.import_file(file)
