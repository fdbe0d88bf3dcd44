"""Programs of agents cannot open what tells the future, by whatever way they ask for it."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playing import CONFIG

from agentbench_tui.agents.adapter import OpenContext
from agentbench_tui.agents.python.python_agent import Options, open  # noqa: A004
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.market.cases import cases_of_files
from agentbench_tui.market.outside import barrier, program
from agentbench_tui.market.play.game import Game
from agentbench_tui.market.play.match import Match
from agentbench_tui.market.play.player import Player
from agentbench_tui.market.play.seating import seat_of
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.stage import Pacing, open_file
from agentbench_tui.market.world.world_file import save_world, truth_path
from agentbench_tui.model.answer import AgentFailure, Case, Request
from agentbench_tui.process import sealed

needs_landlock = pytest.mark.skipif(not barrier.is_there(), reason="the kernel has no Landlock")

TRIES = """
import json, os, pathlib

def tried(path):
    try:
        with open(path, "rb") as file:
            return "read %d" % len(file.read(64))
    except OSError as error:
        return type(error).__name__

def found():
    here = pathlib.Path(__file__).parent
    harness = f"/proc/{os.getppid()}"
    paths = [here / "world.json", here / "world.truth.json", here / "link", here / "a.db",
             here / "note.txt", harness + "/mem", harness + "/environ", harness + "/cmdline",
             "/proc/self/status"]
    got = {str(path): tried(path) for path in paths}
    try:
        os.link(here / "world.truth.json", here / "open" / "truth")
        got["linked"] = "made"
    except OSError as error:
        got["linked"] = type(error).__name__
    (here / "open" / "made.txt").write_text("made")
    import tempfile
    with tempfile.NamedTemporaryFile() as file:
        got["temporary"] = "made"
    got["descriptors"] = sorted(map(int, os.listdir("/proc/self/fd")))
    got["environment"] = [name for name, value in os.environ.items() if "world" in value]
    return json.dumps(got)
"""
AGENTS = {
    "python": (
        "def turn(market):\n"
        "    if market.state['tick'] == 0:\n"
        "        market.call('a2a.createPost', content=found())\n"
    ),
    "command": (
        "from agentbench_tui.market.client import play\n"
        "def turn(market):\n"
        "    if market.state['tick'] == 0:\n"
        "        market.call('a2a.createPost', content=found())\n"
        "play(turn)\n"
    ),
    "worker": (  # JSON-RPC by hand
        "import sys\n"
        "def call(method, **params):\n"
        "    said = {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}\n"
        "    print(json.dumps(said), flush=True)\n"
        "    return json.loads(sys.stdin.readline())['result']\n"
        "call('a2a.createPost', content=found())\n"
        "while not call('endTurn')['over']:\n"
        "    pass\n"
    ),
}


def world_in(folder: Path) -> Path:
    """A world's file, its truth, a link to it, a note, and a folder beside them."""
    path = folder / "world.json"
    save_world(*generate(CONFIG), path)
    (folder / "link").symlink_to(truth_path(path))
    (folder / "note.txt").write_text("x" * 7)
    (folder / "open").mkdir()
    return path


async def played(scheme: str, folder: Path, program: str) -> Match:
    (folder / "agent.py").write_text(program)
    target = {"python": f"python:{folder}/agent.py:turn"}.get(
        scheme, f"{scheme}:{sys.executable} agent.py"
    )
    spec = parse_agent(target, base_dir=str(folder))
    agent: Any = open(spec, Options(), OpenContext()) if scheme == "python" else None
    stage = open_file(folder / "world.json")
    match = Match(Game(stage.world, stage.truth.outcomes), stage)
    await seat_of(agent, spec, None).play(match, Request(Case("seed-7", {}), 1))
    return match


@needs_landlock
@pytest.mark.parametrize("scheme", AGENTS)
async def test_no_agent_opens_truth_world_database_or_the_harness(
    scheme: str, tmp_path: Path
) -> None:
    world_in(tmp_path)
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE cases (input)")
        match = await played(scheme, tmp_path, TRIES + AGENTS[scheme])
    assert match.game.is_over
    (post,) = [call.params for call in match.game.episode().calls if "content" in call.params]
    found = json.loads(post["content"])
    refused = "PermissionError"
    for name in ("world.json", "world.truth.json", "link", "a.db"):
        assert found[str(tmp_path / name)] == refused, name
    for name in ("mem", "environ", "cmdline"):
        assert found[f"/proc/{os.getpid()}/{name}"] == refused, name
    assert found["linked"] in {refused, "OSError"}  # EXDEV: not where more is allowed
    assert found[str(tmp_path / "note.txt")] == "read 7"
    assert found["/proc/self/status"] == "read 64"
    assert found["temporary"] == "made"
    assert (tmp_path / "open" / "made.txt").read_text() == "made"
    # Standard streams, the copy of one that a client keeps, and the one that lists them.
    assert len(found["descriptors"]) <= 5
    assert "world.truth" not in str(found["environment"])


@needs_landlock
def test_a_barrier_leaves_the_run_its_hold_on_its_own_database(tmp_path: Path) -> None:
    database = tmp_path / "a.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as held:
        held.execute("PRAGMA journal_mode = WAL")
        held.execute("CREATE TABLE kept (number INTEGER) STRICT")
        held.execute("BEGIN IMMEDIATE")
        held.execute("INSERT INTO kept VALUES (1)")
        with barrier.barrier(["true"], {}, []) as start:
            assert {str(database), f"{database}-wal"} <= set(start.command)
        other = "import sqlite3, sys; sqlite3.connect(sys.argv[1], 0).execute('BEGIN IMMEDIATE')"
        command = [sys.executable, "-c", other, str(database)]
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "database is locked" in refused.stderr


@needs_landlock
def test_temporary_files_of_an_agent_are_gone_after_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world_in(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with barrier.barrier(["true"], {}, [tmp_path / "world.json"]) as start:
        folder = Path(start.environment["TMPDIR"])
        assert folder.parent == tmp_path
        (folder / "left").write_text("over")
    assert not folder.exists()
    with barrier.barrier(["true"], {"TMPDIR": str(tmp_path / "open")}, []) as start:
        assert start.environment == {"TMPDIR": str(tmp_path / "open")}


@needs_landlock
async def test_an_agent_that_makes_a_file_beside_the_world_is_told_why_it_cannot(
    tmp_path: Path,
) -> None:
    world_in(tmp_path)
    program = "import pathlib\ndef turn(market): pathlib.Path('new.txt').write_text('x')\n"
    with pytest.raises(AgentFailure, match="nothing can be made right in folders on the way"):
        await played("python", tmp_path, f"import os; os.chdir({str(tmp_path)!r})\n{program}")


@needs_landlock
async def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    world_in(tmp_path)
    stage = open_file(tmp_path / "world.json")
    match = Match(Game(stage.world, stage.truth.outcomes), stage)
    seat = program.ProcessSeat(["nonesuch"], {"PATH": "/usr/bin:/bin"}, None, None)
    with pytest.raises(AgentFailure, match="cannot start `nonesuch`: No such file"):
        await seat.play(match, Request(Case("seed-7", {}), 1))


async def test_without_landlock_an_episode_says_that_there_was_no_barrier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world_in(tmp_path)
    monkeypatch.setattr(barrier, "is_there", lambda: False)
    monkeypatch.setattr(program, "is_there", lambda: False)
    (tmp_path / "agent.py").write_text("def turn(market): pass\n")
    spec = parse_agent(f"python:{tmp_path}/agent.py:turn", base_dir="")
    player = Player(seat_of(open(spec, Options(), OpenContext()), spec, None))
    (case,) = cases_of_files([path], Pacing())
    answer = await player.answer(Request(Case(case["id"], case["input"]), 1))
    assert answer.data["notices"] == [barrier.OPEN]


def test_what_stays_open_is_all_but_the_closed_and_the_way_to_it(tmp_path: Path) -> None:
    (tmp_path / "deep" / "side").mkdir(parents=True)
    closed = tmp_path / "deep" / "closed"
    for path in (closed, tmp_path / "deep" / "open", tmp_path / "beside"):
        path.write_text("")
    (tmp_path / "link").symlink_to(closed)
    found = {Path(path) for path in sealed.open_paths([str(closed)])}
    inside = {path for path in found if path.is_relative_to(tmp_path)}
    assert inside == {tmp_path / "deep" / "side", tmp_path / "deep" / "open", tmp_path / "beside"}
    assert not any(closed.is_relative_to(path) for path in found)
    processes = [path for path in found if path.parent == Path("/proc") and path.name.isdigit()]
    assert processes in ([], [Path(f"/proc/{os.getpid()}")])
