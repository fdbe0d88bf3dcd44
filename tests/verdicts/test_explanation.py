"""Whatever a load tells can be explained, by its name or without its unit."""

import pytest

from agentbench_tui.load.summary import Harness, LoadSummary, RequestCounts
from agentbench_tui.model.answer import FailureKind
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.gate import gate_names
from agentbench_tui.model.load_figures import FAILURES
from agentbench_tui.verdicts.explanation import explain, explanations

SECTIONS = {"requests", "harness", "reasons", "warnings"}
"""Keys of a summary that are no figures: they hold some, or sentences."""


@pytest.mark.parametrize("part", [LoadSummary, RequestCounts, Harness])
def test_every_figure_of_a_summary_is_explained(part: type) -> None:
    for name in set(part.__annotations__) - SECTIONS:
        assert explain(name)["name"] == name


def test_every_kind_of_failure_is_explained() -> None:
    assert set(FAILURES) == {kind.value for kind in FailureKind}
    for kind in FailureKind:
        assert explain(kind.value)["formula"].endswith(".")


def test_every_name_of_a_gate_is_explained() -> None:
    for name in gate_names():
        assert explain(name)["name"] == name


@pytest.mark.parametrize(
    ("asked", "found"),
    [("ceiling", "ceiling_per_s"), ("ttft", "ttft_ms"), ("error_rate", "error_rate")],
)
def test_the_unit_may_be_left_out(asked: str, found: str) -> None:
    assert explain(asked)["name"] == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("asked/s", "asked_per_s"),
        ("goodput/s", "goodput_per_s"),
        ("answered", "request_throughput_per_s"),
        ("answered/s", "request_throughput_per_s"),
        ("tokens/s", "output_tokens_per_s"),
        ("cpu", "cpu_us_per_request"),
    ],
)
def test_words_of_tables_and_lines_lead_to_their_figure(said: str, found: str) -> None:
    assert explain(said)["name"] == found


def test_a_beginning_of_several_names_lists_them() -> None:
    with pytest.raises(UsageError, match="there are overhead_p50_ms, overhead_p99_ms;"):
        explain("overhead")


def test_all_are_listed_once() -> None:
    names = [row["name"] for row in explanations()]
    assert len(names) == len(set(names))
    assert {"e2e_ms", "overall", "verdict", "cpu_us_per_request", "timeout"} <= set(names)
