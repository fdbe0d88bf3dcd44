"""p and interval of a comparison are of one method: they never contradict each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evidence_made import asked
from hypothesis import given, settings
from hypothesis import strategies as st

from agentbench_tui.verdicts.comparison.comparison import (
    ALONE,
    FEW_DRAWS,
    TOO_SMALL,
    Asked,
    Comparison,
)
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged

METRICS = ("accuracy", "graded", "e2e_ms", "output_tokens", "cost_usd_per_task", "memory_peak_mb")


def values(metric: str, size: tuple[int, int], shift: float, draw: np.random.Generator) -> Any:
    if metric == "accuracy":
        return draw.random(size) < 0.6 + shift / 2
    if metric == "graded":
        return np.clip(draw.normal(0.6 + shift / 2, 0.3, size), 0, 1)
    return np.exp(shift + draw.normal(0, draw.choice([0.05, 0.3, 1.0]), size))


def contradiction(found: Comparison) -> bool:
    """Whether the interval excludes no effect while the p that decides does not, or vice versa."""
    if found.p_tested is None or found.low is None:
        return False
    none = 1.0 if found.is_ratio else 0.0
    high = np.inf if found.high is None else found.high
    return (not found.low <= none <= high) != (found.p_tested < 0.05 - 1e-12)


def is_explained(found: Comparison) -> bool:
    """Whether the table says so where interval, p and verdict seem to tell different stories."""
    if found.p_adjusted is None or found.low is None or found.verdict != "inconclusive":
        return True
    none = 1.0 if found.is_ratio else 0.0
    is_clear = not found.low <= none <= (np.inf if found.high is None else found.high)
    if found.p_adjusted < 0.05:
        return is_clear and any(one in found.notes for one in (TOO_SMALL, FEW_DRAWS))
    return (ALONE in found.notes) == (is_clear and found.high is not None)


@given(
    metric=st.sampled_from(METRICS),
    cases=st.integers(2, 40),
    repeats=st.sampled_from([1, 1, 2, 3, 5]),
    shift=st.sampled_from([0.0, 0.05, 0.2, 0.5]),
    paired=st.sampled_from(["auto", "no"]),
    clustered=st.booleans(),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=400, deadline=None)
def test_an_interval_excludes_no_effect_exactly_when_p_is_below_five_percent(
    metric: str, cases: int, repeats: int, shift: float, paired: Any, clustered: bool, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    name = "accuracy" if metric == "graded" else metric
    sides = []
    for by in (0.0, shift):
        side = asked(cases, repeats, **{name: values(metric, (repeats, cases), by, draw)})
        if clustered:
            side.cluster[:] = side.case // 3
        sides.append(side)
    found = compare_metric(name, sides[0], sides[1], Asked(paired, seed=seed, resamples=300))
    assert found is not None
    assert not contradiction(found)
    for tests in (1, 4):
        p = None if found.p_tested is None else min(1.0, tests * found.p_tested)
        assert is_explained(judged(found, p))


def test_the_ratio_that_contradicted_itself_no_longer_does() -> None:
    """A few cases that cost much more: BCa excluded 1 where flipped signs had p = .195."""
    draw = np.random.default_rng(3)
    contradicted = 0
    for _ in range(200):
        d = np.where(draw.random(20) < 0.15, draw.normal(1.2, 0.3, 20), draw.normal(0, 0.02, 20))
        a, b = asked(20, memory_peak_mb=np.ones(20)), asked(20, memory_peak_mb=np.exp(d))
        found = compare_metric("memory_peak_mb", a, b, Asked(resamples=1000))
        assert found is not None
        contradicted += contradiction(found)
    assert contradicted == 0


@pytest.mark.parametrize("n", [6, 20])
def test_shares_that_differ_alike_have_a_p_that_allows_for_others(n: int) -> None:
    a, b = asked(n, accuracy=np.full(n, 0.2)), asked(n, accuracy=np.full(n, 0.4))
    found = compare_metric("accuracy", a, b, Asked())
    assert found is not None
    assert found.p_value == pytest.approx((1 / 1.2) ** n)
    assert not contradiction(found)
