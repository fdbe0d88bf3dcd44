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


COMMANDS = """
import json, os, sys
from agentbench_tui.cli.main import _run

for words in json.loads(sys.argv[1]):
    sys.stdout.flush()
    os.dup2(os.open(words[0] + ".out", os.O_CREAT | os.O_WRONLY), 1)
    if code := _run(words[1:]):
        sys.exit(f"{words} ended with {code}")
"""
SUITE = {
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


@pytest.fixture(scope="module")
def folder(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where three commands were given, one after another; `NAME.out` is what one said."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "loudness.json").write_text(json.dumps(SUITE))
    json_only = ("--no-ui", "--format", "json")
    commands = [
        ["list", "experiments", "list", "--format", "json"],
        ["experiment", "experiments", "run", "example_sorting", "--iterations", "3",
         "--set", "size=50", "--instrument", "example_descriptors", "--output", "out",
         "--reporter", "example_report", "--fresh-process", *json_only],
        ["agent", "run", "loudness.json", "--agent", "it=shout:it?mark=!!", *json_only],
    ]  # fmt: skip
    done = subprocess.run(
        [installed, "-c", COMMANDS, json.dumps(commands)],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def said(folder: Path, command: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / f"{command}.out").read_text())
    return document


def test_experiment_instrument_and_reporter(folder: Path) -> None:
    sources = {one["slug"]: one["source"] for one in said(folder, "list")["experiments"]}
    assert sources["example_sorting"] == "agentbench-example-plugin"
    document = said(folder, "experiment")
    assert [one["agent_id"] for one in document["executions"]] == ["shuffled", "ordered"]
    for one in document["executions"]:
        assert one["metrics"]["sorted"]["value"] == 50
        assert one["metrics"]["descriptors.left_open"]["value"] == 0
    results = folder / "out" / document["run_id"]
    assert (results / "custom_report.txt").read_text() == (
        "Experiment: example_sorting shuffled True\nExperiment: example_sorting ordered True\n"
    )
    assert {path.name for path in results.glob("*.json")} == {
        "000-shuffled.json",
        "001-ordered.json",
    }


def test_agent_and_scorer(folder: Path) -> None:
    (execution,) = said(folder, "agent")["executions"]
    assert execution["metrics"]["accuracy"]["value"] == 1.0
