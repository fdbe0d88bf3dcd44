"""The metrics of docs/metrics.md, of a file and of another distribution, in other processes."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.kinds.test_other_kind import ROOT, agentbench, document, python

PAGE = (ROOT / "docs" / "metrics.md").read_text()
FUNCTIONS, PACKAGE = re.findall(r"(?m)^```python\n((?:.*\n)*?)```$", PAGE)
SUITE, LISTED = re.findall(r"(?m)^```yaml\n((?:.*\n)*?)```$", PAGE)
(PROJECT,) = re.findall(r"(?m)^```toml\n((?:.*\n)*?)```$", PAGE)
AGENTS = """
def keen(text):
    return "yes"

def careful(text):
    return "yes" if "prize" in text else "no"

def wordy(text):
    return "Thank you: see the handbook" if "?" in text else "no"
"""
NAMES = ("keen", "careful", "wordy")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed distributions with the one that brings the metric."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "politeness.py").write_text(PACKAGE)
    project = tomllib.loads(PROJECT)["project"]
    name, version = project["name"], project["version"]
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    points = [
        f"[{group}]\n" + "".join(f"{point} = {target}\n" for point, target in own.items())
        for group, own in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(points))
    return folder


@pytest.fixture(scope="module")
def work(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the suite of the page and one run of it, with the metric of the package."""
    folder = tmp_path_factory.mktemp("work")
    own = "    metrics:\n"
    assert LISTED == "metrics: [polite]\n"
    (folder / "filter.yaml").write_text(SUITE.replace(own, f"{own}      - polite\n"))
    (folder / "metrics.py").write_text(FUNCTIONS)
    (folder / "agents.py").write_text(AGENTS)
    agents = [part for name in NAMES for part in ("--agent", f"{name}=python:agents.py:{name}")]
    done = agentbench(folder, site, "run", "filter.yaml", *agents, "--no-ui")
    assert done.returncode == 1, done.stdout + done.stderr  # a gate of the suite fails for wordy
    assert "f1>=0.5 FAILS for wordy" in done.stderr
    return folder


def test_metrics_are_aggregated_as_the_suite_says(work: Path, site: Path) -> None:
    run = document(work, site, "runs", "show", "latest")
    found = {one["agent_id"]: one["metrics"] for one in run["executions"]}
    # keen: TP 2, FP 2; careful: TP 1, FN 1; wordy: no TP, FN 2.
    assert {name: found[name]["f1"]["value"] for name in NAMES} == {
        "keen": pytest.approx(2 * 2 / (2 * 2 + 2)),
        "careful": pytest.approx(2 / 3),
        "wordy": 0,
    }
    assert found["wordy"]["words.mean"]["value"] == 2
    # A median of 4 answers has no interval, so percentiles have no value yet.
    assert found["wordy"]["words.p50"]["reason"] == found["keen"]["words.p50"]["reason"]
    assert found["wordy"]["words.p50"]["value"] is None
    assert found["wordy"]["sourced"]["value"] == found["wordy"]["polite"]["value"] == 0.25
    assert found["keen"]["words.p50"]["unit"] == "words"
    assert found["keen"]["words.p50"]["direction"] == "lower"
    assert found["keen"]["polite"]["n"] == 4
    # Wilson of 1 in 4.
    assert found["wordy"]["polite"]["low"] == pytest.approx(0.04559, abs=1e-4)
    assert found["wordy"]["polite"]["high"] == pytest.approx(0.69936, abs=1e-4)


def test_without_the_distribution_its_suite_is_refused_and_its_runs_are_still_read(
    work: Path, site: Path
) -> None:
    done = agentbench(work, None, "run", "filter.yaml", "--agent", "reference:perfect", "--no-ui")
    assert done.returncode == 2
    assert 'there is no metric "polite"' in done.stdout + done.stderr
    without = document(work, None, "runs", "show", "latest")
    assert without["executions"] == document(work, site, "runs", "show", "latest")["executions"]


def test_gates_comparisons_and_boards_know_them_without_their_code(work: Path) -> None:
    gated = agentbench(work, None, "gate", "latest", "polite>=0.2", "words.mean<=3")
    assert gated.returncode == 1
    assert "polite>=0.2 FAILS for 2 of 3 executions" in gated.stderr
    compared = document(work, None, "compare", "keen", "wordy", "--metric", "words")
    (metric,) = compared["metrics"]
    assert (metric["unit"], metric["better"]) == ("words", "lower")
    for name in ("words", "words.mean", "f1"):
        board = agentbench(work, None, "leaderboard", "--metric", name)
        assert board.returncode == 0, board.stderr
        assert f"by {name}, case by case" in board.stdout


def test_a_ratio_of_sums_is_compared_and_says_what_it_lacks(work: Path) -> None:
    compared = document(work, None, "compare", "keen", "careful", "--metric", "f1")
    (metric,) = compared["metrics"]
    assert (metric["unit"], metric["ratio_of"]) == ("share", "ratios of sums")
    # keen: 4/6 as above; careful: 2/3
    assert (metric["a"], metric["b"]) == (pytest.approx(4 / 6), pytest.approx(2 / 3))
    assert metric["verdict"] == "inconclusive"
    assert metric["low"] is None
    table = agentbench(work, None, "compare", "keen", "careful", "--metric", "f1")
    # careful says yes to one and misses another: no other case counts for its F1
    assert "6 independent cases that count (have 2)" in table.stdout, table.stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("metrics: [polit]", 'there is no metric "polit"'),
        ('metrics: ["python:metrics.py:word"]', 'has no `word` (did you mean "words"?)'),
        (
            'metrics: [{"python:metrics.py:words": {unit: share, aggregat: mean}}]',
            'there is no setting `aggregat` (did you mean "aggregate"?)',
        ),
        (
            'metrics: [{"python:metrics.py:words": {direction: up}}]',
            "there is no direction `up`",
        ),
        ('metrics: [{"python:metrics.py:words": {}, as: accuracy}]', "has a metric of that name"),
    ],
)
def test_faults_of_metrics_are_found_before_anything_runs(
    work: Path, site: Path, line: str, message: str
) -> None:
    before, _, rest = SUITE.partition("    metrics:\n")
    after = rest[rest.index("    iterations:") :].replace('"words.mean<=20", "f1>=0.5"', "")
    (work / "wrong.yaml").write_text(f"{before}    {line}\n{after}")
    done = python(work, site, "-m", "agentbench_tui", "suites", "validate", "wrong.yaml")
    assert done.returncode == 2
    assert message in done.stdout + done.stderr
