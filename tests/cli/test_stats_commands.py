"""`agentbench stats`: its sentences, documents, plots and exit codes, on runs and on files."""

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import Place, make_place
from scipy import stats

from agentbench_tui.cli.main import _run

AGENTS = ("--agent", "echo=python:agents.py:echo", "--agent", "other=python:agents.py:other")
REFERENCE = Path(__file__).parents[1] / "verdicts" / "data" / "reference.json"
LATENCIES = [101.8, 94.2, 89.9, 94.8, 96.0, 94.5, 86.7, 95.4, 110.7, 80.5, 97.6, 80.9, 92.8, 81.2]
Said = Callable[..., str]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place with three repeats of two agents over sixteen cases."""
    place = make_place(tmp_path_factory.mktemp("measured"))
    place.suite(16)
    done = place.run("run", "suite.json", *AGENTS, "--no-ui", "--runs", "3", "--format", "json")
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def said(
    measured: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Said:
    """Runs a command in this process and an empty folder: stdout, or stderr where it refuses."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTBENCH_DB", str(measured.folder / "store.db"))
    Path("lat.csv").write_text("latency_ms\n" + "\n".join(map(str, LATENCIES)) + "\n")

    def run(*arguments: str, code: int = 0) -> str:
        capfd.readouterr()
        ended = _run(["stats", *arguments])
        out, err = capfd.readouterr()
        assert ended == code, (out, err)
        assert "Traceback" not in err
        return out if code in {0, 1} else err

    return run


def document(said: Said, *arguments: str, code: int = 0) -> Any:
    return json.loads(said(*arguments, "--format", "json", code=code))


# check


def test_check_agrees_with_other_software(said: Said) -> None:
    text = said("check", str(REFERENCE))
    assert "116 of 116 entries agree" in text
    assert " NO" not in text


def test_check_ends_with_1_when_an_answer_differs(said: Said) -> None:
    wrong = json.loads(REFERENCE.read_text())
    wrong["descriptive"]["A"]["mean"] += 1e-6
    Path("wrong.json").write_text(json.dumps(wrong))
    found = document(said, "check", "wrong.json", code=1)
    assert (found["ok"], found["n_failed"]) == (False, 1)
    bad = [one["entry"] for one in found["entries"] if not one["ok"]]
    assert bad == ["descriptive.A.mean"]


# variance


def test_variance_of_a_file_counts_rows_as_runs(said: Said) -> None:
    found = document(said, "variance", "lat.csv", "--half-width", "2%")
    assert found["schema"] == "agentbench.stats-variance/1"
    (one,) = found["metrics"]
    n, cv = len(LATENCIES), np.std(LATENCIES, ddof=1) / np.mean(LATENCIES)
    assert (one["n"], one["values"], one["runs_are"]) == (n, LATENCIES, "rows")
    assert one["cv"] == pytest.approx(cv)
    assert one["half_width"] == pytest.approx(stats.t.ppf(0.975, n - 1) * cv / math.sqrt(n))
    needed = next(k for k in range(2, 999) if stats.t.ppf(0.975, k - 1) * cv / math.sqrt(k) <= 0.02)
    assert (one["n_needed"], one["more"]) == (needed, needed - n)
    assert one["n_needed_low"] < needed < one["n_needed_high"]
    assert [point["n"] for point in one["curve"][:3]] == [2, 3, 4]
    assert one["curve"][-1]["half_width"] < 0.02  # the curve goes to where it is reached


def test_variance_of_runs_takes_repeats_and_splits_their_variance(said: Said) -> None:
    found = document(said, "variance", "echo", "--metric", "e2e_ms")
    (one,) = found["metrics"]
    assert (one["n"], one["runs_are"]) == (3, "repeats")
    levels = one["two_level"]
    assert (levels["runs"], levels["iterations"]) == (3, 16)
    assert levels["design_effect"] == pytest.approx(1 + 15 * levels["icc"])


def test_several_runs_are_taken_together(said: Said, measured: Place) -> None:
    done = measured.run("run", "suite.json", *AGENTS, "--no-ui", "--runs", "3", "--format", "json")
    newer = json.loads(done.stdout)["run_id"]
    runs = json.loads(measured.run("runs", "list", "--format", "json").stdout)["runs"]
    older = next(one["id"] for one in runs if one["id"] != newer)
    texts = (f"run:{older}/echo", f"run:{newer}/echo", f"run:{newer}/echo")
    (one,) = document(said, "variance", *texts, "--metric", "e2e_ms")["metrics"]
    each = [document(said, "variance", text, "--metric", "e2e_ms")["metrics"][0] for text in texts]
    assert one["values"] == each[0]["values"] + each[1]["values"]
    assert one["two_level"]["runs"] == 6


def test_answers_of_one_case_that_are_all_alike_are_worth_one(said: Said) -> None:
    found = document(said, "variance", "echo", "--metric", "accuracy")["metrics"][0]
    levels = found["two_level"]
    assert (found["two_level_of"], levels["runs"], levels["iterations"]) == ("case", 16, 3)
    assert (levels["icc"], levels["design_effect"]) == (1.0, 3.0)
    assert "16 cases of 3 answers are worth 16" in said("variance", "echo", "--metric", "accuracy")


def test_constant_metrics_say_why_they_plan_nothing(said: Said) -> None:
    text = said("variance", "echo", "--metric", "accuracy")
    assert "all values are equal: no spread to plan from" in text


def curves(seeds: int, each: int) -> dict[str, list[tuple[int, float]]]:
    """Runs by name: `each` of every seed, which moves the whole curve."""
    drawn = np.random.default_rng(7)
    found = {}
    for seed in range(seeds):
        level = drawn.normal(0, 0.1)
        for number in range(each):
            noise = drawn.normal(0, 0.01)
            found[f"s_seed{seed}_{number}"] = [
                (step, 1 + level + noise + step / 100) for step in range(0, 101, 10)
            ]
    return found


def write_curves(runs: dict[str, list[tuple[int, float]]]) -> None:
    for name, points in runs.items():
        rows = [f"{step},{value}" for step, value in points]
        Path(f"{name}.csv").write_text("step,reward\n" + "\n".join(rows) + "\n")


def test_variance_of_learning_curves_takes_area_and_slope_and_splits_by_seed(said: Said) -> None:
    runs = curves(4, 2)
    runs["s_seed9_0"] = runs["s_seed0_0"][:5]  # stopped early
    write_curves(runs)
    files = sorted(f"{name}.csv" for name in runs)
    found = document(said, "variance", *files, "--metric", "reward")
    area, slope = found["metrics"]
    assert area["name"] == "AUC: mean over steps 75 to 100"
    # a straight line: its mean over the last quarter is its value in the middle, at 87.5
    expected = [points[0][1] + 0.875 for name, points in sorted(runs.items()) if "9" not in name]
    assert sorted(area["values"]) == pytest.approx(sorted(expected))
    assert slope["values"] == pytest.approx([0.01] * 8)
    assert (area["seeds"]["seeds"], area["seeds"]["runs"]) == (4, 8)
    assert area["seeds"]["seed_share"] > 0.9


def test_runs_that_stopped_early_are_told(
    said: Said, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    runs = curves(3, 1)
    runs["short"] = runs["s_seed0_0"][:5]
    write_curves(runs)
    assert _run(["stats", "variance", *(f"{name}.csv" for name in runs), "--metric", "reward"]) == 0
    assert "3 of 4 runs finished" in capfd.readouterr().err


def test_one_file_may_hold_many_runs(said: Said) -> None:
    rows = [
        {"run": name, "step": step, "value": value}
        for name, points in curves(3, 1).items()
        for step, value in points
    ]
    Path("all.jsonl").write_text("\n".join(map(json.dumps, rows)))
    area = document(said, "variance", "all.jsonl")["metrics"][0]
    assert area["n"] == 3


def test_variance_draws_in_the_terminal_and_into_files(said: Said) -> None:
    text = said("variance", "lat.csv", "--plot", "--output", "spread.svg")
    assert "░░ its 95% band" in text
    assert "\x1b" not in text
    assert "half-width" in Path("spread.svg").read_text() or Path("spread.svg").stat().st_size
    assert "░░" not in said("variance", "lat.csv")  # no terminal


def test_thresholds_far_above_the_curves_do_not_flatten_them(said: Said) -> None:
    near = ["100.1", "100.0", "100.2", "99.9", "100.05"]
    Path("near.csv").write_text("latency_ms\n" + "\n".join(near) + "\n")
    text = said("variance", "near.csv", "--plot")
    assert "threshold 5 far above" in text
    assert "threshold: 5" not in text
    assert "threshold: 5" in said("variance", "lat.csv", "--plot")


def test_the_cv_stands_first_so_that_a_narrow_terminal_keeps_it(said: Said) -> None:
    write_curves(curves(8, 1))
    header = said("variance", *(f"s_seed{n}_0.csv" for n in range(8)), "--metric", "reward")
    assert header.index(" CV ") < header.index("half-width") < header.index(" mean")


def test_variance_as_csv_has_a_row_a_metric(said: Said) -> None:
    rows = list(csv.DictReader(io.StringIO(said("variance", "lat.csv", "--format", "csv"))))
    assert [row["name"] for row in rows] == ["file/lat · e2e_ms"]
    assert float(rows[0]["cv"]) == pytest.approx(np.std(LATENCIES, ddof=1) / np.mean(LATENCIES))


# power


def answers(said: Said, *arguments: str) -> list[dict[str, Any]]:
    found = document(said, "power", *arguments)
    assert found["schema"] == "agentbench.stats-power/1"
    rows: list[dict[str, Any]] = found["answers"]
    return rows


def test_power_without_options_is_the_table_of_the_textbook(said: Said) -> None:
    found = {(one["n"], one["design"]): one["effect"] for one in answers(said)}
    # statsmodels' solve_power, to two digits
    assert {key: round(value, 2) for key, value in found.items()} == {
        (5, "unpaired"): 2.02, (10, "unpaired"): 1.32, (15, "unpaired"): 1.06,
        (20, "unpaired"): 0.91, (30, "unpaired"): 0.74, (100, "unpaired"): 0.40,
        (5, "paired"): 1.68, (10, "paired"): 1.00, (15, "paired"): 0.78,
        (20, "paired"): 0.66, (30, "paired"): 0.53, (100, "paired"): 0.28,
    }  # fmt: skip


def test_power_of_figures(said: Said) -> None:
    assert [one["n"] for one in answers(said, "--effect", "0.5")] == [64, 34]
    assert [one["n"] for one in answers(said, "--shares", "0.7", "0.8")] == [292]
    both = {one["design"]: one["n"] for one in answers(said, "--effect", "5%", "--sd", "10%")}
    assert both == {"unpaired": 67, "paired": 35}
    (pairs,) = answers(said, "--discordant", "0.05", "0.10")
    (seen,) = answers(said, "--discordant", "0.05", "0.10", "--n", str(pairs["n"]))
    assert seen["power"] >= 0.8
    (less,) = answers(said, "--discordant", "0.05", "0.10", "--n", str(pairs["n"] - 1))
    assert less["power"] < 0.8


def test_what_n_can_see_and_what_that_takes_agree(said: Said) -> None:
    smallest = answers(said, "--n", "12", "--sd", "8%")[0]["effect"]
    back = answers(said, "--effect", str(smallest), "--sd", "8%")[0]
    assert back["n"] in {12, 13}  # the effect is rounded when it is written


def test_the_smallest_share_difference_takes_as_many_cases(said: Said) -> None:
    loss = answers(said, "--shares", "0.7", "0.8", "--n", "292")[1]["effect"]
    needed = [
        answers(said, "--shares", "0.7", str(0.7 - loss * factor))[0]["n"]
        for factor in (1.0001, 0.9999)
    ]
    assert needed[0] <= 292 < needed[1]


def test_power_of_one_selector_uses_the_spread_of_its_runs(said: Said) -> None:
    found = answers(said, "lat.csv", "--effect", "3%")
    sd = np.std(np.log(LATENCIES), ddof=1)
    assert [one["sd"] for one in found] == pytest.approx([sd, sd])
    assert [one["asked"] for one in found] == ["effect", "n"]
    assert found[1]["n"] > found[0]["n"] == len(LATENCIES)


def test_power_of_two_selectors_measures_what_pairing_gains(said: Said) -> None:
    found = document(said, "power", "echo", "other", "--metric", "accuracy")
    # echo is wrong at multiples of 3, other at even numbers: of 0 … 15 only echo is right at
    # 2 4 8 10 14, only other at 3 9 15
    seen, needed = found["answers"]
    assert seen["effect"] == pytest.approx((3 - 5) / 16)
    assert (seen["asked"], needed["asked"], seen["n"]) == ("power", "n", 16)
    (gain,) = found["pairing"]
    right = np.array([[n % 3 != 0 for n in range(16)], [n % 2 != 0 for n in range(16)]], float)
    variances = right.var(axis=1, ddof=1).sum()
    assert gain["gain"] == pytest.approx(1 - (right[1] - right[0]).var(ddof=1) / variances)


def test_power_of_graded_answers_goes_by_how_much_cases_differ(said: Said) -> None:
    # 3 of 34 cases gain a quarter of a point: 2.2 points between the sides, not 3/34 = 8.8
    gains = np.array([0.25] * 3 + [0.0] * 31)
    for name, scores in (("a.csv", 0.75 + 0 * gains), ("b.csv", 0.75 + gains)):
        rows = [f"c{case},{score}" for case, score in enumerate(scores)]
        Path(name).write_text("case,score\n" + "\n".join(rows) + "\n")
    effect = float(gains.mean())
    seen, needed = answers(said, "a.csv", "b.csv", "--metric", "accuracy", "--effect", str(effect))
    sd = float(gains.std(ddof=1))

    def power(size: float, n: int) -> float:
        far, shift = stats.t.ppf(0.975, n - 1), size / sd * math.sqrt(n)
        return float(stats.nct.sf(far, n - 1, shift) + stats.nct.cdf(-far, n - 1, shift))

    assert (seen["n"], seen["unit"], needed["unit"]) == (34, "points", "points")
    assert power(seen["effect"], 34) == pytest.approx(0.8, abs=1e-6)
    assert power(effect, needed["n"] - 1) < 0.8 <= power(effect, needed["n"])


def test_power_of_graded_answers_of_one_side_goes_by_their_own_spread(said: Said) -> None:
    scores = np.tile([0.9, 1.0, 1.0, 0.8], 10)
    rows = [f"c{case},{score}" for case, score in enumerate(scores)]
    Path("a.csv").write_text("case,score\n" + "\n".join(rows) + "\n")
    seen, needed = answers(said, "a.csv", "--metric", "accuracy", "--effect", "5%")
    sd = float(scores.std(ddof=1))
    one_sd = answers(said, "--n", "40")[0]["effect"]
    assert (seen["design"], seen["n"]) == ("unpaired", 40)
    assert seen["effect"] == pytest.approx(one_sd * sd)
    (size,) = (one["n"] for one in answers(said, "--effect", str(0.05 / sd))[:1])
    assert needed["n"] == size


def write_repeats(name: str, luck: list[float], noise: float, seed: int) -> None:
    """Times of 12 cases in each repeat, all of which share the repeat's luck."""
    drawn = np.random.default_rng(seed)
    rows = [
        f"{repeat},c{case},{100 * math.exp(case / 10 + level + noise * drawn.normal())}"
        for repeat, level in enumerate(luck)
        for case in range(12)
    ]
    Path(name).write_text("repeat,case,latency_ms\n" + "\n".join(rows) + "\n")


def test_power_plans_by_repeats_where_their_luck_is_what_varies(said: Said) -> None:
    luck = [0.1, -0.1, 0.05, 0.0, -0.05]
    write_repeats("a.csv", luck, 1e-4, 1)
    write_repeats("b.csv", luck[::-1], 1e-4, 2)
    for one in answers(said, "a.csv", "b.csv", "--effect", "5%"):
        assert (one["what"], one["design"]) == ("repeats", "unpaired")
        assert one["sd"] == pytest.approx(np.std(luck, ddof=1), rel=0.01)
    assert "`compare` treats repeats as the unit" in said("power", "a.csv", "b.csv")
    write_repeats("a.csv", [0.0] * 5, 0.1, 1)
    write_repeats("b.csv", [0.0, 1e-4, 0.0, 1e-4, 0.0], 0.1, 2)
    assert {one["what"] for one in answers(said, "a.csv", "b.csv")} == {"cases"}
    write_repeats("a.csv", luck[:2], 1e-4, 1)  # too few to tell
    assert {one["what"] for one in answers(said, "a.csv", "b.csv")} == {"cases"}


def test_power_of_two_sides_answers_for_the_number_asked_about(said: Said) -> None:
    write_repeats("a.csv", [0.0] * 5, 0.1, 1)
    write_repeats("b.csv", [0.0, 1e-4, 0.0, 1e-4, 0.0], 0.1, 2)
    few, many = (
        next(
            one
            for one in answers(said, "a.csv", "b.csv", *more)
            if (one["asked"], one["design"]) == ("effect", "paired")
        )
        for more in ((), ("--n", "48"))
    )
    assert (few["n"], many["n"]) == (12, 48)
    assert many["effect"] < few["effect"]
    seen = answers(said, "echo", "other", "--metric", "accuracy", "--n", "64")
    assert [one["n"] for one in seen if one["asked"] == "power"] == [64]


RUNS = (100.0, 110.0, 130.0)


def write_runs(name: str, runs: Sequence[float] = RUNS) -> None:
    """Four repeats of each run that hardly differ, each with one case."""
    rows = [f"r{run},{k},c,{ms * (1 + k / 1e4)}" for run, ms in enumerate(runs) for k in range(4)]
    Path(name).write_text("run,repeat,case,latency_ms\n" + "\n".join(rows) + "\n")


def test_repeats_of_one_run_are_no_runs(said: Said, capfd: pytest.CaptureFixture[str]) -> None:
    write_runs("a.csv")
    write_runs("b.csv", [1.1 * ms for ms in RUNS])
    (one,) = document(said, "variance", "a.csv")["metrics"]
    assert (one["n"], one["runs_are"]) == (3, "runs")
    assert one["cv"] == pytest.approx(np.std(RUNS, ddof=1) / np.mean(RUNS), rel=1e-3)
    assert _run(["compare", "file:a.csv", "file:b.csv", "--format", "json"]) == 0
    compared = json.loads(capfd.readouterr().out)
    (time,) = (one for one in compared["metrics"] if one["metric"] == "e2e_ms")
    assert (time["of"], time["repeats"], time["verdict"]) == ("runs", 3, "inconclusive")
    (benchmark,) = compared["benchmarks"]
    assert benchmark["notes"] == ["runs are compared, not their repeats: A has 3, B has 3"]


def test_a_folder_is_read_as_compare_reads_it(said: Said) -> None:
    Path("runs").mkdir()
    for number, ms in enumerate(RUNS):
        write_runs(f"runs/{number}.csv", [ms])
    for text in ("file:runs", "./runs"):
        (one,) = document(said, "variance", text)["metrics"]
        assert (one["n"], one["runs_are"]) == (3, "runs")
    assert document(said, "summary", "file:runs")["metrics"][0]["n"] == 12
    assert answers(said, "file:runs")[0]["n"] == 3
    Path("empty").mkdir()
    assert "no file with samples in it" in said("variance", "file:empty", code=2)
    hint = "no agent 'runs' (did you mean \"file:runs\"?)"
    assert hint in said("summary", "runs", code=2)


def test_few_pairs_do_not_tell_what_pairing_gains(said: Said) -> None:
    for name in "ab":
        rows = [f"c{case},{10 + case + (name == 'b') * case % 3}" for case in range(4)]
        Path(f"{name}.csv").write_text("case,latency_ms\n" + "\n".join(rows) + "\n")
    assert "pairing took" not in said("power", "a.csv", "b.csv")


def test_shares_may_be_percentages(said: Said) -> None:
    assert answers(said, "--shares", "70%", "80%") == answers(said, "--shares", "0.7", "0.8")


# summary


def figures(said: Said, *arguments: str) -> dict[str, dict[str, Any]]:
    found = document(said, "summary", *arguments)
    assert found["schema"] == "agentbench.stats-summary/1"
    (metric,) = found["metrics"]
    return {one["figure"]: one for one in metric["figures"]}


def test_summary_of_right_and_wrong_answers(said: Said) -> None:
    found = figures(said, "echo", "--metric", "accuracy")
    assert found["share"]["value"] == pytest.approx(10 / 16)  # six multiples of 3 in 0 … 15
    assert found["share"]["n"] == 48
    wilson = stats.binomtest(30, 48).proportion_ci(0.95, "wilson")
    alone = found["share, values independent"]
    assert (alone["low"], alone["high"]) == pytest.approx((wilson.low, wilson.high))
    assert found["share"]["high"] - found["share"]["low"] > wilson.high - wilson.low
    # the same answer every time: as good at 3 tries as at 1
    assert {name: found[name]["value"] for name in ("pass@1", "pass@3", "pass^3")} == {
        "pass@1": 0.625, "pass@3": 0.625, "pass^3": 0.625
    }  # fmt: skip
    assert found["effective sample size"]["value"] == pytest.approx(16)  # the cases
    middle = found["interquartile mean"]  # without the 12 lowest and highest of 18 × 0, 30 × 1
    assert middle["value"] == pytest.approx(18 / 24)
    assert "not certainty" in middle["reason"]


def test_summary_prints_one_line_of_a_share_and_the_rest_when_asked(said: Said) -> None:
    def first_words(*more: str) -> list[str]:
        lines = said("summary", "echo", "--metric", "accuracy", *more).splitlines()
        return [line.split("  ")[0] for line in lines[2:] if line]

    assert first_words() == ["share", "--all shows the other statistics"]
    every = first_words("--all")
    assert {"share", "share, values independent", "pass@3", "effective sample size"} <= {*every}
    assert not any("--all" in line for line in every)


def write_trials(name: str, **trials: str) -> str:
    """A file with the trials of each task: 1 right, 0 wrong."""
    rows = [f"{task},{number},{one}" for task, all_of in trials.items()
            for number, one in enumerate(all_of)]  # fmt: skip
    Path(name).write_text("task_id,trial,correct\n" + "\n".join(rows) + "\n")
    return name


def test_passes_over_the_tasks_with_enough_trials_say_which_task_has_fewer(said: Said) -> None:
    found = figures(said, write_trials("t.csv", a="1111", b="1100", c="0000", d="1"))
    # by hand: C(c, k) / C(4, k) and 1 - C(4 - c, k) / C(4, k) of a, b and c
    by_hand = {
        "pass@1": 2.5 / 4, "pass^1": 2.5 / 4,
        "pass@2": (1 + 5 / 6 + 0) / 3, "pass^2": (1 + 1 / 6 + 0) / 3,
        "pass@3": 2 / 3, "pass^3": 1 / 3,
        "pass@4": 2 / 3, "pass^4": 1 / 3,
    }  # fmt: skip
    for name, value in by_hand.items():
        assert found[name]["value"] == pytest.approx(value), name
        assert found[name]["n"] == (4 if name.endswith("1") else 3)
    assert found["pass@1"]["reason"] == ""
    assert found["pass^4"]["reason"] == "3 of 4 cases have 4 answers; d has 1"


def test_passes_that_few_tasks_have_trials_for_are_missing_with_the_reason(said: Said) -> None:
    found = figures(said, write_trials("t.csv", a="1011", b="110", c="001", d="10"))
    assert found["pass^3"]["value"] == pytest.approx((1 / 4 + 0 + 0) / 3)
    assert found["pass^4"]["value"] is None
    assert found["pass^4"]["reason"] == "only 1 of 4 cases has 4 answers; d has 2"
    once = figures(said, write_trials("once.csv", a="11", b="1", c="0", d="1"))
    assert once["pass@2"]["reason"] == "only 1 of 4 cases has 2 answers; b has 1"
    assert "pass@1" not in once
    alone = figures(said, write_trials("alone.csv", a="1", b="0", c="1"))
    assert not [name for name in alone if name.startswith("pass")]


def test_where_all_failed_nothing_claims_certainty(said: Said) -> None:
    Path("wrong.csv").write_text("case,correct\n" + "".join(f"c{n},0\n" for n in range(40)))
    found = figures(said, "wrong.csv", "--metric", "accuracy")
    assert found["effective sample size"]["low"] is None
    assert "nothing varies" in found["effective sample size"]["reason"]
    wilson = stats.binomtest(0, 40).proportion_ci(0.95, "wilson")
    assert found["share, values independent"]["high"] == pytest.approx(wilson.high)


def test_summary_of_times(said: Said) -> None:
    found = figures(said, "lat.csv", "--metric", "e2e_ms")
    logs = np.log(LATENCIES)
    n = len(LATENCIES)
    half = stats.t.ppf(0.975, n - 1) * logs.std(ddof=1) / math.sqrt(n)
    geometric = found["geometric mean, values independent"]
    assert geometric["low"] == pytest.approx(math.exp(logs.mean() - half))
    assert found["p50"]["value"] == np.median(LATENCIES)
    ordered = sorted(LATENCIES)
    assert (found["p50"]["low"], found["p50"]["high"]) == (ordered[2], ordered[11])
    assert (found["p95"]["value"], found["p95"]["reason"]) == (None, "needs 59 (have 14)")
    assert found["mean"]["method"].startswith("mean; Hall's transformed t")


def test_the_mean_of_values_without_skew_has_about_the_interval_of_t(said: Said) -> None:
    n = 15
    values = 100 + 10 * stats.norm.ppf((np.arange(n) + 0.5) / n)
    Path("even.csv").write_text("latency_ms\n" + "\n".join(map(str, values)) + "\n")
    found = figures(said, "even.csv", "--metric", "e2e_ms")["mean"]
    half = stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / math.sqrt(n)
    assert half <= (found["high"] - found["low"]) / 2 < 1.05 * half


def test_summary_tells_a_drift(said: Said) -> None:
    Path("warm.csv").write_text("latency_ms\n" + "\n".join(str(200 - 3 * n) for n in range(40)))
    found = document(said, "summary", "warm.csv")["metrics"][0]
    assert found["drifted"] == [0]
    assert found["drifts"][0]["p"] < 0.01
    assert "drift: the first third differs" in said("summary", "warm.csv")
    effective = {one["figure"]: one for one in found["figures"]}["effective sample size"]
    assert effective["value"] < 10


def test_the_same_seed_gives_the_same_summary(said: Said) -> None:
    Path("many.csv").write_text("latency_ms\n" + "\n".join(map(str, LATENCIES * 2)))
    first = said("summary", "many.csv", "--format", "json")
    assert said("summary", "many.csv", "--format", "json") == first
    assert said("summary", "many.csv", "--format", "json", "--seed", "7") != first


# what cannot be answered


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("a,0,1,5\na,x,2,5", "odd.csv:3: step: 'x' is no number"),
        ("a,0,1,5\na,nan,2,5", "odd.csv:3: step: 'nan' is no number"),
        ("a,0,1,5\na,10,two,5", "odd.csv:3: value: 'two' is no number"),
        ("a,0,1,inf\na,10,2,inf", "odd.csv:2: seed: 'inf' is no number"),
        ("a,0,,\na,10,,", "a: has no value of value"),
    ],
)
def test_faults_of_learning_curves_are_told_with_their_line(
    said: Said, rows: str, words: str
) -> None:
    Path("odd.csv").write_text(f"run,step,value,seed\n{rows}\n")
    assert words in said("variance", "odd.csv", code=2)


def test_a_curve_is_not_read_from_a_column_of_another_name(said: Said) -> None:
    Path("odd.csv").write_text("run,step,value\na,0,1\na,1,2\nb,0,1\nb,1,3\n")
    assert "does not log nosuch" in said("variance", "odd.csv", "--metric", "nosuch", code=2)
    Path("odd.csv").write_text("step,value\n0,1\n1,2\n")
    assert "does not log nosuch" in said("variance", "odd.csv", "--metric", "nosuch", code=2)


def test_a_run_that_diverged_is_left_out(said: Said) -> None:
    rows = [f"{name},{step},{step}" for name in "ab" for step in range(9)]
    Path("odd.csv").write_text("run,step,value\n" + "\n".join([*rows, "c,0,1", "c,8,nan"]) + "\n")
    area = document(said, "variance", "odd.csv")["metrics"][0]
    assert area["values"] == [7.0, 7.0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("variance", "nobody"), "no agent 'nobody'"),
        (("variance", "echoo"), 'did you mean "echo"'),
        (("variance", "echo", "--metric", "e2e"), 'did you mean "e2e_ms"'),
        (("variance", "echo", "--metric", "ttft_ms"), "no run of echo has ttft_ms"),
        (("variance", "lat.csv", "--metric", "nosuch"), "has no column 'nosuch'"),
        (("variance", "lat.csv", "--half-width", "0"), "neither a share"),
        (("variance", "lat.csv", "--output", "plot.pdf"), ".png or .svg"),
        (("variance", "file:missing.csv"), "missing.csv"),
        (("variance", "missing.csv"), "no file or agent 'missing.csv'"),
        (("power", "a", "b", "c"), "give one selector, or two"),
        (("power", "echo", "--sd", "10%"), "--sd is measured"),
        (("power", "--shares", "0.7", "0.7"), "equal shares"),
        (("power", "--shares", "70%", "180%"), "is not between 0 and 100%"),
        (("power", "--effect", "5%"), "a percentage requires --sd"),
        (("power", "--discordant", "0.1", "0.1"), "equal probabilities"),
        (("power", "--discordant", "0.7", "0.6"), "a sum up to 1"),
        (("power", "--power", "1.5"), "--power 1.5"),
        (("power", "--alpha", "0.7"), "--alpha 0.7"),
        (("summary", "echo", "--metric", "cost_usd"), "no answer has cost_usd"),
        (("summary", "nobody"), "no agent 'nobody'"),
        (("check", "missing.json"), "cannot read missing.json"),
    ],
)
def test_wrong_questions_are_refused_in_words(
    said: Said, arguments: tuple[str, ...], words: str
) -> None:
    assert words in said(*arguments, code=2)


@pytest.mark.parametrize("cells", ["5", "5\n5\n5\n5", "0\n0\n0", "1\n2\n0"])
def test_few_equal_and_zero_values_crash_nothing(said: Said, cells: str) -> None:
    Path("odd.csv").write_text(f"latency_ms\n{cells}\n")
    for command in ("variance", "summary", "power"):
        assert document(said, command, "odd.csv")["schema"] == f"agentbench.stats-{command}/1"
        assert "file/odd · e2e_ms" in said(command, "odd.csv")


def test_the_try_of_a_case_that_counts_is_chosen(said: Said) -> None:
    """Right at the first try, at the second, and never: of three cases."""
    tries = [("a", 1, 1), ("b", 1, 0), ("b", 2, 1), ("c", 1, 0), ("c", 2, 0), ("c", 3, 0)]
    lines = "".join(f"{case},{number},{right}\n" for case, number, right in tries)
    Path("tries.csv").write_text("case,attempt,correct\n" + lines)
    for choice, share in (("first", 1 / 3), ("last", 2 / 3), ("pass@1", 1 / 3), ("pass@2", 2 / 3)):
        arguments = "tries.csv", "--metric", "accuracy", "--attempt", choice
        (one,) = document(said, "summary", *arguments)["metrics"]
        assert one["figures"][0]["value"] == pytest.approx(share)
        (one,) = document(said, "variance", *arguments, "--no-plot")["metrics"]
        assert one["mean"] == pytest.approx(share)
    told = said("summary", "tries.csv", "--attempt", "lst", code=2)
    assert "expected first, last, all or pass@K" in told
    for command in ("summary", "variance"):
        told = said(command, "good", "--attempt", "last", code=2)
        assert "--attempt selects rows of files, but no file is given" in told
