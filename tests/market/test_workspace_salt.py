"""Runs of one database play the same salted worlds, and no agent gets the salt."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.market.outside import barrier
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.verdicts.ranking.running_board import BoardReader

SMALL = ("--duration=10", "--markets=2", "--perpetuals=1")

LOOKS = """
import json, os, pathlib, sys

def texts():
    yield json.dumps(dict(os.environ))
    yield json.dumps(sys.argv)
    folders = [pathlib.Path(__file__).parent, pathlib.Path(f"/proc/{os.getppid()}")]
    paths = [folder / name for folder in folders
             for name in ("a.db", "a.db-wal", "a.db-shm", "cmdline", "environ")]
    paths += [pathlib.Path(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    for path in paths:
        try:
            yield str(path.resolve())
            if path.is_file():
                yield path.read_bytes().decode("latin-1")
        except OSError:
            pass

def turn(market):
    if market.state["tick"] == 0:
        seen = "\\n".join(texts()) + json.dumps(market.state)
        market.call("a2a.createPost", content="the salt" if SALT in seen else "nothing")
"""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def played(capfd: pytest.CaptureFixture[str], *options: str, db: str = "a.db") -> dict[str, Any]:
    """The document of a run of worlds."""
    agents = () if "--agent" in options else ("--agent", "market:hold")
    arguments = ("market", "run", *options, *agents, "--db", db, "--no-ui", "--format=json")
    assert _run(arguments) == 0
    return dict(json.loads(capfd.readouterr().out))


def ids(document: dict[str, Any]) -> list[str]:
    return [world["id"] for world in document["worlds"]]


def salts(db: str) -> list[str]:
    """Those of the cases, in order."""
    statement = "SELECT json_extract(body, '$.input.salt') FROM cases ORDER BY key"
    with closing(connect_to_read(Path(db))) as connection:
        return [row[0] for row in connection.execute(statement)]


def workspace_salt(db: str) -> str:
    statement = "SELECT value FROM meta WHERE key='workspace_salt'"
    with closing(connect_to_read(Path(db))) as connection:
        return str(connection.execute(statement).fetchone()[0])


def test_runs_of_one_database_play_the_same_worlds_and_others_play_others(
    capfd: pytest.CaptureFixture[str],
) -> None:
    first = ids(played(capfd, *SMALL, "--worlds=2"))
    assert ids(played(capfd, *SMALL, "--worlds=2")) == first
    assert not set(first) & set(ids(played(capfd, *SMALL, "--worlds=2", db="b.db")))
    assert set(salts("a.db")) == {workspace_salt("a.db")} != {workspace_salt("b.db")}


def test_a_public_world_stays_public_and_a_private_one_stays_private(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert _run(["market", "generate", *SMALL, "--output=public.json", "--format=json"]) == 0
    public = capfd.readouterr()
    assert "can recompute it" in public.err
    options = ("--private", "--output=private.json", "--format=json")
    assert _run(["market", "generate", *SMALL, *options]) == 0
    private = capfd.readouterr()
    assert "can recompute it" not in private.err
    assert ids(played(capfd, "public.json")) == [json.loads(public.out)["id"]]
    assert ids(played(capfd, "private.json")) == [json.loads(private.out)["id"]]
    assert json.loads(public.out)["id"] != json.loads(private.out)["id"]
    assert _run(["market", "verify", "private.json"]) == 0
    capfd.readouterr()
    # Worlds of the seeds that follow a file's have the file's salt, not the database's.
    following = played(capfd, "private.json", "--worlds=2")
    salt = json.loads(Path("private.truth.json").read_text())["salt"]
    assert salts("a.db")[-1] == salt != workspace_salt("a.db")
    hashes = {world["salt_sha256"] for world in following["worlds"]}
    assert len(hashes) == 1


def test_an_exported_run_brings_its_salt_and_leaves_that_of_the_other_database(
    capfd: pytest.CaptureFixture[str],
) -> None:
    played(capfd, *SMALL, db="b.db")
    own = workspace_salt("b.db")
    run_id = played(capfd, *SMALL)["run_id"]
    assert _run(["runs", "export", run_id, "run.db", "--db=a.db"]) == 0
    assert "run.db contains the secret salt" in capfd.readouterr().err
    assert _run(["runs", "import", "run.db", "--db=b.db"]) == 0
    assert salts("b.db") == [own, workspace_salt("a.db")]
    assert workspace_salt("b.db") == own
    capfd.readouterr()
    assert _run(["market", "watch", run_id, "--db=b.db"]) == 0


def test_a_program_inherits_neither_the_salt_nor_the_open_database(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("out").mkdir()
    Path("mine.py").write_text(
        "import json, os, pathlib, sys\n"
        "def turn(market):\n"
        "    files = []\n"
        "    for descriptor in range(256):\n"
        "        try:\n"
        "            about = os.fstat(descriptor)\n"
        "        except OSError:\n"
        "            continue\n"
        "        files.append([about.st_dev, about.st_ino])\n"
        "    known = {'environment': dict(os.environ), 'arguments': sys.argv,\n"
        "             'state': market.state, 'files': files}\n"
        "    pathlib.Path('out/known.json').write_text(json.dumps(known))\n"
    )
    played(capfd, *SMALL, "--agent", "python:mine.py:turn")
    text = Path("out/known.json").read_text()
    assert workspace_salt("a.db") not in text
    assert "a.db" not in text
    about = Path("a.db").stat()
    assert [about.st_dev, about.st_ino] not in json.loads(text)["files"]


@pytest.mark.skipif(not barrier.is_there(), reason="the kernel has no Landlock")
@pytest.mark.parametrize("scheme", ["python", "worker"])
def test_a_program_that_looks_for_the_salt_finds_nothing(
    capfd: pytest.CaptureFixture[str], scheme: str
) -> None:
    played(capfd, *SMALL)  # draws the salt
    salt = workspace_salt("a.db")
    play = "from agentbench_tui.market.client import play\nplay(turn)\n"
    # In two parts, so that the program does not find its own text.
    program = f"SALT = {salt[:16]!r} + {salt[16:]!r}\n{LOOKS}" + play * (scheme == "worker")
    Path("mine.py").write_text(program)
    target = "python:mine.py:turn" if scheme == "python" else f"worker:{sys.executable} mine.py"
    played(capfd, *SMALL, "--agent", f"mine={target}")
    statement = "SELECT json_extract(answer, '$.data.acts[0].arguments.content') FROM answers"
    with closing(connect_to_read(Path("a.db"))) as connection:
        assert [row[0] for row in connection.execute(statement)][-1] == "nothing"


def test_an_interrupted_run_that_was_imported_is_resumed_in_its_own_worlds_and_scored_again(
    capfd: pytest.CaptureFixture[str],
) -> None:
    whole = ids(played(capfd, *SMALL, "--worlds=2"))
    with closing(sqlite3.connect("a.db")) as connection, connection:
        connection.execute("DELETE FROM answers WHERE seq=(SELECT MAX(seq) FROM answers)")
        connection.execute("UPDATE runs SET status='interrupted'")
        connection.execute("UPDATE benchmark_executions SET status='interrupted'")
    assert _run(["runs", "export", "latest", "run.db", "--db=a.db"]) == 0
    assert _run(["runs", "import", "run.db", "--db=b.db"]) == 0
    assert _run(["resume", "--db=b.db", "--no-ui", "--trust"]) == 0
    assert _run(["rescore", "--db=b.db", "--trust"]) == 0
    capfd.readouterr()
    statement = "SELECT json_extract(answer, '$.data.world.id') FROM answers ORDER BY case_key"
    with closing(connect_to_read(Path("b.db"))) as connection:
        assert [row[0] for row in connection.execute(statement)] == whole


def test_the_live_board_of_a_market_is_ordered_by_profit(
    capfd: pytest.CaptureFixture[str],
) -> None:
    agents = [f"--agent=market:{name}" for name in ("always_long", "random", "hold")]
    document = played(capfd, *SMALL, "--worlds=3", "--agent", "market:bayes", *agents)
    with closing(connect_to_read(Path("a.db"))) as connection:
        board = BoardReader(1).read(connection, frozenset({1, 2, 3, 4}))
    assert board.score == "pnl"
    means = {row["agent_id"]: row["metrics"]["total_pnl"]["mean"] for row in document["summary"]}
    assert {one.agent_id: one.score for one in board.standings} == pytest.approx(means)
    scores = [one.score or 0.0 for one in board.standings]
    assert scores == sorted(scores, reverse=True)


def test_episodes_of_the_oracle_are_marked_in_trajectories(
    capfd: pytest.CaptureFixture[str],
) -> None:
    agents = ("--agent", "market:hold", "--agent=market:oracle")
    played(capfd, *SMALL, *agents, "--save-trajectories", "--output=out")
    lines = [json.loads(line) for line in Path("out/trajectories.jsonl").read_text().splitlines()]
    assert {line["agentId"]: line["knowsOutcomes"] for line in lines} == {
        "hold": False,
        "oracle": True,
    }
    (hold,) = (line for line in lines if line["agentId"] == "hold")
    assert hold["trajectoryId"] == hold["episodeId"] == "hold/seed-12345/run-1"
    assert hold["scenarioId"] == hold["group"]
    assert hold["metrics"]["finalStatus"] == "completed"
    assert hold["totalReward"] == hold["rewardComponents"]["environmentReward"]
    assert hold["steps"][0]["llmCalls"] == []
