"""Runs of one database play the same salted worlds, and no agent gets the salt."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.verdicts.running_board import BoardReader

SMALL = ("--duration=10", "--markets=2", "--perpetuals=1")


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
