"""What a small run takes before it says anything."""

import subprocess
import sys
from pathlib import Path

from processes import make_place

_CODE = """
import sys
from agentbench_tui.cli.main import main
main(["run", "suite.json", "--agent", "a=python:agents.py:echo", "--no-ui", "--db", "x.db"],
     standalone_mode=False)
print("imported", sorted(set(NAMES) & set(sys.modules)), file=sys.stderr)
"""
_NOT_NEEDED = (
    *("scipy", "textual", "aiohttp", "numpy.ma", "rich.table"),
    *("agentbench_tui.load.spec", "agentbench_tui.stress.report"),
    *("agentbench_tui.experiments.registry", "agentbench_tui.verdicts.comparison.comparison"),
)


def test_a_small_run_imports_no_large_library_that_it_does_not_need(tmp_path: Path) -> None:
    """scipy alone takes as long to import as everything else together."""
    place = make_place(tmp_path)
    place.suite(20)
    said = subprocess.run(
        [sys.executable, "-c", _CODE.replace("NAMES", repr(_NOT_NEEDED))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "imported []" in said.stderr, said.stderr


_READ = """
import sys
from agentbench_tui.cli.main import main
COMMANDS = (
    ["runs", "list"], ["runs", "show", "latest"], ["leaderboard"], ["compare", "a", "b"],
    ["regressions", "a"], ["stats", "summary", "a"], ["cost"], ["agents", "list"],
)
for command in COMMANDS:
    main([*command, "--db", "x.db"], standalone_mode=False)
    print(command, sorted(set(NAMES) & set(sys.modules)), file=sys.stderr)
"""
_NOT_TO_READ = (
    *("scipy", "pydantic", "asyncio", "aiohttp", "ssl", "ruamel.yaml", "textual"),
    *("agentbench_tui.model.suite", "agentbench_tui.engine.run.plan"),
)


def test_commands_that_read_the_store_import_nothing_that_runs_need(tmp_path: Path) -> None:
    """pydantic and asyncio take longer to import than most of these commands take to read."""
    place = make_place(tmp_path)
    place.suite(20)
    agents = ("--agent", "a=python:agents.py:echo", "--agent", "b=python:agents.py:other")
    ran = place.run("run", "suite.json", *agents, "--no-ui", "--db", "x.db")
    assert ran.returncode == 0, ran.stderr
    said = subprocess.run(
        [sys.executable, "-c", _READ.replace("NAMES", repr(_NOT_TO_READ))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    listed = [line for line in said.stderr.splitlines() if line.startswith("[")]
    assert len(listed) == 8, said.stderr
    assert all(line.endswith("[]") for line in listed), said.stderr
