"""Figures of counted gaps are those of the plain list."""

import tracemalloc
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import Sample, columns, done, window

from agentbench_tui.analysis.intervals.estimate import Estimate, estimate
from agentbench_tui.analysis.intervals.quantiles import quantile_estimates, weighted_quantiles
from agentbench_tui.load.results.aggregate import aggregate
from agentbench_tui.load.results.gaps import figures_of_gaps, figures_per_token
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.figures.metric import SHARES


def same(found: Mapping[str, Estimate], expected: Mapping[str, Estimate]) -> None:
    assert found.keys() == expected.keys()
    for part, one in expected.items():
        other = found[part]
        assert (other.n, other.reason) == (one.n, one.reason), part
        for field in ("value", "low", "high"):
            known = getattr(one, field)
            if known is not None:
                known = pytest.approx(known, rel=1e-9, abs=1e-9)
            assert getattr(other, field) == known, (part, field)


def of_the_list(samples: list[Sample]) -> dict[str, Estimate]:
    """As the figures of any other distribution are found."""
    gaps_ms = [round(gap * 1e6) / 1e3 for sample in samples for gap in sample.gaps]
    repeats = [sample.repeat for sample in samples for _ in sample.gaps]
    several = len(set(repeats)) > 1
    parts = {"mean": estimate(gaps_ms, "amount", clusters=repeats if several else None)}
    parts |= dict(zip(SHARES, quantile_estimates(sorted(gaps_ms), [*SHARES.values()]), strict=True))
    if several and min(gaps_ms) > 0:
        parts["p50"] = estimate(gaps_ms, "time", runs=repeats)
    return parts | {"max": Estimate(max(gaps_ms), None, None, len(gaps_ms), "largest")}


def per_token_of_the_list(samples: list[Sample]) -> dict[str, Estimate]:
    weights = np.array([(s.tokens or 0) / (len(s.gaps) + 1) for s in samples for _ in s.gaps])
    gaps_ms = np.array([round(gap * 1e6) / 1e3 for s in samples for gap in s.gaps])
    values, n = gaps_ms / weights, len(weights)
    parts = {"mean": Estimate(float(np.average(values, weights=weights)), None, None, n, "mean")}
    shares = [*SHARES.values()]
    parts |= dict(zip(SHARES, weighted_quantiles(values, weights, shares), strict=True))
    return parts | {"max": Estimate(float(values.max()), None, None, n, "largest")}


gap_s = st.one_of(
    st.sampled_from([0.0, 0.01, 0.02]),
    st.integers(0, 3_000_000).map(lambda us: us / 1e6),  # those of over a second are sorted
)
answers = st.builds(
    Sample,
    due=st.just(0.0),
    e2e=st.just(9.0),
    ttft=st.just(0.1),
    gaps=st.lists(gap_s, min_size=1, max_size=40),
    tokens=st.integers(1, 60),
    repeat=st.integers(0, 2),
)


@settings(max_examples=60)
@given(st.lists(answers, min_size=1, max_size=12), st.sampled_from([1, 3, 100]))
def test_any_gaps_have_the_figures_of_their_list(samples: list[Sample], rows_a_part: int) -> None:
    found = columns(samples)
    every = np.ones(len(found), np.bool_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentbench_tui.load.results.columns.ROWS_A_PART", rows_a_part)
        same(figures_of_gaps(found, every), of_the_list(samples))
        same(figures_per_token(found, every), per_token_of_the_list(samples))


@pytest.mark.parametrize("repeats", [1, 3, 41])
def test_many_gaps_have_percentiles_and_intervals(repeats: int) -> None:
    drawn = np.random.default_rng(4).lognormal(-4, 0.6, (123, 31))
    samples = [
        Sample(0.0, 9.0, ttft=0.1, gaps=row.tolist(), tokens=32, repeat=number % repeats)
        for number, row in enumerate(drawn)
    ]
    found = columns(samples)
    every = np.ones(len(found), np.bool_)
    figures = figures_of_gaps(found, every)

    same(figures, of_the_list(samples))
    same(figures_per_token(found, every), per_token_of_the_list(samples))
    true = np.percentile(drawn.round(6) * 1e3, [50, 90, 95, 99, 99.9])
    if repeats == 1:
        assert [figures[part].value for part in SHARES] == pytest.approx(list(true))


def test_only_the_gaps_of_some_rows_count_and_of_none_there_are_no_figures() -> None:
    found = columns([Sample(0.0, 1.0, ttft=0.1, gaps=[gap], tokens=2) for gap in (0.1, 0.5)])
    assert figures_of_gaps(found, np.array([False, True]))["max"].value == 500
    assert figures_per_token(found, np.array([True, False]))["max"].value == 100
    assert figures_of_gaps(found, np.zeros(2, np.bool_)) == {}
    assert figures_per_token(found, np.zeros(2, np.bool_)) == {}


def test_the_figures_of_a_long_load_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentbench_tui.load.results.columns.ROWS_A_PART", 256)
    count = 10_000
    sample = Sample(0.0, 0.9, ttft=0.1, gaps=[0.01] * 31, tokens=32, input_tokens=9)
    worker = done(offered=count, sent=count, window_s=9.0, most_in_flight=9, blocked=1)
    one = window(worker, slo={"e2e_ms": 950.0}, asked=float(count), asked_per_s=1111.0)
    agent = AgentSpec("a", "1", "python:x:y")
    found = columns([sample] * count)
    aggregate(Requests(columns([sample] * 10), {0: one}), agent)  # what is imported is no load's
    tracemalloc.start()
    aggregate(Requests(found, {0: one}), agent)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    kept = found.table.nbytes + found.gaps_us.nbytes
    assert (peak + kept) / count < 400
