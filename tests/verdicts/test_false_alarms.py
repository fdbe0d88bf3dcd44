"""How often two that are alike are called different, or two that differ alike: seeded rates."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from evidence_made import asked, noise
from scipy import stats

from agentbench_tui.analysis.intervals.interval import clustered_se
from agentbench_tui.analysis.power import sample_size_mcnemar, sample_size_paired
from agentbench_tui.verdicts.comparison.comparison import FEW_REPEATS, Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

Draw = np.random.Generator
Sides = tuple[TaskEvidence, TaskEvidence]


def compared(metric: str, a: TaskEvidence, b: TaskEvidence) -> Comparison:
    found = compare_metric(metric, a, b, Asked(resamples=300))
    assert found is not None
    return judged(found, found.p_tested)


def count(verdicts: set[str], metric: str, make: Callable[[Draw], Sides], trials: int) -> int:
    draw = np.random.default_rng(20261128)
    return sum(compared(metric, *make(draw)).verdict in verdicts for _ in range(trials))


def five_percent(trials: int) -> float:
    """What a rate of 5% exceeds once in a thousand times."""
    return float(stats.binom.ppf(0.999, trials, 0.05))


CALLED = {"better", "worse"}


def of_cases(first: int, values: np.ndarray) -> TaskEvidence:
    """Times [repeats, cases], the cases numbered from `first` on."""
    found = asked(values.shape[1], values.shape[0], e2e_ms=values)
    return replace(found, case=found.case + first, cluster=found.cluster + first)


def right(only_a: int, only_b: int, both: int, neither: int) -> Sides:
    a = [1] * only_a + [0] * only_b + [1] * both + [0] * neither
    b = [0] * only_a + [1] * only_b + [1] * both + [0] * neither
    return asked(len(a), accuracy=a), asked(len(b), accuracy=b)


@pytest.mark.parametrize(("repeats", "cases"), [(2, 1), (3, 5), (5, 4)])
def test_few_cases_all_right_are_not_equivalent_however_often_asked(
    repeats: int, cases: int
) -> None:
    sides = [asked(cases, repeats, accuracy=np.ones((repeats, cases))) for _ in "ab"]
    found = compared("accuracy", *sides)
    assert found.verdict == "inconclusive"
    wilson = 1.645**2 / (cases + 1.645**2)  # of none of so many cases wrong
    assert found.inner_high == pytest.approx(wilson, abs=1e-3)


@pytest.mark.parametrize(
    ("cases", "verdict", "needs"),
    [(14, "inconclusive", 59), (58, "inconclusive", 59), (59, "equivalent", None)],
)
def test_a_ratio_that_never_varied_is_equivalent_from_59_cases_on(
    cases: int, verdict: str, needs: int | None
) -> None:
    sides = [asked(cases, output_tokens=np.full(cases, 5.0)) for _ in "ab"]
    found = compared("output_tokens", *sides)
    assert (found.verdict, found.n_needed) == (verdict, needs)


def test_a_ratio_of_fewer_than_15_cases_is_not_equivalent() -> None:
    a = np.linspace(100, 200, 15)
    b = a * np.tile([1.001, 0.999, 1.0], 5)
    for cases, verdict in ((14, "inconclusive"), (15, "equivalent")):
        sides = (asked(cases, output_tokens=one[:cases]) for one in (a, b))
        assert compared("output_tokens", *sides).verdict == verdict


def test_none_that_differ_are_equivalent_where_exactly_the_margin_is_excluded() -> None:
    # 1 - 0.05^(1/n) < 0.02 from n = 149 on
    assert compared("accuracy", *right(0, 0, 74, 74)).verdict == "inconclusive"
    assert compared("accuracy", *right(0, 0, 75, 74)).verdict == "equivalent"


def test_two_points_apart_is_hardly_ever_equivalent() -> None:
    def two_points_less(draw: Draw) -> Sides:
        only_a, both, neither = draw.multinomial(100, [0.02, 0.49, 0.49]).tolist()
        return right(only_a, 0, both, neither)

    assert count({"equivalent"}, "accuracy", two_points_less, 200) <= five_percent(200)


def test_cases_that_one_side_alone_has_say_nothing_between_repeats() -> None:
    hard = np.random.default_rng(3).normal(0, 0.5, 60)

    def three_in_common(draw: Draw) -> Sides:
        a, b = (
            of_cases(first, np.exp(hard[first : first + 30] + draw.normal(0, 0.05, (5, 30))))
            for first in (0, 27)
        )
        return a, b

    found = compared("e2e_ms", *three_in_common(np.random.default_rng(1)))
    assert "of the 3 of 30 cases that both have a value of" in found.notes
    assert found.ratio == pytest.approx(1, abs=0.1)
    assert count(CALLED, "e2e_ms", three_in_common, 60) <= five_percent(60)


def test_an_agent_that_fails_the_slow_ones_is_not_faster() -> None:
    hard = np.linspace(0, 1.5, 10)

    def failing(draw: Draw) -> Sides:
        a, b = (np.exp(hard + draw.normal(0, 0.1, (5, 10))) for _ in "ab")
        b[:, 4:] = np.nan
        return asked(10, 5, e2e_ms=a), asked(10, 5, seed=7, e2e_ms=b)

    found = compared("e2e_ms", *failing(np.random.default_rng(1)))
    assert "30 of 50 answers of B have no value: left out" in found.notes
    for metric in ("e2e_ms", "e2e_ms.p50"):
        assert count(CALLED, metric, failing, 60) <= five_percent(60)


def test_a_repeat_in_which_the_slow_ones_failed_is_not_a_fast_one() -> None:
    values = np.exp(np.tile(np.linspace(0, 2, 4), (3, 1)))
    a, b = values.copy(), values.copy()
    b[0, 2:] = np.nan
    found = compared("e2e_ms", asked(4, 3, e2e_ms=a), asked(4, 3, e2e_ms=b))
    assert found.ratio == pytest.approx(1)


@pytest.mark.parametrize("first_of_b", [0, 40])
def test_luck_of_repeats_and_of_cases_add_up(first_of_b: int) -> None:
    """As large as each other: the larger of two p would call 8 to 11% different."""
    cases, repeats = 40, 8

    def alike(draw: Draw) -> Sides:
        a, b = (
            of_cases(
                first,
                np.exp(
                    draw.normal(0, 0.2 / np.sqrt(2), cases)
                    + draw.normal(0, 0.063, (repeats, 1))
                    + draw.normal(0, 0.05, (repeats, cases))
                ),
            )
            for first in (0, first_of_b)
        )
        return a, b

    assert count(CALLED, "e2e_ms", alike, 150) <= five_percent(150)
    found = compared("e2e_ms", *alike(np.random.default_rng(1)))
    assert not any(FEW_REPEATS in note for note in found.notes)


def test_only_cases_vary_then_it_is_their_t_test() -> None:
    draw = np.random.default_rng(2)
    d = draw.normal(0.03, 0.1, 20)
    a, b = np.ones((4, 20)), np.tile(np.exp(d), (4, 1))
    found = compared("e2e_ms", asked(20, 4, e2e_ms=a), asked(20, 4, e2e_ms=b))
    expected = stats.ttest_1samp(d, 0)
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = stats.t.interval(0.95, 19, d.mean(), stats.sem(d))
    assert (found.low, found.high) == pytest.approx(np.exp(interval))
    assert found.varies_by == "cases"


def test_effects_beyond_the_margin_need_as_many_as_find_what_remains_of_them() -> None:
    """What was seen in few cases is drawn towards nothing by its own variance."""
    found = compared("accuracy", *right(1, 5, 18, 10))
    assert found.verdict == "inconclusive"
    seen = 4 / 34
    variance = (6 - 4**2 / 34) / 33 / 34
    remains = seen * (1 - variance / seen**2)
    assert found.effect_assumed == pytest.approx(remains)
    apart = 7 / 34  # one more than differ
    assert found.n_needed == sample_size_mcnemar((apart - remains) / 2, (apart + remains) / 2)
    assert found.n_to_exclude is not None
    assert found.n_to_exclude > found.n_needed

    draw = np.random.default_rng(4)
    a, b = np.ones(10), np.exp(draw.normal(0.3, 0.5, 10))
    found = compared("memory_peak_mb", asked(10, memory_peak_mb=a), asked(10, memory_peak_mb=b))
    assert found.verdict == "inconclusive"
    d = np.log(b)
    remains = d.mean() * (1 - d.var(ddof=1) / 10 / d.mean() ** 2)
    assert found.effect_assumed == pytest.approx(np.exp(remains))
    assert found.n_needed == sample_size_paired(remains / d.std(ddof=1)).n


def test_equal_agents_run_at_the_proposed_size_are_mostly_found_equivalent() -> None:
    """Where nothing differs 80% are meant; a first run of 100 cases, 20% differ."""
    draw = np.random.default_rng(6206)

    def run(cases: int) -> Comparison:
        kind = draw.choice(4, cases, p=[0.1, 0.1, 0.4, 0.4])
        a, b = np.isin(kind, (0, 2)), np.isin(kind, (1, 2))
        return compared("accuracy", asked(cases, accuracy=a), asked(cases, accuracy=b))

    settled = tried = 0
    while tried < 40:
        first = run(100)
        if first.verdict == "inconclusive" and first.n_to_exclude is not None:
            tried += 1
            settled += run(first.n_to_exclude).verdict == "equivalent"
    assert settled >= 25  # 62%; 80% less three standard errors is 61%


def test_what_goes_together_needs_more() -> None:
    draw = np.random.default_rng(5)
    clusters = np.repeat(np.arange(10), 20)
    d = np.repeat(draw.normal(0, 0.1, 10), 20) + draw.normal(0, 0.02, 200)
    d -= d.mean()
    a, b = asked(200, accuracy=np.full(200, 0.5)), asked(200, accuracy=0.5 + d)
    found = compared("accuracy", replace(a, cluster=clusters), replace(b, cluster=clusters))
    assert found.sd == pytest.approx(clustered_se(d, clusters, "CR1") * np.sqrt(200))
    assert found.n_needed is not None
    assert found.n_needed > 20 * 200 * (0.1 / 0.5) ** 2  # of independent ones 200 are plenty


def test_five_clusters_are_too_few_however_much_differs() -> None:
    clusters = np.repeat(np.arange(5), 40)
    sides = (replace(asked(200, accuracy=np.full(200, x)), cluster=clusters) for x in (0, 1))
    found = compared("accuracy", *sides)
    assert (found.verdict, found.n_needed) == ("inconclusive", 240)
    assert "5 clusters: a verdict needs 6" in found.notes


@pytest.mark.parametrize("shape", ["AR(1) 0.7", "bursts"])
def test_each_side_is_seen_in_its_own_order_of_asking(shape: str) -> None:
    hard = np.exp(np.random.default_rng(1).normal(0, 0.3, 30))

    def shuffled(draw: Draw) -> Sides:
        a, b = (
            replace(asked(30, e2e_ms=noise(shape, 1, 30, draw)[0] * hard[order]), case=order)
            for order in (draw.permutation(30), draw.permutation(30))
        )
        return replace(a, cluster=a.case), replace(b, cluster=b.case)

    assert count(CALLED, "e2e_ms", shuffled, 100) <= five_percent(100)


def test_the_interval_that_is_shown_agrees_with_the_p_that_decides() -> None:
    draw = np.random.default_rng(6)
    for _ in range(60):
        a, b = (asked(30, e2e_ms=noise("AR(1) 0.7", 1, 30, draw)) for _ in "ab")
        found = compared("e2e_ms", a, b)
        assert found.low is not None
        assert found.high is not None
        assert found.p_tested is not None
        if not found.low <= 1 <= found.high:
            assert found.p_tested < 0.06  # the bootstrap's ends are not those of t


def test_other_seeds_leave_the_cases_the_same() -> None:
    hard = np.random.default_rng(1).normal(0, 0.4, 30)

    def slower(draw: Draw) -> Sides:
        a, b = (np.exp(at + hard + draw.normal(0, 0.1, (3, 30))) for at in (0, np.log(1.2)))
        return asked(30, 3, e2e_ms=a), asked(30, 3, seed=7, e2e_ms=b)

    found = compared("e2e_ms", *slower(np.random.default_rng(1)))
    assert (found.paired, found.n) == (True, 30)
    assert count({"worse"}, "e2e_ms", slower, 20) == 20


def test_repeats_of_a_run_are_no_draws_of_what_makes_runs_differ() -> None:
    runs, repeats, cases = 4, 5, 10
    rows = [{"run_id": f"r{run}"} for run in range(runs)]

    def alike(draw: Draw) -> Sides:
        sides = []
        for _ in "ab":
            luck = draw.normal(0, 0.04, (runs, 1)) + draw.normal(0, 0.02, (runs, repeats))
            values = np.exp(luck.reshape(-1, 1) + draw.normal(0, 0.05, (runs * repeats, cases)))
            side = asked(cases, runs * repeats, e2e_ms=values)
            sides.append(replace(side, executions=rows, repeats_of=[repeats] * runs).by_run())
        return sides[0], sides[1]

    assert alike(np.random.default_rng(1))[0].repeats == runs
    assert count(CALLED, "e2e_ms", alike, 100) <= five_percent(100)


def test_a_total_of_a_run_is_the_mean_over_its_repeats() -> None:
    side = replace(
        asked(1, 5, accuracy=np.ones(5)),
        executions=[{"run_id": one} for one in ("x", "y", "x")],
        repeats_of=[2, 1, 2],
        totals={"tokens_used": np.array([10, 20, 7, np.nan, 60.0])},
    )
    found = side.by_run()
    assert found.repeats == 2
    assert found.per_repeat("tokens_used").tolist() == [30, 7]
    assert found.repeat.tolist() == [0, 0, 1, 0, 0]
