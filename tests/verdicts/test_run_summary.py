"""Runs as numbers: one window for all of them, and who did not reach it is counted."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.training.run_summary import (
    Run,
    SummaryKind,
    paired_by_seed,
    seed_of_name,
    summarized,
)
from agentbench_tui.verdicts.training.training_run import Series

USUAL = SummaryKind()


def run(
    name: str,
    value: Callable[[float], float] = lambda step: step,
    up_to: int = 100,
    every: int = 10,
) -> Run:
    steps = np.arange(0.0, up_to + 1, every)
    return Run(name, series=Series(steps, np.array([value(one) for one in steps]), None, 0))


def values(runs: list[Run], kind: SummaryKind = USUAL) -> list[float | None]:
    return [one.value for one in summarized(runs, kind).runs]


def test_the_area_is_the_mean_of_the_metric_over_the_window_and_ignores_how_often_is_logged() -> (
    None
):
    runs = [run("coarse", every=10), run("fine", every=1)]
    assert values(runs) == pytest.approx([87.5, 87.5])  # of a line: the middle of 75 to 100
    assert values(runs, SummaryKind(window="first", percent=0.5)) == pytest.approx([25, 25])
    assert values(runs, SummaryKind(step_min=20, step_max=30)) == pytest.approx([25, 25])
    assert values(runs, SummaryKind(step_min=20, step_max=30, normalize=False)) == pytest.approx(
        [250, 250]
    )
    assert summarized(runs, SummaryKind()).words == "mean over steps 75 to 100"


def test_the_last_n_values() -> None:
    assert values([run("a")], SummaryKind("last_n", n=3)) == [90]
    (short,) = summarized([run("a", every=50)], SummaryKind("last_n", n=4)).runs
    assert (short.value, short.reason) == (None, "has 3 values of 4")


def test_a_run_that_stopped_early_has_a_reason_and_no_value() -> None:
    for kind in (SummaryKind(), SummaryKind("last_n")):
        found = summarized([run("whole"), run("crashed", up_to=40)], kind).runs
        assert found[0].is_finished
        assert (found[1].value, found[1].reason) == (None, "stopped at step 40")


def test_runs_that_end_a_little_apart_share_the_window_of_the_shorter() -> None:
    found = summarized([run("a"), run("b", up_to=98, every=1)], SummaryKind())
    assert all(one.is_finished for one in found.runs)
    assert found.words == "mean over steps 74 to 98"
    assert found.runs[0].value == pytest.approx(found.runs[1].value)


@pytest.mark.parametrize("kind", [SummaryKind(), SummaryKind("last_n", n=2)])
def test_nan_in_the_window_is_a_run_that_did_not_finish(kind: SummaryKind) -> None:
    (late,) = summarized([run("a", lambda step: math.nan if step >= 90 else 1)], kind).runs
    assert late.value is None
    assert "not finite" in late.reason
    (early,) = summarized([run("a", lambda step: math.nan if step < 20 else 1)], kind).runs
    assert early.value == 1


def test_a_value_of_the_store_stays_and_a_missing_run_stays_missing() -> None:
    runs = [Run("stored", value=3.0), Run("missing", reason="no file has its series")]
    assert summarized(runs, SummaryKind()).runs == tuple(runs)


def test_a_window_that_means_nothing_is_refused() -> None:
    for bad in ({"step_min": 1.0}, {"step_min": 2.0, "step_max": 1.0}):
        with pytest.raises(UsageError, match="step_m"):
            SummaryKind(**bad)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not for last_n"):
        SummaryKind("last_n", step_min=1, step_max=2)


@pytest.mark.parametrize(
    ("name", "seed"),
    [("base.vit.seed1072", 1072), ("r.seed3.run07", 3), ("seed_5", 5), ("plain", None)],
)
def test_the_seed_that_a_name_tells(name: str, seed: int | None) -> None:
    assert seed_of_name(name) == seed


def test_runs_of_one_seed_are_a_pair_unless_a_side_has_it_twice() -> None:
    control = [Run("a", 1), Run("b", 2), Run("c", 3), Run("d", 3), Run("e")]
    candidate = [Run("z", 3), Run("y", 2), Run("x", 1), Run("w", 9)]
    of_control, of_candidate, alone = paired_by_seed(control, candidate)
    assert [one.name for one in of_control] == ["a", "b"]
    assert [one.name for one in of_candidate] == ["x", "y"]
    assert alone == 5
