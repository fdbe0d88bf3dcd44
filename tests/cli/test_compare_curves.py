"""`agentbench compare` on training runs, in the spellings of the pipeline that people know."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.cli.compare.curve_options import spread
from agentbench_tui.cli.main import _run

CONTROL = (0.812, 0.794, 0.851, 0.777, 0.806, 0.839, 0.765, 0.823, 0.798, 0.845)
CANDIDATE = (0.861, 0.822, 0.874, 0.835, 0.829, 0.902, 0.787, 0.858, 0.901, 0.866)
C = [f"c.seed{n}" for n in range(10)]
T = [f"t.seed{n}" for n in range(10)]


def write_run(path: Path, value: float, up_to: int = 1000) -> None:
    rows = "".join(f"{step},{value}\n" for step in range(0, up_to + 1, 50))
    path.write_text("_step,overview/reward\n" + rows)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AGENTBENCH_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "runs"
    folder.mkdir()
    for names, values in ((C, CONTROL), (T, CANDIDATE)):
        for name, value in zip(names, values, strict=True):
            write_run(folder / f"{name}.csv", value)
    return folder


Compare = Callable[..., str]


@pytest.fixture
def compare(runs: Path, capsys: pytest.CaptureFixture[str]) -> Compare:
    def compare(*arguments: str, status: int = 0) -> str:
        assert _run(["compare", "--series-dir", str(runs), *arguments]) == status
        captured = capsys.readouterr()
        return captured.err if status else captured.out

    return compare


def document(printed: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed)
    return found


LISTS = ("--control-run-ids", *C, "--candidate-run-ids", *T)


def test_several_values_may_follow_one_option() -> None:
    assert spread(["--pairs", "a", "b", "--metric", "x", "y"]) == [
        "--pairs", "a", "--pairs", "b", "--metric", "x", "y",
    ]  # fmt: skip
    assert spread(["--control-run-ids=a", "b", "-h"]) == [
        "--control-run-ids=a", "--control-run-ids", "b", "-h",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        LISTS,
        ("--control-run-ids", ",".join(C), "--candidate-run-ids", ", ".join(T)),
        (
            *(part for name in C for part in ("--control-run-ids", name)),
            *(part for name in T for part in ("--candidate-run-ids", name)),
        ),
        (
            "--pairs",
            *(json.dumps({"control": c, "candidate": t}) for c, t in zip(C, T, strict=True)),
        ),
        (
            "--pairs",
            json.dumps([{"control": c, "candidate": t} for c, t in zip(C, T, strict=True)]),
        ),
    ],
)
def test_every_way_to_name_the_runs_means_the_same(
    compare: Compare, arguments: tuple[str, ...]
) -> None:
    found = document(compare(*arguments, "--format", "json"))
    assert found["schema"] == "agentbench.compare/1"
    assert (found["paired"], found["n_pairs"]) == (True, 10)
    (metric,) = found["metrics"]
    assert metric["difference"] == pytest.approx(0.0425)
    assert metric["p_value"] == pytest.approx(0.001953125)
    assert (metric["verdict"], found["overall"]["winner"]) == ("better", "candidate")


def test_pairs_may_stand_in_a_file(compare: Compare) -> None:
    Path("pairs.json").write_text(
        json.dumps([{"control": c, "candidate": t} for c, t in zip(C, T, strict=True)])
    )
    assert "the candidate is better" in compare("--pairs", "@pairs.json")


def test_all_of_the_pipelines_options_together(compare: Compare) -> None:
    shown = compare(
        *LISTS, "--metric", "overview/reward", "--summary.type", "auc", "--summary.percent", "0.5",
        "--bootstrap.n_resamples", "10000", "--bootstrap.alpha", "0.1", "--bootstrap.side",
        "two-sided", "--bootstrap.method", "bca", "--ttest.enabled", "--power.enabled", "true",
        "--power.target_effect_size", "0.02", "--power.beta", "0.8", "--output.csv_path", "out.csv",
        "--output.print_table", "true",
    )  # fmt: skip
    for part in (
        "mean over steps 500 to 1,000", "90%, BCa bootstrap", "10,000 resamples", "paired t",
        "sign flips (all)", "Wilcoxon", "Hedges' g 1.25", "pairing saved 3×", "Shapiro–Wilk",
        "decides nothing", "10 of 10 pairs are whole", "no difference: 0",
    ):  # fmt: skip
        assert part in shown


def test_the_csv_has_the_layout_that_people_know(compare: Compare) -> None:
    shown = compare(*LISTS, "--output.csv_path", "out.csv", "--output.print_table", "false")
    assert shown == ""
    with Path("out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["group", "label", "value_or_control", "candidate_value_optional"]
    assert rows[1] == ["pair", "seed 0", "0.812", "0.861"]
    assert len(rows) == 1 + 10 + 3
    assert rows[11] == ["result", "effect", "0.0425", ""]
    assert [row[1] for row in rows[12:]] == ["ci_low", "ci_high"]
    assert float(rows[12][2]) == pytest.approx(0.0307, abs=3e-4)


def test_unpaired_runs_are_rows_of_their_own(compare: Compare) -> None:
    compare(*LISTS, "--paired", "no", "--output.csv_path", "out.csv")
    rows = Path("out.csv").read_text().splitlines()
    assert rows[1] == "control,c.seed0,0.812,"
    assert rows[11] == "candidate,t.seed0,0.861,"


def test_what_did_not_finish_is_counted_and_told(compare: Compare, runs: Path) -> None:
    (runs / "t.seed4.csv").unlink()
    write_run(runs / "t.seed5.csv", 0.9, up_to=300)
    shown = compare(*LISTS)
    assert "10 of 10 control, 8 of 10 candidate; 8 of 10 pairs are whole" in shown
    assert "t.seed4: no file has its series" in shown
    assert "t.seed5: stopped at step 300" in shown
    assert "worst case" in shown
    (metric,) = document(compare(*LISTS, "--format", "json"))["metrics"]
    assert metric["finished"]["candidate"] == {"finished": 8, "of": 10}
    assert metric["worst_case"]["candidate"] == pytest.approx(0.765)


def test_what_the_lost_runs_could_overturn_is_no_verdict_in_any_format(
    compare: Compare, runs: Path
) -> None:
    for name in (T[4], T[5], T[8]):
        (runs / f"{name}.csv").unlink()
    note = "better among what finished, but not in the worst case"
    found = document(compare(*LISTS, "--format", "json"))
    (metric,) = found["metrics"]
    assert metric["verdict"] == "inconclusive"
    assert metric["worst_case"]["holds"] is False
    assert note in metric["notes"][0]
    assert found["overall"]["winner"] is None
    assert note in compare(*LISTS, "--format", "md")
    assert note in compare(*LISTS, "--format", "csv")
    shown = compare(*LISTS)
    assert "the candidate is inconclusive" in shown
    assert note in shown
    swapped = ("--control-run-ids", *T, "--candidate-run-ids", *C)
    assert "no verdict" in compare(*swapped, "--fail-on", "worse", status=3)


@pytest.mark.parametrize(("far", "shown"), [(0.02, True), (5.0, False)])
def test_no_difference_is_drawn_where_it_is_near(
    compare: Compare, runs: Path, far: float, *, shown: bool
) -> None:
    for name, value in zip(T, CANDIDATE, strict=True):
        write_run(runs / f"{name}.csv", value - 0.04 + far)
    assert ("no difference: 0" in compare(*LISTS)) is shown


def test_seeds_that_are_not_the_same_pair_nothing_unless_asked(compare: Compare) -> None:
    arguments = ("--control-run-ids", *C[:6], "--candidate-run-ids", *T[2:])
    assert "not paired: not the same seeds" in compare(*arguments)
    assert "paired by seed; 6 runs without a partner left out" in compare(
        *arguments, "--paired", "yes"
    )


def test_a_column_of_another_name_is_told(compare: Compare, runs: Path) -> None:
    for path in runs.iterdir():
        path.write_text(path.read_text().replace("overview/reward", "value"))
    assert "overview/reward is read from the column value" in compare(*LISTS)
    said = compare(*LISTS, "--metric", "eval/loss", status=2)
    assert "does not log eval/loss; it has _step, value" in said


def test_several_metrics_are_adjusted_together(compare: Compare, runs: Path) -> None:
    for path in runs.iterdir():
        rows = path.read_text().splitlines()
        path.write_text("\n".join([rows[0] + ",x", *(f"{row},1" for row in rows[1:])]))
    found = document(
        compare(*LISTS, "--metric", "overview/reward", "--metric", "x", "--better", "lower",
                "--format", "json")
    )  # fmt: skip
    assert [one["p_adjusted"] for one in found["metrics"]] == [pytest.approx(0.00390625), 1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a", "b", *LISTS), "'a': name training runs only with --pairs"),
        (("--pairs", "{}", *LISTS), "exclude each other"),
        (("--control-run-ids", *C), "--candidate-run-ids: give the runs of both sides"),
        (("--control-run-ids", "--candidate-run-ids", *T), "--control-run-ids needs a value"),
        (("--control-run-ids", "x", "--candidate-run-ids", *T), "x: no file has its series"),
        ((*LISTS, "--metric", "overview/score"), 'did you mean "overview/reward"?'),
        ((*LISTS, "--summary.step_min", "3"), "give both, or neither"),
        ((*LISTS, "--bootstrap.alpha", "nan"), "'--bootstrap.alpha'"),
        ((*LISTS, "--summary.percent", "2"), "--summary.percent 2: a share"),
        ((*LISTS, "--power.enabled", "--power.beta", "0.01"), "must be greater than alpha"),
        ((*LISTS, "--output.csv_path", "no/out.csv"), "--output.csv_path no/out.csv"),
        ((*LISTS, "--output", "plot.gif"), "plot.gif"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_line(
    compare: Compare, arguments: tuple[str, ...], said: str
) -> None:
    assert said in compare(*arguments, status=2)


def test_options_of_training_runs_need_training_runs(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["compare", "a", "b", "--summary.type", "auc"]) == 2
    assert "--summary.type is for training runs" in capsys.readouterr().err


def test_a_window_that_no_run_covers_cannot_be_measured(compare: Compare) -> None:
    said = compare(*LISTS, "--summary.step_min", "0", "--summary.step_max", "9000", status=3)
    assert "c.seed0: stopped at step 1,000 (and 9 more)" in said


def test_the_gate(compare: Compare) -> None:
    swapped = ("--control-run-ids", *T, "--candidate-run-ids", *C)
    assert "the candidate is worse" in compare(*swapped, "--fail-on", "worse", status=1)
    few = ("--control-run-ids", *C[:2], "--candidate-run-ids", *T[:2])
    assert "no verdict" in compare(*few, "--fail-on", "worse", status=3)
