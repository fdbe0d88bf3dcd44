"""A kind from another distribution, that of docs/kinds.md, is used in processes of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "kinds.md").read_text()
AGENTS = '''
def steady(question):
    return "Tokyo"

class fickle:
    """Two of four answers to a question are equal; in every fifth round three."""
    def __init__(self):
        self.asked = 0
    def __call__(self, question):
        self.asked += 1
        last = "Tokyo" if self.asked > 16 else "Nara"
        return ("Tokyo", "Kyoto", "Tokyo", last)[(self.asked - 1) % 4]

_fickle = fickle()
def changing(question):
    return _fickle(question)
'''


def block(language: str) -> str:
    found = re.search(rf"(?m)^```{language}\n((?:.*\n)*?)```$", PAGE)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed distributions with the one that brings the kind."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "consistency_kind.py").write_text(block("python"))
    info = folder / "consistency_kind-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: consistency-kind\nVersion: 1.0\n")
    entry_point = block("toml").replace("project.entry-points.", "").replace('"', "")
    (info / "entry_points.txt").write_text(entry_point)
    return folder


@pytest.fixture(scope="module")
def work(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the suite, agents and a database with one run of the kind."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "steadiness.yaml").write_text(block("yaml"))
    (folder / "agents.py").write_text(AGENTS)
    agents = [
        "--agent",
        "steady=python:agents.py:steady",
        "--agent",
        "fickle=python:agents.py:changing",
    ]
    done = agentbench(folder, site, "run", "steadiness.yaml", *agents, "--runs", "2", "--no-ui")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


Done = subprocess.CompletedProcess[str]


def agentbench(folder: Path, site: Path | None, *arguments: str) -> Done:
    return python(folder, site, "-m", "agentbench_tui", *arguments, "--db", "s.db")


def python(folder: Path, site: Path | None, *arguments: str) -> Done:
    places = [str(ROOT), *([str(site)] if site else []), os.environ["PYTHONPATH"]]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip


def document(folder: Path, site: Path | None, *arguments: str) -> Any:
    done = agentbench(folder, site, *arguments, "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_it_runs_and_its_metrics_are_stored(work: Path, site: Path) -> None:
    run = document(work, site, "runs", "show", "latest")
    assert run["status"] == "complete"
    found = {one["agent_id"]: one for one in run["executions"]}
    assert {one["kind"] for one in found.values()} == {"consistency"}
    assert {one["cases"]["observed"] for one in found.values()} == {10}
    # The first 4 rounds of 10 have 2 equal answers of 4, all after them 3.
    shares = {agent: one["metrics"]["same_share"]["value"] for agent, one in found.items()}
    assert shares == {"steady": 1.0, "fickle": pytest.approx((4 * 0.5 + 6 * 0.75) / 10)}
    assert found["fickle"]["metrics"]["same_share"]["unit"] == "share"


def test_its_table_is_checked_with_the_place_of_each_fault(work: Path, site: Path) -> None:
    wrong = block("yaml").replace("times: 4", "tims: 4")
    (work / "wrong.yaml").write_text(wrong)
    done = python(work, site, "-m", "agentbench_tui", "suites", "validate", "wrong.yaml")
    assert done.returncode == 2
    assert 'benchmarks.0.consistency.tims: unknown key "tims" (did you mean "times"?)' in (
        done.stdout + done.stderr
    )


def test_without_the_distribution_its_suite_is_refused_and_its_runs_are_still_read(
    work: Path, site: Path
) -> None:
    done = python(work, None, "-m", "agentbench_tui", "suites", "validate", "steadiness.yaml")
    assert done.returncode == 2
    assert "expected one of 'task', 'load', 'stress' or 'experiment'" in done.stdout + done.stderr
    without = document(work, None, "runs", "show", "latest")
    assert without["executions"] == document(work, site, "runs", "show", "latest")["executions"]


def test_agents_are_compared_and_ranked_by_its_metric(work: Path, site: Path) -> None:
    compared = document(work, site, "compare", "fickle", "steady", "--metric", "same_share")
    (metric,) = compared["metrics"]
    assert (metric["metric"], metric["unit"]) == ("same_share", "share")
    # 0.65 and 1; repeats of one run each are the units.
    assert metric["difference"] == pytest.approx(0.35)
    board = agentbench(work, site, "leaderboard", "--metric", "same_share")
    rows = [line.split() for line in board.stdout.splitlines() if "=" in line[:3]]
    assert [(row[1], row[2]) for row in rows] == [("steady", "100%"), ("fickle", "65.0%")]


def test_its_metric_is_among_the_figures_of_a_run(work: Path, site: Path) -> None:
    shown = agentbench(work, site, "runs", "show", "latest").stdout
    rows = [line for line in shown.splitlines() if "same_share" in line and "fickle" in line]
    assert rows
    for row in rows:
        found = re.search(r" 65\.0% \[([\d.]+), ([\d.]+)\]", row)
        assert found, row
        assert 0 <= float(found[1]) < 65 < float(found[2]) <= 100  # a share has bounds


def test_gates_and_regressions_look_at_its_metric(work: Path, site: Path) -> None:
    run = ("run", "steadiness.yaml", "--no-ui", "--agent", "fickle=python:agents.py:changing")
    gated = [
        python(work, site, "-m", "agentbench_tui", *run, "--db", "g.db", "--fail-on", gate)
        for gate in ("same_share>=0.5", "same_share>=0.9")
    ]
    assert [one.returncode for one in gated] == [0, 1], gated
    # One run is too little for a verdict, but the metric is among those that are judged.
    told = agentbench(work, site, "regressions", "fickle", "--format", "json")
    assert told.returncode == 3
    assert "same_share" in told.stdout


def test_its_metric_is_explained_and_its_kind_is_in_the_schema(work: Path, site: Path) -> None:
    explained = python(work, site, "-m", "agentbench_tui", "explain", "same_share")
    assert "Answers equal to the most common answer" in explained.stdout
    schema = python(work, site, "-m", "agentbench_tui", "suites", "schema")
    properties = json.loads(schema.stdout)["$defs"]["Benchmark"]["properties"]
    assert "consistency" in properties["kind"]["enum"]
    assert properties["consistency"] == {"$ref": "#/$defs/Section"}


SESSION = """
import asyncio, sys
from pathlib import Path
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.shared import Shared
from agentbench_tui.tui.widgets.painted import Painted

async def look() -> None:
    app = AgentbenchApp(Shared(Path("s.db")), first="live")
    async with app.run_test(size=(160, 50)) as pilot:
        for _ in range(3000):
            found = [line for one in app.screen.query(Painted).results(Painted)
                     for line in text_of(getattr(one, "_rows", []))]
            if sum("capital" in line for line in found) >= 2:
                break
            await pilot.pause(0.02)
        print("\\n".join(found))

asyncio.run(look())
"""


def test_the_session_shows_its_run(work: Path, site: Path) -> None:
    (work / "look.py").write_text(SESSION)
    done = python(work, site, "look.py")
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if "capital" in line]
    assert {agent for agent in ("steady", "fickle") for line in rows if agent in line} == {
        "steady", "fickle",
    }  # fmt: skip
    assert any("10" in line for line in rows)
