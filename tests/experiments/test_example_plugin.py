"""The example plugin, installed without a network, and everything of it used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest

PLUGIN = Path(__file__).parent / "plugin"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment in which the plugin was installed.

    Instead of an index, the libraries that are here are on its path.
    """
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    made = venv.EnvBuilder(symlinks=True)
    made.create(folder / "venv")
    python = folder / "venv/bin/python"
    paths = {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
    site = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    here = [ROOT, *(sysconfig.get_path(name) for name in ("purelib", "platlib"))]
    (site / "here.pth").write_text("".join(f"{path}\n" for path in here))
    subprocess.run(
        [
            *(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"),
            *("--no-build-isolation", "--disable-pip-version-check", folder / "source"),
        ],
        env=_environment(folder),
        check=True,
        timeout=120,
    )
    assert (site / "example_plugin").is_dir()
    return python


def _environment(folder: Path) -> dict[str, str]:
    """Without what this process was told to find elsewhere."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**ours, "AGENTBENCH_DB": str(folder / "runs.db")}


def agentbench(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [installed, "-m", "agentbench_tui", *arguments],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_experiment_instrument_and_reporter(installed: Path, tmp_path: Path) -> None:
    listed = agentbench(installed, tmp_path, "experiments", "list", "--format", "json")
    sources = {one["slug"]: one["source"] for one in json.loads(listed.stdout)["experiments"]}
    assert sources["example_sorting"] == "agentbench-example-plugin"
    done = agentbench(
        installed, tmp_path, "experiments", "run", "example_sorting", "--iterations", "3",
        "--set", "size=50", "--instrument", "example_descriptors", "--output", "out",
        "--reporter", "example_report", "--no-ui", "--format", "json", "--fresh-process",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert [one["agent_id"] for one in document["executions"]] == ["shuffled", "ordered"]
    for one in document["executions"]:
        assert one["metrics"]["sorted"]["value"] == 50
        assert one["metrics"]["descriptors.left_open"]["value"] == 0
    folder = tmp_path / "out" / document["run_id"]
    assert (folder / "custom_report.txt").read_text() == (
        "Experiment: example_sorting shuffled True\nExperiment: example_sorting ordered True\n"
    )
    assert {path.name for path in folder.glob("*.json")} == {
        "000-shuffled.json",
        "001-ordered.json",
    }


def test_agent_and_scorer(installed: Path, tmp_path: Path) -> None:
    suite = {
        "suite_id": "loudness",
        "benchmarks": [
            {
                "benchmark_id": "loudness",
                "dataset": {"cases": [{"id": "a", "input": "hello"}]},
                "scorers": ["loud"],
                "iterations": {"warmup": 0, "measured": 1},
            }
        ],
    }
    (tmp_path / "loudness.json").write_text(json.dumps(suite))
    done = agentbench(
        installed, tmp_path, "run", "loudness.json", "--agent", "it=shout:it?mark=!!",
        "--no-ui", "--format", "json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (execution,) = json.loads(done.stdout)["executions"]
    assert execution["metrics"]["accuracy"]["value"] == 1.0
