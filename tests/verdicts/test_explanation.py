"""Whatever a load tells can be explained, by its name or without its unit."""

import pytest

from agentbench_tui.load.results.summary import Harness, LoadSummary, RequestCounts
from agentbench_tui.model.answer import FailureKind
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.load_figures import FAILURES
from agentbench_tui.model.figures.load_words import SAID
from agentbench_tui.model.gate import gate_names
from agentbench_tui.verdicts.explanation import (
    explain,
    explain_arguments,
    explain_words,
    explanations,
)

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
    ("name", "says"),
    [
        ("percentile_rank", "those with an equal score count half"),
        ("deviation_from_baseline", "overall ÷ the baseline's overall - 1"),
    ],
)
def test_columns_that_compare_an_execution_are_explained(name: str, says: str) -> None:
    found = explain(name)
    assert says in found["formula"]
    assert found["direction"] == "higher"
    assert name in {one["name"] for one in explanations()}


def test_columns_of_the_database_lead_to_the_metrics_they_hold() -> None:
    for name in ("correctness", "completeness", "relevance"):
        assert names_of(f"output_{name}") == [name]


def names_of(words: str) -> list[str]:
    return [one["name"] for one in explain_words(words)]


@pytest.mark.parametrize(
    ("asked", "found"),
    [("ceiling", "ceiling_per_s"), ("ttft", "ttft_ms"), ("error_rate", "error_rate")],
)
def test_the_unit_may_be_left_out(asked: str, found: str) -> None:
    assert names_of(asked) == [found]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("offered/s", ["asked_per_s"]),
        ("offered rate", ["asked_per_s"]),
        ("asked/s", ["asked_per_s"]),  # of reports printed before
        ("goodput/s", ["goodput_per_s"]),
        ("answered", ["ok", "unanswered", "request_throughput_per_s"]),
        ("completed/s", ["request_throughput_per_s"]),
        ("canceled", ["cancelled"]),
        ("answered/s", ["request_throughput_per_s"]),
        ("tokens/s", ["output_tokens_per_s"]),
        ("tokens/s per user", ["output_tokens_per_s_per_user"]),
        ("Output tokens/s", ["output_tokens_per_s"]),
        ("CPU a request", ["cpu_us_per_request"]),
        ("real-time priority", ["realtime"]),
        ("e2e p50", ["e2e_ms.p50"]),
        ("e2e_ms p99.9", ["e2e_ms.p999"]),
        ("ttft from send p95", ["ttft_from_send_ms.p95"]),
        ("p99", ["percentile"]),
        ("needs", ["percentile"]),
        ("noisy", ["verdict"]),
        ("overhead p99", ["overhead_p99_ms"]),
        ("overhead", ["overhead_p50_ms", "overhead_p99_ms"]),
        ("steady part", ["steady"]),
        ("drain", ["drain"]),
        ("warm-up", ["warm-up"]),
        ("harness:", ["harness"]),
        ("highest rate within the SLO", ["within_slo"]),
    ],
)
def test_words_of_tables_and_lines_lead_to_their_figures(said: str, found: list[str]) -> None:
    assert names_of(said) == found


def test_every_word_that_is_said_leads_to_figures_that_there_are() -> None:
    for said, names in SAID.items():
        assert names_of(said) == list(names)
        assert said == said.lower()


def test_what_many_names_begin_with_lists_them() -> None:
    with pytest.raises(UsageError, match="no metric or score 'overheads'"):
        explain_words("overheads")
    with pytest.raises(UsageError, match="there are overhead_p50_ms, overhead_p99_ms;"):
        explain("overhead")


def test_all_are_listed_once() -> None:
    names = [row["name"] for row in explanations()]
    assert len(names) == len(set(names))
    assert {"e2e_ms", "overall", "verdict", "cpu_us_per_request", "timeout"} <= set(names)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("health", ["overall_health"]),
        ("critical", ["severity"]),
        ("suspect", ["suspect"]),
        ("threshold", ["threshold"]),
        ("impact", ["impact_weight", "share_of_cases", "per_day"]),
    ],
)
def test_words_of_regressions_are_known(words: str, names: list[str]) -> None:
    assert names_of(words) == names


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("Inconclusive", ["inconclusive"]),
        ("worse", ["better"]),
        ("tie, open", ["tie"]),
        ("no change seen", ["no_change_seen"]),
        ("no regression", ["no_change_seen", "no-regression"]),
        ("p", ["p"]),
    ],
)
def test_the_words_of_verdicts_are_explained(words: str, names: list[str]) -> None:
    assert names_of(words) == names


def test_several_names_are_explained_one_after_another() -> None:
    found = explain_arguments(["accuracy", "overall", "e2e_ms.p95"])
    assert [one["name"] for one in found] == ["accuracy", "overall", "e2e_ms.p95"]


def test_several_words_are_one_phrase_where_they_are_known_as_one() -> None:
    assert explain_arguments(["real-time", "priority"]) == explain_words("real-time priority")


def test_of_several_names_the_unknown_one_is_named() -> None:
    with pytest.raises(UsageError, match=r"'acuracy' \(did you mean \"accuracy\""):
        explain_arguments(["overall", "acuracy"])
