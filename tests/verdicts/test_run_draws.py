"""Times of few runs: which runs are independent draws, and what is said of fewer than three."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from evidence_made import Floats
from scipy import stats

from agentbench_tui.verdicts.comparison.compare import compare_evidence
from agentbench_tui.verdicts.comparison.comparison import FEW_REPEATS, Asked, Comparison
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.comparison.run_draws import run_draws
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.files.sample_folder import read_samples

CASES = 30
HOW = Asked(resamples=1_000)


def runs(times: Floats, begun: Sequence[int], repeats: int = 1) -> TaskEvidence:
    """`times` by repeat and case, of runs that began at these times."""
    rows = [{"run_id": f"{at:03}", "created_at": f"{at:03}"} for at in begun]
    count = len(times)
    case = np.tile(np.arange(CASES), count)
    of = np.repeat(np.arange(count), CASES)
    values = {"e2e_ms": times.reshape(-1)}
    numbers = [repeats] * len(rows)
    seeds = np.zeros(times.size, np.int64)
    return TaskEvidence(rows, case, case, seeds, of, values, count, repeats_of=numbers)


def made(draw: np.random.Generator, levels: Sequence[float]) -> Floats:
    hard = np.random.default_rng(1).normal(0, 0.3, CASES)
    noise = draw.normal(0, 0.02, (len(levels), CASES))
    return np.asarray(100 * np.exp(np.array(levels)[:, None] + hard + noise))


def compared(a: TaskEvidence, b: TaskEvidence) -> tuple[Comparison, str]:
    ((found,), notes) = compare_evidence(a, b, HOW, ["e2e_ms"])
    return judged(found, found.p_tested), " ".join(notes)


@pytest.mark.parametrize(
    ("order", "draws"),
    [
        ("AB", (1, 1)),
        ("ABAB", (2, 2)),
        ("AABB", (1, 1)),
        ("AAAAABBBBB", (1, 1)),
        ("BBBAAA", (1, 1)),
        ("AABBAABB", (2, 2)),
        ("AABBBA", (2, 1)),
        ("ABABAB", (3, 3)),
        ("ABBAABBAAB", (5, 5)),
    ],
)
def test_runs_that_no_other_interrupts_are_one_draw(order: str, draws: tuple[int, int]) -> None:
    drawn = np.random.default_rng(1)
    sides = []
    for name in "AB":
        begun = [at for at, side in enumerate(order) if side == name]
        sides.append(runs(made(drawn, [0.0] * len(begun)), begun))
    found = run_draws(*sides)
    assert found is not None
    assert (found.a, found.b) == draws
    assert bool(found.note) == (min(draws) < 3)


def test_both_agents_of_one_run_share_its_luck() -> None:
    draw = np.random.default_rng(2)
    a, b = (runs(made(draw, [level] * 5), [1], 5) for level in (0.0, 0.06))
    assert run_draws(a, b) is None
    found, notes = compared(a, b)
    assert (found.verdict, found.draws, notes) == ("worse", None, "")


def test_the_interval_of_one_run_each_has_the_variance_between_runs_in_it() -> None:
    """95%: 1.96 √2 × 5% on logarithms, and next to nothing for the answers' own noise."""
    draw = np.random.default_rng(3)
    found, notes = compared(
        runs(made(draw, [0.0] * 5), [1], 5), runs(made(draw, [0.06] * 5), [2], 5)
    )
    assert found.low is not None
    assert found.high is not None
    half = np.log(found.high / found.low) / 2
    assert half == pytest.approx(stats.norm.ppf(0.975) * np.sqrt(2) * 0.05, rel=0.02)
    assert found.p_value is not None
    assert found.p_value == pytest.approx(2 * stats.norm.sf(0.06 / 0.0707), abs=0.05)
    assert (found.verdict, found.varies_by) == ("inconclusive", "runs")
    assert "one run per side" in notes
    assert "between-run" in found.method
    assert not any(FEW_REPEATS in note for note in found.notes)


def test_one_repeat_of_one_run_each_needs_runs_and_not_repeats() -> None:
    draw = np.random.default_rng(13)
    a, b = made(draw, [0.0]), made(draw, [0.06])
    found, _ = compared(runs(a, [1]), runs(b, [2]))
    assert not any(FEW_REPEATS in note for note in found.notes)
    together, _ = compared(runs(a, [1]), runs(b, [1]))
    assert any(FEW_REPEATS in note for note in together.notes)


@pytest.mark.parametrize(
    ("percent", "verdict"),
    [(0, "inconclusive"), (20, "inconclusive"), (40, "worse"), (-29, "better")],
)
def test_one_run_each_decides_on_large_differences_alone(percent: int, verdict: str) -> None:
    draw = np.random.default_rng(4)
    level = float(np.log1p(percent / 100))
    a, b = (runs(made(draw, [one] * 5), [at], 5) for at, one in ((1, 0.0), (2, level)))
    found, _ = compared(a, b)
    assert found.verdict == verdict


def test_two_runs_that_differ_much_widen_the_interval_more_than_is_assumed() -> None:
    draw = np.random.default_rng(5)
    a = runs(made(draw, [0.0, 0.4]), [1, 3])
    found, notes = compared(a, runs(made(draw, [0.5, 0.9]), [2, 4]))
    assert found.low is not None
    assert found.high is not None
    # both sides: two runs 0.4 apart have a variance of 0.08, of which √(0.08 (1/2 + 1/2)) = 0.283
    half = np.log(found.high / found.low) / 2
    assert half == pytest.approx(stats.norm.ppf(0.975) * 0.283, rel=0.05)
    assert found.verdict == "inconclusive"
    assert "2 runs per side" in notes


def test_five_runs_made_in_one_sitting_are_one_draw_and_in_turn_five() -> None:
    draw = np.random.default_rng(6)
    a, b = made(draw, [0.0] * 5), made(draw, [0.1] * 5)
    in_turn, notes = compared(runs(a, [1, 3, 5, 7, 9]), runs(b, [2, 4, 6, 8, 10]))
    assert (in_turn.verdict, in_turn.draws, notes) == ("worse", 5, notes)
    assert "Speed" not in notes
    sitting, notes = compared(runs(a, [1, 2, 3, 4, 5]), runs(b, [6, 7, 8, 9, 10]))
    assert (sitting.verdict, sitting.draws) == ("inconclusive", 1)
    assert "count as one. Alternate them" in notes


def test_times_of_few_runs_are_never_equivalent() -> None:
    draw = np.random.default_rng(7)
    a, b = made(draw, [0.0] * 2), made(draw, [0.0] * 2)
    sides = runs(a, [1, 3]), runs(b, [2, 4])
    found, _ = compare_evidence(*sides, Asked(margin=0.5, resamples=1_000), ["e2e_ms"])
    assert judged(found[0], found[0].p_tested).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("column", "draws", "verdict"),
    [("repeat", 1, "inconclusive"), ("run", 5, "worse"), ("iteration", 1, "inconclusive")],
)
def test_a_file_is_one_run_unless_it_tells_runs(
    tmp_path: Path, column: str, draws: int, verdict: str
) -> None:
    draw, numbers = np.random.default_rng(8), CaseNumbers(None)  # type: ignore[arg-type]
    sides = []
    for name, level in (("a.csv", 0.0), ("b.csv", 0.1)):
        times = made(draw, [level] * 5)
        rows = [f"case,{column},e2e_ms"]
        rows += [f"c{c},{r},{times[r, c]:.3f}" for r in range(5) for c in range(CASES)]
        (tmp_path / name).write_text("\n".join(rows))
        (evidence,) = read_samples(tmp_path / name, numbers).benchmarks.values()
        sides.append(evidence)
    found, notes = compared(sides[0], sides[1])
    assert (found.draws, found.verdict) == (draws, verdict)
    assert ("`run`" in notes) == (draws == 1)


@pytest.mark.parametrize("order", ["AB", "ABAB", "AAABBB"])
def test_equal_agents_are_rarely_called_different(order: str) -> None:
    """Runs differ by 6% and days by 5%; by their answers alone most such pairs were."""
    draw, called, trials = np.random.default_rng(9), 0, 60
    for _ in range(trials):
        sides = []
        for name in "AB":
            begun = [at for at, side in enumerate(order) if side == name]
            day = draw.normal(0, 0.05)
            luck = day + draw.normal(0, 0.06, len(begun))
            sides.append(runs(made(draw, luck.tolist()), begun))
        called += compared(*sides)[0].verdict != "inconclusive"
    assert called <= stats.binom.ppf(0.999, trials, 0.05)


@pytest.mark.parametrize(("level", "verdict"), [(1.12, "inconclusive"), (1.4, "worse")])
def test_times_that_do_not_vary_get_the_whole_allowance_whoever_is_slower(
    level: float, verdict: str
) -> None:
    a, b = (runs(np.full((1, CASES), 100 * factor), [at]) for at, factor in ((1, 1.0), (2, level)))
    slower, _ = compared(a, b)
    faster, _ = compared(b, a)
    allowed = np.exp(stats.norm.ppf(0.975) * 0.05 * np.sqrt(2))
    assert (slower.low, slower.high) == pytest.approx((level / allowed, level * allowed))
    assert faster.p_value == pytest.approx(slower.p_value)
    assert slower.verdict == verdict
    assert faster.verdict == {"worse": "better"}.get(verdict, verdict)
