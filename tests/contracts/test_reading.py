"""What documents offer to programs that read them."""

import msgspec
import pytest

from agentbench_tui.contracts.cost import CostLine, ParetoFront
from agentbench_tui.contracts.load import LoadDistribution, MetricRepeats, RepeatSpread
from agentbench_tui.contracts.run import RunDocument
from agentbench_tui.contracts.runs import RunDetailsDocument

SPREAD = RepeatSpread(values=(1.0, 2.0), low=1.0, high=2.0, method="range")


def test_a_part_of_a_distribution_is_none_where_it_was_not_measured() -> None:
    found = LoadDistribution(p50=12.5, p99=None, n=40, needs={"p99": 299})
    assert [found.part(name) for name in ("p50", "p99", "max")] == [12.5, None, None]


def test_repeats_are_of_a_number_or_of_parts() -> None:
    number = msgspec.convert(msgspec.structs.asdict(SPREAD), MetricRepeats)
    assert (number.whole, number.part("p50")) == (SPREAD, None)
    parts = MetricRepeats(p50=SPREAD)
    assert (parts.whole, parts.part("p50"), parts.part("p95")) == (None, SPREAD, None)


def test_run_details_are_a_run_document_with_more() -> None:
    assert issubclass(RunDetailsDocument, RunDocument)


@pytest.mark.parametrize(("of", "field"), [(CostLine, "spent_on_wrong"), (ParetoFront, "share")])
def test_a_cost_figure_that_is_not_known_is_null(of: type, field: str) -> None:
    """Nothing was paid, or there are too few independent cases to say who is on the front."""
    (found,) = [one for one in msgspec.inspect.type_info(of).fields if one.name == field]  # type: ignore[attr-defined]
    assert isinstance(found.type, msgspec.inspect.UnionType)
    assert found.type.includes_none
