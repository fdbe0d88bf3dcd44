"""Boards case by case: worlds of one repeat, totals, amounts per right answer, unknown amounts."""

import math
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.ranking.ranked import rank
from agentbench_tui.verdicts.ranking.ranked_group import Ranked
from agentbench_tui.verdicts.ranking.scorecard import Scorecard
from agentbench_tui.verdicts.selection.contenders import Contender


def evidence(first_case: int = 0, **values: ArrayLike) -> TaskEvidence:
    """One answer to each case; all were answered unless `reliability` says otherwise."""
    columns = {name: np.array(column, np.float64) for name, column in values.items()}
    count = len(next(iter(columns.values())))
    columns.setdefault("reliability", np.ones(count))
    case = np.arange(count) + first_case
    alone = np.zeros(count, np.int64)
    return TaskEvidence([], case, case, alone, alone, columns, 1)


def card(name: str, *places: TaskEvidence, **values: ArrayLike) -> Scorecard:
    everything = places or (evidence(**values),)
    return Scorecard(Contender(name, name, "1", False, ()), dict(enumerate(everything)))


def told(group: Ranked) -> dict[str, tuple[str, float]]:
    return {
        card.contender.name: (label, row.score)
        for card, label, row in zip(
            group.cards, group.standings.labels(), group.standings.rows, strict=True
        )
    }


def reasons(found: Any) -> dict[str, str]:
    return {one.card.contender.name: one.reason for one in found}


def test_worlds_of_one_repeat_rank_like_cases() -> None:
    worlds = np.arange(1, 9) / 10
    cards = [card("better", optimality_fair=worlds + 0.5), card("worse", optimality_fair=worlds)]
    (group,), lacking = rank(cards, "optimality_fair")
    assert (group.way, lacking, len(group.shared)) == ("cases", [], 8)
    assert group.standings.labels() == ["1", "2"]
    quantile = 2.364624  # t of 7 degrees of freedom, 97.5%
    logs = np.log(worlds)
    spread = stdev(logs)
    half = quantile * math.sqrt(spread**2 / 8 + spread**4 / (2 * 7))
    cox = math.exp(fmean(logs) + spread**2 / 2 + half)  # the larger upper end of 8 even worlds
    hall = fmean(worlds) - quantile * stdev(worlds) / math.sqrt(8)  # symmetric values: t
    row = group.standings.rows[1]
    assert (row.score, row.low, row.high) == pytest.approx((fmean(worlds), hall, cox))


def test_percentages_of_money_do_not_depend_on_the_machine() -> None:
    (group,), _ = rank([card("a", pnl_percent=[1.0, -2.0, 3.0])], "pnl_percent")
    assert (group.way, group.several_runs) == ("cases", False)


def test_a_world_without_the_metric_is_left_out_for_all() -> None:
    cards = [card("a", sharpe=[1, 2, 3, np.nan]), card("b", sharpe=[0, 0, 6, 9])]
    (group,), _ = rank(cards, "sharpe")
    assert (len(group.shared), group.measured) == (3, 4)
    assert told(group) == {"a": ("1=", 2.0), "b": ("1=", 2.0)}


def test_totals_are_of_the_shared_cases() -> None:
    """`part` was asked 6 of the 10 cases, and is not cheaper for it."""
    cards = [
        card("whole", cost_usd_per_task=np.full(10, 2.0)),
        card("part", cost_usd_per_task=np.full(6, 3.0)),
    ]
    (group,), _ = rank(cards, "cost_usd")
    assert told(group) == {"whole": ("1", 12.0), "part": ("2", 18.0)}


def test_an_amount_per_right_answer_is_a_ratio_of_totals() -> None:
    right = np.tile([1.0, 0.0], 10)
    cards = [
        card("cheap", cost_usd_per_task=np.where(right > 0, 1.0, 3.0), correct_share=right),
        card("dear", cost_usd_per_task=np.full(20, 6.0), correct_share=right),
    ]
    (group,), _ = rank(cards, "cost_usd_per_correct")
    assert told(group) == {"cheap": ("1", 4.0), "dear": ("2", 12.0)}
    low, high = group.standings.rows[0].low, group.standings.rows[0].high
    assert low is not None
    assert high is not None
    assert low < 4.0 < high


def test_agents_of_one_ratio_are_not_told_apart() -> None:
    """Twice the cost and twice as often right: one price of a right answer."""
    often, seldom = np.ones(20), np.tile([1.0, 0.0], 10)
    cards = [
        card("often", cost_usd_per_task=np.linspace(1, 3, 20), correct_share=often),
        card("seldom", cost_usd_per_task=np.linspace(0.5, 1.5, 20), correct_share=seldom),
    ]
    (group,), _ = rank(cards, "cost_usd_per_correct")
    assert told(group) == {"often": ("1=", 2.0), "seldom": ("1=", 2.0)}


def test_without_a_right_answer_the_cost_of_one_is_infinite() -> None:
    cards = [
        card("some", cost_usd_per_task=np.ones(8), correct_share=np.tile([1.0, 0.0], 4)),
        card("never", cost_usd_per_task=np.ones(8), correct_share=np.zeros(8)),
    ]
    (group,), lacking = rank(cards, "cost_usd_per_correct")
    assert told(group) == {"some": ("1", 2.0)}
    assert reasons(lacking) == {"never": "cost_usd_per_correct is infinite: no right answer"}


@pytest.mark.parametrize("metric", ["cost_usd", "cost_usd_per_task", "cost_usd_per_correct"])
def test_nobody_is_ranked_by_a_cost_that_is_unknown_for_some_answers(metric: str) -> None:
    """The third answer has no price; the fourth failed, and may have cost nothing."""
    partly = evidence(
        cost_usd_per_task=[1, 1, np.nan, 0], correct_share=[1, 1, 1, 0], reliability=[1, 1, 1, 0]
    )
    known = evidence(cost_usd_per_task=np.ones(4), correct_share=np.ones(4))
    (group,), lacking = rank([card("known", known), card("partly", partly)], metric)
    assert [*told(group)] == ["known"]
    assert reasons(lacking) == {"partly": f"{metric} is unknown for 1 of 3 answers"}


def test_a_benchmark_with_unknown_costs_is_left_out_for_all() -> None:
    known = evidence(cost_usd_per_task=np.full(6, 2.0))
    other = evidence(1 << 40, cost_usd_per_task=np.ones(4))
    partly = evidence(1 << 40, cost_usd_per_task=[1, 1, 1, np.nan])
    cards = [card("whole", known, other), card("partly", known, partly)]
    (group,), lacking = rank(cards, "cost_usd_per_task")
    assert (told(group), lacking) == ({"whole": ("1=", 2.0), "partly": ("1=", 2.0)}, [])
    assert (len(group.shared), group.measured) == (6, 10)


def test_the_largest_of_a_repeat_is_no_mean() -> None:
    times = evidence(e2e_ms=[1.0, 5.0, 3.0])
    assert times.per_repeat("e2e_ms.max").tolist() == [5.0]
    assert times.per_repeat("e2e_ms.mean").tolist() == [3.0]
