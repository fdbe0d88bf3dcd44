"""Results by groups of cases (`--by FIELD`): marks, intervals, pooled values and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.intervals.estimate import estimate
from agentbench_tui.verdicts.comparison.compare import compare_evidence
from agentbench_tui.verdicts.comparison.comparison import ALPHA, Asked
from agentbench_tui.verdicts.groups.compare_groups import (
    GroupedSides,
    adjusted_groups,
    compare_each,
    judged_group,
)
from agentbench_tui.verdicts.groups.group_figures import (
    GroupedAnswers,
    GroupFigures,
    group_figures,
    judged_groups,
)
from agentbench_tui.verdicts.groups.heterogeneity import heterogeneity
from agentbench_tui.verdicts.ranking.standing import by_cases
from simulations.evidence import asked
from simulations.guarantee import Guarantee, Rate

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

GROUPS = 20
UNLIKE = (10, 12, 15, 20, 60) * (GROUPS // 5)
"""Cases of each group."""
ALIKE = (50,) * GROUPS
NAMES = [f"g{number}" for number in range(GROUPS)]
APART = 0.20
"""By how much one group is really worse."""
DRAWS = 1_000
ASKED = Asked(resamples=DRAWS)
AGENTS = 5
RESAMPLES = 5_000
SPREAD = 0.08
"""Standard deviation of the true shares of groups that differ."""
_INDEPENDENT = "cases are independent, or their cluster is declared"
_SHARED = "questions share a document or template and no cluster is declared"


def _members(sizes: tuple[int, ...]) -> Bools:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.asarray(labels == np.arange(len(sizes))[:, np.newaxis])


def _figures(
    truth: Floats, sizes: tuple[int, ...], draw: np.random.Generator
) -> tuple[list[GroupFigures], float | None]:
    """One agent, right in each group with this probability."""
    right = (draw.random(sum(sizes)) < np.repeat(truth, sizes)).astype(np.float64)
    case = np.arange(len(right))
    answers = GroupedAnswers(
        case,
        case,
        np.zeros_like(case),
        {"accuracy": right, "correct_share": right, "reliability": np.ones(len(right))},
        _members(sizes),
    )
    found = [
        group_figures(name, answers.only(inside), "accuracy", Counter())
        for name, inside in zip(NAMES, answers.members, strict=True)
    ]
    judged, p_varies, _ = judged_groups(found, answers, "accuracy", DRAWS)
    return judged, p_varies


def _marked(trials: int, draw: np.random.Generator) -> Rate:
    truth = np.full(GROUPS, 0.8)
    found = [_figures(truth, UNLIKE, draw)[0] for _ in range(trials)]
    return Rate(sum(any(one.differs for one in groups) for groups in found), trials)


def _said_to_vary(trials: int, draw: np.random.Generator) -> Rate:
    truth = np.full(GROUPS, 0.8)
    p = [_figures(truth, UNLIKE, draw)[1] for _ in range(trials)]
    return Rate(sum(one is not None and one < ALPHA for one in p), trials)


def _worse_group_found(trials: int, draw: np.random.Generator) -> Rate:
    truth = np.full(GROUPS, 0.8)
    truth[0] -= APART
    found = [_figures(truth, ALIKE, draw)[0] for _ in range(trials)]
    return Rate(sum(groups[0].differs == "lower" for groups in found), trials)


def _another_group_marked(trials: int, draw: np.random.Generator) -> Rate:
    truth = np.full(GROUPS, 0.8)
    truth[0] -= APART
    found = [_figures(truth, ALIKE, draw)[0] for _ in range(trials)]
    return Rate(sum(any(one.differs for one in groups[1:]) for groups in found), trials)


def _covered(
    ends: Callable[[GroupFigures], tuple[float | None, float | None]], spread: float
) -> Callable[[int, np.random.Generator], Rate]:
    """Of all groups of all tables those whose interval holds the group's true share."""

    def measure(trials: int, draw: np.random.Generator) -> Rate:
        held = 0
        for _ in range(trials):
            truth = np.clip(draw.normal(0.75, spread, GROUPS), 0.02, 0.98)
            for one, share in zip(_figures(truth, UNLIKE, draw)[0], truth, strict=True):
                low, high = ends(one)
                assert low is not None
                assert high is not None
                held += low <= share <= high
        return Rate(held, trials * GROUPS)

    return measure


def _pooled_is_nearer(trials: int, draw: np.random.Generator) -> Rate:
    """Tables whose pooled values lie nearer to the truth, by the sum of squares."""
    nearer = 0
    for _ in range(trials):
        truth = np.clip(draw.normal(0.75, SPREAD, GROUPS), 0.02, 0.98)
        groups, _ = _figures(truth, UNLIKE, draw)
        raw = np.array([one.main.value for one in groups])
        pooled = np.array([one.pooled for one in groups])
        nearer += float(((pooled - truth) ** 2).sum()) < float(((raw - truth) ** 2).sum())
    return Rate(nearer, trials)


def _sides(
    only_a: Floats, only_b: Floats, sizes: tuple[int, ...], draw: np.random.Generator
) -> GroupedSides:
    """Two agents that are right alone on these shares of the cases of each group."""
    chance = draw.random(sum(sizes))
    below, above = np.repeat(only_a, sizes), np.repeat(only_a + only_b, sizes)
    both = draw.random(sum(sizes)) < 0.8
    a = np.where(chance < below, True, np.where(chance < above, False, both))
    b = np.where(chance < below, False, np.where(chance < above, True, both))
    members = _members(sizes)
    cases = sum(sizes)
    return GroupedSides(asked(cases, accuracy=a), asked(cases, accuracy=b), members, members)


def _verdicts(sides: GroupedSides) -> list[str]:
    groups = compare_each(sides, NAMES, ASKED, "accuracy")
    adjusted = adjusted_groups(groups)
    judged = [judged_group(one, p) for one, p in zip(groups, adjusted.p, strict=True)]
    return [one.metrics[0].verdict for one in judged]


def _difference_said_to_vary(sides: GroupedSides) -> bool:
    (whole,), _ = compare_evidence(sides.a, sides.b, ASKED, ["accuracy"])
    p = heterogeneity(whole, sides, [], ASKED).p_varies
    return p is not None and p < ALPHA


def _called_different(trials: int, draw: np.random.Generator) -> Rate:
    share = np.full(GROUPS, 0.10)
    found = [_verdicts(_sides(share, share, UNLIKE, draw)) for _ in range(trials)]
    return Rate(sum(not {"better", "worse"}.isdisjoint(one) for one in found), trials)


def _difference_varies(
    sizes: tuple[int, ...], only_a: Floats, only_b: Floats
) -> Callable[[int, np.random.Generator], Rate]:
    def measure(trials: int, draw: np.random.Generator) -> Rate:
        said = sum(
            _difference_said_to_vary(_sides(only_a, only_b, sizes, draw)) for _ in range(trials)
        )
        return Rate(said, trials)

    return measure


def _worse_in_one_group(trials: int, draw: np.random.Generator) -> Rate:
    only_a = np.full(GROUPS, 0.05)
    only_a[0] += APART
    found = [_verdicts(_sides(only_a, np.full(GROUPS, 0.05), ALIKE, draw)) for _ in range(trials)]
    return Rate(sum(one[0] == "worse" for one in found), trials)


def _told_apart_on_a_leaderboard(trials: int, draw: np.random.Generator) -> Rate:
    """Equal agents, whose right answers on a case depend on how hard it is for all."""
    hits = 0
    for _ in range(trials):
        apart = False
        for cases in UNLIKE:
            ease = draw.beta(8, 2, cases)
            table = (draw.random((AGENTS, cases)) < ease).astype(np.float64)
            scores = [estimate(row, "share") for row in table]
            found = by_cases(table, scores, "higher", RESAMPLES, ALPHA / GROUPS)
            apart = apart or any(one.behind for one in found.rows)
        hits += apart
    return Rate(hits, trials)


def _row(
    topic: str,
    event: str,
    measure: Callable[[int, np.random.Generator], Rate],
    *,
    trials: int,
    lowest: float = 0.0,
    highest: float = 1.0,
) -> Guarantee:
    return Guarantee(
        topic, event, measure, trials=trials, lowest=lowest, highest=highest,
        assumes=_INDEPENDENT, breaks=_SHARED,
    )  # fmt: skip


_EQUAL = np.full(GROUPS, 0.10)
_SCATTERED = np.array([0.30, 0.30, 0.02, 0.02] * (GROUPS // 4))
"""Groups in which the agents disagree often, and groups in which they hardly do."""

ROWS = (
    _row(
        "by groups, accuracy of 20 equal groups of 10–60 cases",
        "any group marked as different", _marked, trials=500, highest=0.05,
    ),
    _row(
        "by groups, accuracy of 20 equal groups of 10–60 cases",
        "accuracy said to vary", _said_to_vary, trials=500, highest=0.05,
    ),
    _row(
        "by groups, accuracy of 20 groups of 10–60 cases, true sd 8 points",
        "95% interval of a group holds the truth",
        _covered(lambda one: (one.main.low, one.main.high), SPREAD), trials=100, lowest=0.93,
    ),
    _row(
        "by groups, accuracy of 20 groups of 10–60 cases, true sd 8 points",
        "95% interval of a pooled value holds the truth",
        _covered(lambda one: (one.pooled_low, one.pooled_high), SPREAD), trials=100, lowest=0.93,
    ),
    _row(
        "by groups, accuracy of 20 groups of 10–60 cases, true sd 8 points",
        "pooled values nearer to the truth than raw ones", _pooled_is_nearer, trials=200,
        lowest=0.95,
    ),
    _row(
        "by groups, accuracy of 20 groups of 50 cases, one 20 points worse",
        "the worse group marked", _worse_group_found, trials=200,
    ),
    _row(
        "by groups, accuracy of 20 groups of 50 cases, one 20 points worse",
        "any other group marked", _another_group_marked, trials=500, highest=0.05,
    ),
    _row(
        "compare by groups, accuracy of 20 groups of 10–60 cases, equal agents",
        "B called better or worse in any group", _called_different, trials=300, highest=0.05,
    ),
    _row(
        "compare by groups, accuracy of 20 groups of 10–60 cases, equal agents",
        "the difference said to vary", _difference_varies(UNLIKE, _EQUAL, _EQUAL), trials=300,
        highest=0.05,
    ),
    _row(
        "compare by groups, accuracy of 20 groups of 10–60 cases, B 10 points better in all",
        "the difference said to vary", _difference_varies(UNLIKE, _EQUAL / 2, 1.5 * _EQUAL),
        trials=300, highest=0.05,
    ),
    _row(
        "compare by groups, accuracy of 20 groups of 10–60 cases, half of which scatter much",
        "the difference said to vary", _difference_varies(UNLIKE, _SCATTERED, _SCATTERED),
        trials=300, highest=0.05,
    ),
    _row(
        "compare by groups, accuracy of 20 groups of 50 cases, B 20 points worse in one",
        "B called worse in it", _worse_in_one_group, trials=200,
    ),
    _row(
        "leaderboard by groups, accuracy of 5 equal agents in 20 groups of 10–60 cases",
        "any two told apart in any group", _told_apart_on_a_leaderboard, trials=200, highest=0.05,
    ),
)  # fmt: skip
