"""Judging runs whose truth is known: which are held against which, and what is said of them."""

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from run_history import Answer, Measured, RunHistory, near, repeats, timed

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.baselines import Baseline
from agentbench_tui.store.transaction import write_once
from agentbench_tui.store.writes.baselines import keep_accepted, keep_baseline
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.comparison import FEW_DRAWS, Asked
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.regression import regression
from agentbench_tui.verdicts.regression.acceptance import acceptable
from agentbench_tui.verdicts.regression.finding import Finding
from agentbench_tui.verdicts.regression.regression import RegressionAsked, judge_agent
from agentbench_tui.verdicts.regression.version_judgment import FEW_RUNS, NO_SPREAD
from agentbench_tui.verdicts.selection.side import load_sides


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunHistory]:
    with closing(RunHistory(tmp_path / "x.db")) as history:
        yield history


def judged(store: RunHistory, **wanted: object) -> list[Finding]:
    with reading(store.path) as connection:
        given = RegressionAsked(**{"agent": "bot", **wanted})  # type: ignore[arg-type]
        return list(judge_agent(connection, given).findings)


def the_one(store: RunHistory, **wanted: object) -> Finding:
    (found,) = judged(store, **wanted)
    return found


def with_repeats(level: float, count: int = 5) -> Measured:
    return Measured({"e2e_ms.p50": level}, repeats(level, count))


# Two versions


def test_a_version_is_held_against_the_one_before_it(store: RunHistory) -> None:
    store.times(near(50, 2), "0")
    store.times(near(100, 5), "1")
    store.times(near(120, 5), "2")
    found = the_one(store)
    assert (found.verdict, found.gate, found.against) == ("regression", "versions", "version 1")
    assert (found.values, found.unit_of_values) == ((5, 5), "runs")
    assert found.change == pytest.approx(1.2)
    assert found.before == pytest.approx(math.exp(sum(map(math.log, near(100, 5))) / 5))
    assert found.severity == "major"
    assert found.location is not None
    assert found.location.first.version == "2"
    assert found.location.before is not None
    assert found.location.before.version == "1"


def test_one_run_a_side_raises_a_suspicion_of_what_run_variance_may_explain(
    store: RunHistory,
) -> None:
    store.run({"bot@1": {"b": with_repeats(100)}})
    store.run({"bot@2": {"b": with_repeats(108)}})
    found = the_one(store)
    assert (found.verdict, found.values, found.unit_of_values) == ("suspect", (5, 5), "repeats")
    assert found.reason == FEW_RUNS
    assert any("between-run variance is not in it" in note for note in found.notes)
    better = the_one(store, version="1", baseline="2")
    assert (better.verdict, better.reason) == ("no change seen", f"better, but {FEW_RUNS}")


@pytest.mark.parametrize(
    ("level", "said", "compared"),
    [(120.0, "suspect", "inconclusive"), (150.0, "regression", "worse")],
)
def test_compare_says_the_same_of_one_run_a_side(
    store: RunHistory, level: float, said: str, compared: str
) -> None:
    store.run({"bot@1": {"b": with_repeats(100)}})
    store.run({"bot@2": {"b": with_repeats(level)}})
    assert the_one(store).verdict == said
    with reading(store.path) as connection:
        numbers = CaseNumbers(connection)
        sides = load_sides(connection, ["bot@1", "bot@2"], None, None, numbers)
        ((pair,),) = [compare(connection, sides, numbers, Asked(), ["e2e_ms.p50"]).pairs]
    (metric,) = pair.metrics
    assert metric.verdict == compared
    if said == "suspect":
        assert pair.winner() is None
        assert (metric.n_needed, metric.varies_by) == (5, "runs")
        assert metric.notes[-1] == FEW_DRAWS


@pytest.mark.parametrize(
    ("version", "baseline", "verdict"), [("2", "1", "regression"), ("1", "2", "improvement")]
)
def test_one_run_a_side_proves_what_no_run_variance_explains(
    store: RunHistory, version: str, baseline: str, verdict: str
) -> None:
    store.run({"bot@1": {"b": with_repeats(100)}})
    store.run({"bot@2": {"b": with_repeats(150)}})
    found = the_one(store, version=version, baseline=baseline)
    assert (found.verdict, found.unit_of_values, found.reason) == (verdict, "repeats", "")


@pytest.mark.parametrize(("slower", "verdict"), [(1.07, "suspect"), (1.5, "regression")])
def test_repeats_of_few_runs_prove_no_more_than_those_of_one(
    store: RunHistory, slower: float, verdict: str
) -> None:
    for version, levels in (("1", (100, 101)), ("2", (100, 101, 99))):
        for level in levels:
            factor = slower if version == "2" else 1.0
            store.run({f"bot@{version}": {"b": with_repeats(level * factor)}})
    found = the_one(store)
    assert (found.verdict, found.values) == (verdict, (10, 15))
    assert found.change == pytest.approx(slower * 100 / 100.5, rel=0.005)


@pytest.mark.parametrize("runs", [1, 2, 4, 5])
def test_a_version_against_itself_is_rarely_called_however_few_runs(
    tmp_path: Path, runs: int
) -> None:
    """What differs from run to run (4%) is twice what differs within one."""
    draw, called = np.random.default_rng(22), 0
    for trial in range(20):
        with closing(RunHistory(tmp_path / f"{trial}.db")) as history:
            for version in ("1", "2"):
                for hour in np.exp(draw.normal(0, 0.04, runs)):
                    values = 100 * hour * np.exp(draw.normal(0, 0.02, 5))
                    answers = [Answer(0, number, 0, value) for number, value in enumerate(values)]
                    of_run = Measured({"e2e_ms.p50": float(np.median(values))}, answers)
                    history.run({f"bot@{version}": {"b": of_run}})
            called += the_one(history).verdict in {"regression", "improvement"}
    assert called <= 4


def test_four_repeats_are_too_few(store: RunHistory) -> None:
    store.run({"bot@1": {"b": with_repeats(100)}})
    store.run({"bot@2": {"b": with_repeats(120, 4)}})
    found = the_one(store)
    assert found.verdict == "not enough data"
    assert "have 5 and 4" in found.reason
    assert found.change == pytest.approx(1.2, rel=0.02)


def test_a_slow_newest_run_does_not_hide_behind_older_ones_of_its_version(
    store: RunHistory,
) -> None:
    store.times(near(100, 5), "1")
    store.times([*near(100, 5), 125], "2")
    found = the_one(store)
    assert found.verdict == "suspect"
    assert "the newest run is worse than the 5 of 2" in found.reason
    store.times([100], "2")
    assert the_one(store).verdict == "no change seen"


def test_a_mended_newest_run_is_no_regression_for_older_ones_of_its_version(
    store: RunHistory,
) -> None:
    store.times(near(100, 5), "1")
    store.times([*near(130, 5), 100], "2")
    found = the_one(store)
    assert found.verdict == "suspect"
    assert "its newest is nearer to version 1" in found.reason


def test_a_regression_does_not_pass_with_the_next_version(store: RunHistory) -> None:
    for version, level in (("3", 4.0), ("4", 6.0), ("5", 6.0)):
        store.run({f"bot@{version}": {"b": with_repeats(level)}})
    found = the_one(store)
    assert (found.verdict, found.against) == ("regression", "version 3")
    assert any("version 3: 4 was worse and is not accepted" in note for note in found.notes)
    assert found.location is not None
    assert [found.location.first.version, found.location.last.version] == ["4", "5"]
    keep_accepted(store.path, acceptable(judged(store, version="4")))
    found = the_one(store)
    assert (found.verdict, found.against) == ("no change seen", "version 4")


def test_a_version_that_answered_nothing_hides_no_slow_one(store: RunHistory) -> None:
    store.run({"bot@6": {"b": with_repeats(100)}})
    dead = [Answer(case, repeat, failure="agent") for repeat in range(5) for case in range(3)]
    store.run({"bot@7": {"b": Measured({"reliability": 0.0}, dead)}})
    gone = next(one for one in judged(store) if one.metric == "e2e_ms.p50")
    assert (gone.verdict, gone.reason) == (
        "not enough data",
        "the newest run has no value of it",
    )
    store.run({"bot@8": {"b": with_repeats(130)}})
    found = next(one for one in judged(store) if one.metric == "e2e_ms.p50")
    assert (found.verdict, found.against) == ("regression", "version 6")
    assert "compared with version 6: no value of 7" in found.notes


def test_a_throughput_that_falls_to_nothing_is_critical(store: RunHistory) -> None:
    for version, level in (("1", 57.0), ("2", 0.0)):
        for _ in range(2):
            of_b = Measured({"request_throughput_per_s": level})
            store.run({f"bot@{version}": {"b": of_b}})
    found = the_one(store)
    assert (found.verdict, found.severity, found.now) == ("regression", "critical", 0)
    store.run({"bot@3": {"b": Measured({"request_throughput_per_s": 56.0})}})
    assert the_one(store).verdict != "regression"


def test_a_share_changes_by_no_more_than_a_hundred_points(store: RunHistory) -> None:
    for version, values in (("1", (1, 1, 0, 1, 1)), ("2", (0, 0, 1, 0, 0))):
        for value in values:
            store.run({f"bot@{version}": {"b": Measured({"accuracy": value})}})
    found = the_one(store)
    assert found.low is not None
    assert found.low >= -1


def test_a_high_percentile_of_repeats_needs_its_answers(store: RunHistory) -> None:
    for version in ("1", "2"):
        of_b = Measured({"e2e_ms.p99": 100.0}, repeats(100, 5, cases=3))
        store.run({f"bot@{version}": {"b": of_b}})
    found = the_one(store, metrics=("e2e_ms.p99",))
    assert (found.verdict, found.reason) == (
        "not enough data",
        "p99 of a repeat needs 299 answers (have 3)",
    )


def test_a_version_of_which_only_an_interrupted_run_is_there_says_so(store: RunHistory) -> None:
    store.times([100], "1")
    run = store.run({"bot@2": {"b": timed(100)}}, status="interrupted")
    with pytest.raises(UsageError, match=f"bot@2 was only measured in run {run}, .* interrupted"):
        judged(store, version="2")


def test_a_high_percentile_of_few_answers_is_judged_when_it_is_asked_for(
    store: RunHistory,
) -> None:
    for version, level in (("1", 100), ("2", 150)):
        for value in near(level, 5):
            store.run({f"bot@{version}": {"b": Measured({"e2e_ms.p95": value, "accuracy": 1})}})
    assert [one.metric for one in judged(store)] == ["accuracy"]
    assert the_one(store, metrics=("e2e_ms.p95",)).verdict == "regression"


def test_a_share_of_a_history_changes_by_no_more_than_a_hundred_points(store: RunHistory) -> None:
    for value in (*(1.0, 0.2) * 7, 0.0):
        store.run({"bot@1": {"b": Measured({"accuracy": value})}})
    found = the_one(store)
    assert found.gate == "history"
    assert found.low is not None
    assert found.low >= -1


def test_a_history_that_falls_to_nothing_is_a_regression_at_once(store: RunHistory) -> None:
    for value in (*near(57, 14), 0.0):
        store.run({"bot@1": {"b": Measured({"request_throughput_per_s": value})}})
    found = the_one(store)
    assert (found.verdict, found.severity, found.values) == ("regression", "critical", (14, 1))
    store.run({"bot@1": {"b": Measured({"request_throughput_per_s": 57.0})}})
    found = the_one(store)
    assert (found.verdict, found.gate) == ("no change seen", "history")
    assert "left out: 1 earlier with a value of 0, which has no ratio" in found.notes


def test_what_is_nothing_in_some_repeats_is_not_passed_over(
    store: RunHistory,
) -> None:
    for version, last in (("1", 1.0), ("2", 0.0)):
        answers = [Answer(0, repeat, e2e_ms=last if repeat == 4 else 100.0) for repeat in range(5)]
        store.run({f"bot@{version}": {"b": Measured({"e2e_ms.p50": 100.0}, answers)}})
    found = the_one(store)
    assert (found.verdict, found.reason) == ("not enough data", "a value of 0 has no ratio")


def test_an_improvement_is_none(store: RunHistory) -> None:
    store.times(near(100, 5), "1")
    store.times(near(80, 5), "2")
    assert the_one(store).verdict == "improvement"


def test_the_same_level_again_tells_what_would_have_been_seen(store: RunHistory) -> None:
    store.times(near(100, 6), "1")
    store.times(near(100, 6), "2")
    found = the_one(store)
    assert found.verdict == "no change seen"
    assert found.smallest is not None
    assert 0.025 < found.smallest < 0.05


@pytest.mark.parametrize(("level", "verdict"), [(150, "regression"), (107, "suspect")])
def test_the_newest_run_of_one_version_is_held_against_those_before(
    store: RunHistory, level: float, verdict: str
) -> None:
    for earlier in (100, 101):
        store.run({"bot@1": {"b": with_repeats(earlier)}})
    store.run({"bot@1": {"b": with_repeats(level)}})
    found = the_one(store)
    assert (found.verdict, found.against) == (verdict, "the 2 runs before")
    assert (found.values, found.unit_of_values) == ((10, 5), "repeats")
    assert found.change == pytest.approx(level / 100.5, rel=0.001)


def test_a_first_run_has_nothing_to_be_held_against(store: RunHistory) -> None:
    store.times([100])
    found = the_one(store)
    assert (found.verdict, found.reason) == (
        "not enough data",
        "there is no earlier run; run again after a change",
    )


def test_many_benchmarks_raise_the_bar(store: RunHistory) -> None:
    """A p of 0.005 counts alone, not among twenty others where nothing happened."""
    old = [98.0, 99.0, 100.0, 101.0, 102.0]
    slower = [value * 1.04 for value in old]
    quiet = [f"q{number}" for number in range(20)]
    for value in old:
        store.run({"bot@1": {"b": timed(value)} | {one: timed(value) for one in quiet}})
    for value, same in zip(slower, old, strict=True):
        store.run({"bot@2": {"b": timed(value)} | {one: timed(same) for one in quiet}})
    alone = the_one(store, benchmark="b")
    among = next(one for one in judged(store) if one.place.benchmark_id == "b")
    assert alone.p is not None
    assert among.p is not None
    assert alone.p < 0.05 < among.p
    assert (alone.verdict, among.verdict) == ("regression", "no change seen")
    assert alone.smallest is not None
    assert among.smallest is not None
    assert among.smallest > 1.3 * alone.smallest


def test_a_history_of_several_levels_hides_no_change(store: RunHistory) -> None:
    for version, level in (("1", 50), ("2", 100), ("3", 120)):
        store.times(near(level, 6), version)
    found = the_one(store)
    assert (found.verdict, found.against) == ("regression", "the level before")
    assert found.change == pytest.approx(1.2, rel=0.01)


def test_shares_change_by_points(store: RunHistory) -> None:
    for version, level in (("1", 0.9), ("2", 0.84)):
        for off in (-0.01, 0, 0.01, 0, 0.005):
            store.run({f"bot@{version}": {"b": Measured({"accuracy": level + off})}})
    found = the_one(store)
    assert (found.verdict, found.severity) == ("regression", "minor")
    assert found.change == pytest.approx(-0.06)
    assert found.worsening == pytest.approx(0.06)


def test_a_threshold_is_the_smallest_change_that_matters(store: RunHistory) -> None:
    store.times(near(100, 6), "1")
    store.times(near(108, 6), "2")
    assert the_one(store).verdict == "regression"
    assert the_one(store, threshold=0.2).verdict == "no change seen"
    assert the_one(store, threshold=0.2, thresholds={"e2e_ms.p50": 0.05}).verdict == "regression"


def test_what_costs_nothing_is_not_judged_by_factors(store: RunHistory) -> None:
    for version in ("1", "2"):
        for _ in range(5):
            of_version = Measured({"e2e_ms.p50": 100, "cost_usd_per_task": 0})
            store.run({f"bot@{version}": {"b": of_version}})
    assert [one.metric for one in judged(store)] == ["e2e_ms.p50"]
    asked = the_one(store, metrics=("cost_usd_per_task",))
    assert (asked.verdict, asked.reason) == ("not enough data", "a value of 0 has no ratio")


# A history


def test_a_run_out_of_the_ordinary_is_suspect_until_the_next_two(store: RunHistory) -> None:
    store.times(near(100, 14))
    (first,) = store.times([120], "2")
    assert the_one(store).verdict == "suspect"
    store.times([121], "2")
    assert the_one(store).verdict == "suspect"
    assert "(2 of 3 runs in a row)" in the_one(store).reason
    store.times([119], "2")
    found = the_one(store)
    assert (found.verdict, found.gate) == ("regression", "history")
    assert found.location is not None
    assert found.location.first.run_id == found.location.last.run_id == first
    assert found.against == "the 14 runs before"


def test_it_stays_one_while_the_runs_after_it_are_no_better(store: RunHistory) -> None:
    store.times(near(100, 20))
    (first, _) = store.times([125, 124], "2")
    for value in (124, 126, 125, 127, 124, 125):
        store.times([value], "2")
        found = the_one(store)
        assert found.verdict == "regression", value
        assert found.location is not None
        assert found.location.first.run_id == first


def test_an_outlier_is_forgotten_when_the_next_run_is_as_before(store: RunHistory) -> None:
    store.times([*near(100, 14), 140, 100])
    found = the_one(store)
    assert found.verdict == "no change seen"
    assert found.reason == "the run before was worse than predicted, the newest is not"
    store.times([140])
    assert the_one(store).verdict == "suspect"


def test_a_regression_that_nobody_accepts_stands_until_it_is_mended(store: RunHistory) -> None:
    store.times(near(100, 20))
    for value in near(120, 25):
        store.times([value])
        verdict = the_one(store).verdict
        assert verdict in {"suspect", "regression"}, value
    found = the_one(store)
    assert found.verdict == "regression"
    assert found.change == pytest.approx(1.2, rel=0.01)
    assert found.location is not None
    assert found.location.before is not None
    assert found.location.before.values["e2e_ms.p50"] < 102
    store.times([100])
    assert the_one(store).verdict == "no change seen"


def test_what_is_mended_at_once_is_told(store: RunHistory) -> None:
    store.times([*near(100, 20), *near(120, 4), 100])
    found = the_one(store)
    assert found.verdict == "no change seen"
    assert found.reason == "the runs before were worse, the newest is as it was before them"


def test_an_improvement_becomes_the_level_once_twelve_runs_confirm_it(store: RunHistory) -> None:
    store.times([*near(100, 15), *near(80, 14), 100])
    assert the_one(store).verdict == "suspect"


def test_what_creeps_is_seen_against_runs_long_ago(store: RunHistory) -> None:
    values = [value * 1.004**number for number, value in enumerate(near(100, 45, spread=0.005))]
    store.times(values)
    found = the_one(store, threshold=0.08)
    assert found.verdict == "regression"
    assert found.against == "the level of 20 to 32 runs ago"


def test_an_accepted_change_is_a_new_level(store: RunHistory) -> None:
    store.times([*near(100, 14), 120, 121, 119])
    changes = acceptable(judged(store))
    assert [(one.benchmark_id, one.metric) for one in changes] == [("b", "e2e_ms.p50")]
    keep_accepted(store.path, changes)
    found = the_one(store)
    assert found.verdict == "not enough data"
    assert "judged from 2026-01-01 on" in found.notes[0]
    store.times(near(120, 12))
    assert the_one(store).verdict == "no change seen"
    store.times([140])
    assert the_one(store).verdict == "suspect"


# What may be compared


def test_a_former_name_of_a_scorer_changes_no_history(store: RunHistory) -> None:
    for version, name in (("1", "normalised"), ("2", "normalized")):
        for value in near(100, 6):
            of_b = Measured({"e2e_ms.p50": value}, definition={"scorers": [name]})
            store.run({f"bot@{version}": {"b": of_b}})
    assert the_one(store).verdict != "not comparable"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"machine": "f2"}, "another machine"),
        ({"definition": {"concurrency": 8}}, "concurrency null then, 8 now"),
        ({"definition": {"load": {"rate": 5}}}, "load"),
    ],
)
def test_what_was_measured_otherwise_is_not_comparable(
    store: RunHistory, change: dict[str, object], words: str
) -> None:
    store.times(near(100, 6), "1")
    definition = change.get("definition", {})
    machine = str(change.get("machine", "f1"))
    for value in near(120, 6):
        of_b = Measured({"e2e_ms.p50": value}, definition=definition)  # type: ignore[arg-type]
        store.run({"bot@2": {"b": of_b}}, machine=machine)
    found = the_one(store)
    assert found.verdict == "not comparable"
    assert words in found.reason


def test_runs_that_may_be_compared_are_found_behind_others(store: RunHistory) -> None:
    store.times(near(100, 5), "1")
    for value in near(300, 5):
        store.run({"bot@2": {"b": timed(value)}}, machine="f2")
    store.times(near(120, 5), "2")
    found = the_one(store)
    assert (found.verdict, found.against) == ("regression", "version 1")
    assert found.notes == ("5 earlier runs left out: another machine",)


def test_another_machine_does_not_matter_to_what_is_right(store: RunHistory) -> None:
    for version, machine in (("1", "f1"), ("2", "f2")):
        for _ in range(5):
            store.run({f"bot@{version}": {"b": Measured({"accuracy": 0.9})}}, machine=machine)
    found = the_one(store)
    assert (found.verdict, found.smallest) == ("no change seen", None)
    assert found.notes == (f"the runs of a side are all alike: {NO_SPREAD}",)


def test_a_version_must_be_configured_as_before(store: RunHistory) -> None:
    for target in ("one", "two"):
        for value in near(100, 5):
            store.run({"bot@1": {"b": timed(value)}}, configuration=f'{{"target": "{target}"}}')
    found = the_one(store)
    assert 'the same version with another target "one" then, "two" now' in found.notes[0]


def test_names_and_notes_of_a_benchmark_may_change(store: RunHistory) -> None:
    store.times(near(100, 5), "1")
    for value in near(100, 5):
        of_b = Measured({"e2e_ms.p50": value}, definition={"notes": "new", "name": "B"})
        store.run({"bot@2": {"b": of_b}})
    assert the_one(store).verdict == "no change seen"


def test_points_of_a_sweep_are_places_of_their_own(store: RunHistory) -> None:
    for version, factor in (("1", 1.0), ("2", 1.3)):
        for value in near(100, 5):
            store.run({f"bot@{version}": {"b": Measured({"e2e_ms.p50": value * factor},
                                                       parameters={"rate": 5})}})  # fmt: skip
            store.run({f"bot@{version}": {"b": Measured({"e2e_ms.p50": value},
                                                       parameters={"rate": 9})}})  # fmt: skip
    verdicts = {one.place.words: one.verdict for one in judged(store)}
    assert verdicts == {"b (rate=5)": "regression", "b (rate=9)": "no change seen"}


def test_a_noisy_run_is_said_to_be_one(store: RunHistory) -> None:
    store.times(near(100, 14))
    assert the_one(store).notes == ()
    write_once(store.path, [lambda c: c.execute("UPDATE runs SET verdict='noisy'")])
    assert the_one(store).notes[0].startswith("the newest run is noisy")


def test_runs_that_did_not_end_do_not_count(store: RunHistory) -> None:
    store.times(near(100, 14))
    store.run({"bot@1": {"b": timed(200)}}, status="interrupted")
    assert the_one(store).verdict == "no change seen"


# Baselines


def test_a_named_baseline_is_taken_instead_of_the_history(store: RunHistory) -> None:
    store.times(near(100, 5), "1")
    store.times(near(120, 50), "2")
    store.times(near(120, 5), "3")
    assert the_one(store).verdict == "no change seen"
    found = the_one(store, baseline="1")
    assert (found.verdict, found.against) == ("regression", "version 1")


def test_a_run_and_a_tag_are_baselines_too(store: RunHistory) -> None:
    run_id = store.run({"bot@1": {"b": with_repeats(100)}}, tags=["release"])
    store.run({"bot@1": {"b": with_repeats(130)}})
    store.run({"bot@1": {"b": with_repeats(131)}})
    by_run = the_one(store, baseline=f"run:{run_id}")
    assert (by_run.verdict, by_run.values) == ("regression", (5, 5))
    assert the_one(store, baseline="tag:release").change == by_run.change


def test_the_baseline_of_a_benchmark_goes_before_that_of_all(store: RunHistory) -> None:
    store.times(near(100, 5), "1", ("b", "c"))
    store.times(near(120, 5), "2", ("b", "c"))
    store.times(near(120, 5), "3", ("b", "c"))
    keep_baseline(store.path, Baseline("bot", "default", "", "", "version", "2", ""))
    keep_baseline(store.path, Baseline("bot", "default", "", "b", "version", "1", ""))
    verdicts = {one.place.benchmark_id: one.verdict for one in judged(store)}
    assert verdicts == {"b": "regression", "c": "no change seen"}


def test_a_baseline_that_overrides_an_accepted_change_says_so(store: RunHistory) -> None:
    for version, level in (("1", 100.0), ("2", 120.0), ("3", 120.0)):
        store.times(near(level, 5), version)
    keep_accepted(store.path, acceptable(judged(store, version="2")))
    assert the_one(store).verdict == "no change seen"
    keep_baseline(store.path, Baseline("bot", "default", "", "", "version", "1", ""))
    found = the_one(store)
    assert (found.verdict, found.against) == ("regression", "version 1")
    assert found.notes[0] == (
        "the change accepted since 2026-01-01 is not looked at: baseline 'default' is set "
        "(version 1); `agentbench baseline remove bot` judges from it on"
    )
    asked = the_one(store, baseline="1")
    assert asked.notes[0].endswith("is not looked at: leave --baseline out to judge from it on")


def test_a_baseline_without_runs_says_so(store: RunHistory) -> None:
    store.times(near(100, 5), "1", ("b",))
    store.times(near(100, 5), "2", ("b", "c"))
    found = next(one for one in judged(store, baseline="1") if one.place.benchmark_id == "c")
    assert found.reason == "version 1 was not measured here"


def test_an_older_version_can_be_judged(store: RunHistory) -> None:
    for version, level in (("1", 100), ("2", 120), ("3", 90)):
        store.times(near(level, 5), version)
    assert the_one(store, version="2").verdict == "regression"
    assert the_one(store).verdict == "improvement"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"agent": "bott"}, "no agent 'bott' \\(did you mean \"bot\""),
        ({"baseline": "11"}, "no version '11' of bot"),
        ({"baseline": "tag:none"}, "no run of bot has the tag 'none'"),
        ({"baseline": "runs:x"}, "expected VERSION, run:ID or tag:NAME"),
        ({"version": "9"}, "no version '9' of bot; there are 1"),
        ({"metrics": ("e2e_ms",)}, "no metric 'e2e_ms'"),
        ({"metrics": ("sent_per_s",)}, "neither good nor bad"),
        ({"benchmark": "bb"}, 'bb: bot has none \\(did you mean "b"'),
    ],
)
def test_a_wrong_name_is_told(store: RunHistory, wanted: dict[str, object], message: str) -> None:
    store.times([100])
    with pytest.raises(UsageError, match=message):
        judged(store, **wanted)


# Long histories


def test_only_the_newest_runs_of_each_benchmark_are_read(
    store: RunHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regression, "LOOKED_AT", 10)
    store.times(near(120, 15), "2", ("seldom",))
    store.times(near(100, 5), "1")
    store.times(near(120, 40), "2")
    with reading(store.path) as connection:
        newest = judge_agent(connection, RegressionAsked("bot"))
        older = judge_agent(connection, RegressionAsked("bot", version="1"))
        held = judge_agent(connection, RegressionAsked("bot", baseline="1"))
    read = {place.benchmark_id: len(points) for place, points in newest.histories.items()}
    assert read == {"b": 10, "seldom": 10}
    assert [[point.version for point in one.new] for one in older.findings] == [["1"]]
    verdicts = {one.place.benchmark_id: one.verdict for one in held.findings}
    assert verdicts["b"] == "regression"
