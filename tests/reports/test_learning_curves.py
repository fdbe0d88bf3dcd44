"""Learning curves as a report: curves, numbers and a verdict with values worked out by hand."""

import csv
import json
from pathlib import Path

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.contracts.catalog import decode_document
from agentbench_tui.presentation.charts import LineChart
from agentbench_tui.presentation.full_report.learning_curves import learning_report
from agentbench_tui.reports.html.charts.svg import legend
from agentbench_tui.reports.palette import Palette
from agentbench_tui.verdicts.training.training_curves import read_curves

STEPS = range(0, 1001, 50)
SEEDS = range(1, 9)


def write_runs(name: str, slope: float, ends: dict[int, int] | None = None) -> None:
    """Straight lines from 0; those of a seed are shifted by a hundredth of it."""
    folder = Path(name)
    folder.mkdir()
    for seed in SEEDS:
        rows = [
            f"{step},{slope * step + seed / 100}"
            for step in STEPS
            if step <= (ends or {}).get(seed, 1000)
        ]
        text = "\n".join(["_step,reward", *rows])
        (folder / f"{name}.seed{seed}.csv").write_text(text)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_runs("old", 0.001)
    write_runs("new", 0.0012)


def report(*arguments: str) -> int:
    return _run(["report", "--metric", "reward", *arguments])


def test_two_groups_are_compared_in_every_format() -> None:
    files = ("--html", "c.html", "--md", "c.md", "--json", "c.json", "--csv", "c")
    assert report("--curves", "old", "--curves", "new", *files) == 0
    first, *rest = Path("c.md").read_text().splitlines()
    assert first == "### ✅ new learns better than old in reward."
    # Over the last quarter, steps 750 to 1,000, the mean step is 875: 0.0002 more each.
    assert any("+0.175" in line and "area under the curve" in line for line in rest)
    rows = [*csv.DictReader(Path("c/runs.csv").read_text().splitlines())]
    assert len(rows) == 16
    by_name = {row["run"]: row for row in rows}
    assert float(by_name["old.seed3.csv"]["area"]) == pytest.approx(0.875 + 0.03)
    # The last five values are at the steps 800 to 1,000, with the mean 900.
    assert float(by_name["new.seed8.csv"]["last"]) == pytest.approx(1.08 + 0.08)
    document = decode_document(Path("c.json").read_bytes())
    assert json.loads(Path("c.json").read_text())["overall"]["winner"] == "candidate"
    assert document is not None
    html = Path("c.html").read_text()
    assert html.count("<figcaption>") == 3
    assert "old (8 runs)" in html


def test_a_mean_curve_is_the_mean_of_its_runs_and_single_runs_share_the_color() -> None:
    found = learning_report(read_curves([Path("old"), Path("new")], "reward"))
    mean, singles = found.chapters[0].sections[0].charts
    assert isinstance(mean, LineChart)
    assert isinstance(singles, LineChart)
    old = mean.lines[0]
    assert old.y[0] == pytest.approx(0.045)  # the mean of 0.01 to 0.08
    assert old.y[-1] == pytest.approx(1.045)
    assert [mark.x for mark in mean.marks] == [750, 1000]
    assert len(singles.lines) == 16
    keys = legend(singles, Palette(found.contenders))
    assert [one.name for one in keys] == ["old", "new"]
    assert [one.kind for one in keys] == [one.kind for one in legend(mean, Palette(["old", "new"]))]


def test_a_run_that_stopped_is_counted_with_the_reason() -> None:
    write_runs("cut", 0.0012, ends={4: 500})
    assert report("--curves", "old", "--curves", "cut", "--md", "c.md") == 0
    text = Path("c.md").read_text()
    assert "cut: mean area " in text
    assert "7 of 8 runs finished" in text
    assert "stopped at step 500" in text


def test_one_group_is_shown_without_a_comparison(capfd: pytest.CaptureFixture[str]) -> None:
    assert report("--curves", "old", "--md", "c.md") == 0
    assert Path("c.md").read_text().startswith("### old: mean area 0.92, 8 of 8 runs finished.")
    assert report("--curves", "old", "--json", "c.json") == 2
    assert "only a comparison of two groups" in capfd.readouterr().err
    assert not Path("c.json").exists()


def test_without_a_better_direction_nothing_is_decided() -> None:
    for name in ("old", "new"):
        for file in Path(name).iterdir():
            file.write_text(file.read_text().replace("reward", "entropy"))
    both = ["report", "--curves", "old", "--curves", "new", "--metric", "entropy", "--md", "c.md"]
    assert _run(both) == 0
    assert "no known better direction; name it with --better" in Path("c.md").read_text()
    assert _run([*both, "--better", "lower"]) == 0
    assert Path("c.md").read_text().startswith("### ❌ new learns worse than old in entropy.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("latest", "--curves", "old"), "'latest': --curves names all that is reported"),
        (("--curves", "nowhere"), "Path 'nowhere' does not exist"),
        (("--curves", "old", "--gate", "accuracy>=0.5"), "--gate is about one run"),
        (("--curves", "old", "--curves", "new", "--curves", "old"), "one or two files or folders"),
        ((), "--metric and --better need --curves PATH"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    arguments: tuple[str, ...], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert report(*arguments, "--md", "c.md") == 2
    assert words in capfd.readouterr().err
    assert not Path("c.md").exists()
