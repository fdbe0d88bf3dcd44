"""Who is faster, on cases whose times are known: nobody leads by failing on the slow ones."""

import numpy as np
import pytest
from numpy.typing import NDArray

from agentbench_tui.analysis.intervals.interval import wilson
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.ranking.ranked import rank
from agentbench_tui.verdicts.ranking.ranked_group import Ranked
from agentbench_tui.verdicts.ranking.scorecard import Scorecard
from agentbench_tui.verdicts.selection.contenders import Contender

Floats = NDArray[np.float64]
HARD = np.linspace(0, 1.5, 40)
"""Logs of the times of 40 cases, the slowest 4.5 times the fastest."""


def card(name: str, times: Floats, first_case: int = 0) -> Scorecard:
    """`times`: float64[repeats, cases], NaN where it failed."""
    repeats, cases = times.shape
    case = np.tile(np.arange(cases) + first_case, repeats)
    evidence = TaskEvidence(
        [],
        case,
        case,
        np.zeros(repeats * cases, np.int64),
        np.repeat(np.arange(repeats), cases),
        {"e2e_ms": times.ravel(), "reliability": (~np.isnan(times)).astype(float).ravel()},
        repeats,
    )
    return Scorecard(Contender(name, name, "1", False, ()), {0: evidence})


def times(seed: int) -> Floats:
    return np.exp(HARD + np.random.default_rng(seed).normal(0, 0.1, (5, 40)))


def told(groups: list[Ranked]) -> list[dict[str, str]]:
    return [
        dict(
            zip([one.contender.name for one in group.cards], group.standings.labels(), strict=True)
        )
        for group in groups
    ]


@pytest.mark.parametrize("metric", ["e2e_ms", "e2e_ms.p50"])
@pytest.mark.parametrize("failing", [5, 4])
def test_who_fails_on_the_slow_half_is_not_faster(metric: str, failing: int) -> None:
    """Whether it fails on them in all repeats, or in four of five."""
    lacking = times(2)
    lacking[:failing, 20:] = np.nan
    groups, unranked = rank([card("whole", times(1)), card("half", lacking)], metric)
    assert told(groups) == [{"whole": "1=", "half": "1="}]
    assert groups[0].cases is not None
    assert groups[0].cases.tolist() == list(range(20))
    assert groups[0].cases_measured == 40
    assert unranked == []


def test_a_percentile_of_too_few_answers_ranks_nobody() -> None:
    many = np.tile(times(3), (1, 2))  # 80 answers in a repeat; a p95 takes 59
    groups, unranked = rank([card("many", many), card("few", times(1))], "e2e_ms.p95")
    assert told(groups) == [{"many": "1"}]
    why = "e2e_ms.p95 needs 59 answers per repeat (has 40)"
    assert [(one.card.contender.name, one.reason) for one in unranked] == [("few", why)]
    assert rank([card("few", times(1))], "e2e_ms.p99")[0] == []


def test_who_is_faster_on_what_both_answered_leads() -> None:
    faster = times(2) * 0.8
    faster[:, 30:] = np.nan
    groups, _ = rank([card("slow", times(1)), card("fast", faster)], "e2e_ms")
    assert told(groups) == [{"slow": "2", "fast": "1"}]


def test_who_was_asked_other_cases_has_a_board_apart() -> None:
    groups, _ = rank([card("these", times(1)), card("those", times(2), first_case=40)], "e2e_ms")
    assert sorted(map(str, told(groups))) == ["{'these': '1'}", "{'those': '1'}"]


def test_who_never_answered_has_no_rank() -> None:
    groups, unranked = rank([card("some", times(1)), card("none", times(1) * np.nan)], "e2e_ms")
    assert told(groups) == [{"some": "1"}]
    assert [one.card.contender.name for one in unranked] == ["none"]


@pytest.mark.parametrize("often", [1, 20])
def test_the_score_lies_within_its_interval_however_often_cases_were_asked(often: int) -> None:
    """Eight cases, the first five right in each of `often` answers, the others wrong in one."""
    case = np.concatenate([np.repeat(np.arange(5), often), [5, 6, 7]])
    right = np.concatenate([np.ones(5 * often), np.zeros(3)])
    alone = np.zeros(len(case), np.int64)
    evidence = TaskEvidence([], case, case, alone, alone, {"accuracy": right}, 1)
    (group,), _ = rank(
        [Scorecard(Contender(name, name, "1", False, ()), {0: evidence}) for name in "ab"],
        "accuracy",
    )
    row = group.standings.rows[0]
    interval = wilson(5, 8)
    assert interval is not None
    assert row.score == 0.625
    assert (row.low, row.high) == pytest.approx((interval.low, interval.high))
