"""A comparison leads with the verdict and with accuracy; all else supports them."""

from __future__ import annotations

from typing import Literal

import pytest
from compare_documents import benchmark, comparison, metric
from msgspec.structs import replace

from agentbench_tui.contracts.compare import CircumstanceDifference, PairVerdict
from agentbench_tui.presentation.comparison.report import comparison_report
from agentbench_tui.presentation.comparison.verdict import advice, pair_verdict
from agentbench_tui.presentation.report import Section

COST = metric(metric="cost_usd_per_task", unit="USD", a=0.004, b=0.001, ratio=0.25, low=0.2,
              high=0.3, difference=-0.003, verdict="better", n_needed=None)  # fmt: skip
BETTER = PairVerdict(verdict="better", winner="y", settled=False, better=1, worse=0, equivalent=0,
                     inconclusive=1)  # fmt: skip


def sections(*metrics: object, **changes: object) -> list[Section]:
    return [*comparison_report(comparison(*metrics, **changes)).sections]  # type: ignore[arg-type]


def test_the_verdict_comes_first_and_then_accuracy_wherever_it_was_measured() -> None:
    first, table, *_ = sections(COST, metric(), overall=BETTER, recommendations=("take y: cheap",))
    assert (
        first.title == "y is better than x: better in cost_usd_per_task, inconclusive in accuracy."
    )
    assert first.is_answer
    assert [*first.sentences] == [
        "Accuracy: y 50.0%, x 50.0% (0.0 pp [-10.0, +10.0], inconclusive).",
        "Take y: cheap.",
    ]
    assert [row["metric"] for row in table.tables[0].rows] == ["accuracy", "cost_usd_per_task"]


@pytest.mark.parametrize("several", [False, True])
def test_a_note_of_every_benchmark_is_told_once(several: bool) -> None:
    both = (benchmark(notes=("same", "first")), benchmark(benchmark_id="c", notes=("same",)))
    found = sections(metric(), benchmarks=both if several else both[:1])
    assert [words for one in found for words in one.sentences if words == "same"] == ["same"]
    assert ("On all 2 benchmarks:" in [one.title for one in found]) is several


def test_the_same_values_are_not_judged() -> None:
    same = CircumstanceDifference(
        what="same", words="both sides are the same file", forbids_times=False,
        forbids_winner=False, is_identical=True,
    )  # fmt: skip
    (only,) = sections(metric(), benchmarks=(benchmark(differences=(same,)),))
    assert only.title == "A x, B y: both sides are the same file, so there is nothing to compare."
    assert not only.sentences


def test_records_have_a_row_for_each_metric_with_both_names() -> None:
    report = comparison_report(comparison(COST, metric()))
    assert [(row["control"], row["candidate"], row["metric"]) for row in report.records.rows] == [
        ("x", "y", "cost_usd_per_task"),
        ("x", "y", "accuracy"),
    ]
    assert [one.key for one in report.records.columns][:3] == ["control", "candidate", "metric"]


def test_a_loss_is_not_hidden_behind_what_is_still_open() -> None:
    """Nobody wins while the latency is open; the lost accuracy is certain all the same."""
    lost = metric(verdict="worse", difference=-0.4, low=-0.53, high=-0.29)
    open_one = metric(metric="e2e_ms", unit="ms")
    open_pair = PairVerdict(verdict="tie", winner=None, settled=False, better=0, worse=1,
                            equivalent=0, inconclusive=1)  # fmt: skip
    verdict = pair_verdict(comparison(lost, open_one, overall=open_pair))
    assert verdict.words == "y is worse than x in accuracy, inconclusive in e2e_ms."
    assert verdict.outcome == "bad"


def test_more_than_three_decided_metrics_are_counted() -> None:
    names = ("accuracy", "e2e_ms", "cost_usd_per_task", "reliability")
    overall = PairVerdict(verdict="better", winner="y", settled=True, better=3, worse=0,
                          equivalent=0, inconclusive=0)  # fmt: skip
    many = [metric(metric=name, verdict="better") for name in names]
    three = pair_verdict(comparison(*many[:3], overall=overall))
    assert three.words == ("y is better than x: better in accuracy, e2e_ms and cost_usd_per_task.")
    four = comparison(*many, overall=replace(overall, better=4))
    assert pair_verdict(four).words == "y is better than x: better in 4 metrics."


@pytest.mark.parametrize(("what", "mark"), [("harness", " (noisy)"), ("seeds", "")])
def test_times_that_were_disturbed_are_marked_where_the_verdict_names_them(
    what: Literal["harness", "seeds"], mark: str
) -> None:
    disturbed = CircumstanceDifference(
        what=what, words="A is noisy", forbids_times=False, forbids_winner=False,
        is_identical=False,
    )  # fmt: skip
    overall = PairVerdict(verdict="trade-off", winner=None, settled=False, better=1, worse=1,
                          equivalent=0, inconclusive=0)  # fmt: skip
    quicker = metric(metric="e2e_ms", unit="ms", verdict="better")
    pair = comparison(
        quicker, metric(verdict="worse"), overall=overall,
        benchmarks=(benchmark(differences=(disturbed,)),),
    )  # fmt: skip
    assert pair_verdict(pair).words == (
        f"No winner, a trade-off: y is better in e2e_ms{mark}, worse in accuracy."
    )


def test_a_metric_of_several_benchmarks_is_named_with_its_benchmark() -> None:
    overall = PairVerdict(verdict="trade-off", winner=None, settled=False, better=1, worse=1,
                          equivalent=0, inconclusive=0)  # fmt: skip
    pair = comparison(
        metric(verdict="better", benchmark_id="easy"), metric(verdict="worse", benchmark_id="hard"),
        overall=overall,
    )  # fmt: skip
    assert pair_verdict(pair).words == (
        "No winner, a trade-off: y is better in accuracy on easy, worse in accuracy on hard."
    )


def test_only_the_name_of_a_side_keeps_its_spelling_at_the_start_of_advice() -> None:
    pair = comparison(metric(), recommendations=("measure more", "y is cheaper"))
    assert advice(replace(pair, b="m")) == ["Measure more.", "Y is cheaper."]
    assert advice(pair) == ["Measure more.", "y is cheaper."]
