"""Laws of the judgment of a history: whatever the values, and whatever their unit."""

from hypothesis import example, given
from hypothesis import strategies as st

from agentbench_tui.verdicts.evidence.place import Place
from agentbench_tui.verdicts.regression.finding import Finding, scale_of
from agentbench_tui.verdicts.regression.history import Point
from agentbench_tui.verdicts.regression.history_judgment import judged_by_history

PLACE = Place("s", "b", "{}")
LEVELS = st.sampled_from([100.0, 104.0, 110.0, 130.0])
STRETCHES = st.lists(st.tuples(LEVELS, st.integers(1, 25)), min_size=1, max_size=4)
OFF = st.floats(0.97, 1.03)


@st.composite
def histories(draw: st.DrawFn) -> list[float]:
    """Runs at one level after another, scattered or not, with an outlier here and there."""
    values = [level for level, count in draw(STRETCHES) for _ in range(count)]
    values = (values + [100.0] * 13)[: max(13, len(values))]
    if draw(st.booleans()):
        values = [value * draw(OFF) for value in values]
    for place in draw(st.lists(st.integers(0, len(values) - 1), max_size=2)):
        values[place] *= draw(st.sampled_from([0.5, 1.6]))
    return values


def judged(values: list[float], metric: str = "e2e_ms.p50") -> Finding:
    points = [
        Point(f"r{n:03d}", n, f"2026-01-01T{n:03d}", "1", (), {}, {}, None, {metric: value})
        for n, value in enumerate(values)
    ]
    base = Finding(PLACE, metric, "not enough data", (points[-1],), margin=0.05)
    return judged_by_history(base, points)


@given(histories())
def test_a_regression_is_worse_than_the_level_before(values: list[float]) -> None:
    found = judged(values)
    assert found.verdict != "not enough data"
    if found.verdict == "no change seen":
        assert found.location is None
        return
    sign = 1 if found.verdict in {"regression", "suspect"} else -1
    assert found.before is not None
    assert sign * (values[-1] - found.before) > 0
    assert found.change is not None
    assert sign * (found.change - 1) > 0
    assert found.location is not None
    assert found.location.first.run_key <= found.location.last.run_key
    assert found.new[-1].run_key == len(values) - 1
    assert not {one.run_id for one in found.old} & {one.run_id for one in found.new}


# Two changes of the same size: rounding, which depends on the unit, decided which counts.
@example([50.0] + [100.0] * 35 + [130.0] * 19 + [65.0, 130.0] + [100.0] * 10, 1000.0)
@given(histories(), st.sampled_from([1e-3, 0.25, 1000.0]))
def test_the_unit_does_not_matter(values: list[float], unit: float) -> None:
    found, scaled = judged(values), judged([value * unit for value in values])
    assert scaled.verdict == found.verdict
    assert (scaled.location is None) == (found.location is None)


@given(st.floats(1e-6, 1e9), st.integers(13, 60))
def test_what_never_changes_is_no_change(value: float, runs: int) -> None:
    assert judged([value] * runs).verdict == "no change seen"


@given(st.lists(st.sampled_from([0.0, 0.5, 0.9, 1.0]), min_size=13, max_size=40))
def test_shares_of_any_kind_are_judged(values: list[float]) -> None:
    found = judged(values, "accuracy")
    assert found.scale == scale_of("accuracy")
    if found.verdict == "regression":
        assert min(values) < max(values)  # it stands until the runs show that it is over


def test_a_value_of_0_has_no_ratio() -> None:
    found = judged([1.0] * 13 + [0.0])
    assert (found.verdict, found.reason) == ("not enough data", "a value of 0 has no ratio")
