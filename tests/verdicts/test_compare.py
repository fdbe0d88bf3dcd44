"""Sides out of the store: what is matched, what differs besides, and what it comes to."""

import asyncio
import json
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

from agentbench_tui.contracts.document import plain
from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.verdicts.comparison.compare import Compared, compare
from agentbench_tui.verdicts.comparison.compare_document import compare_document
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.comparison.outcome import Outcome
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.selection.side import load_sides

AGENTS = """
from agentbench_tui.model.answer import Answer, Usage
def said(prompt, right, tokens):
    text = prompt if right else "?" + prompt
    return Answer(text, usage=Usage(7, tokens), cost_usd=tokens * 1e-5)
def good(prompt):
    return said(prompt, int(prompt) % 10 != 0, 100 + int(prompt))
def better(prompt):
    return said(prompt, int(prompt) % 10 != 1, 50 + int(prompt) // 2)
def bad(prompt):
    return said(prompt, int(prompt) % 4 == 0, 100 + int(prompt))
def cheap(prompt):
    return said(prompt, int(prompt) % 4 == 0, 10 + int(prompt) // 10)
def dead(prompt):
    raise RuntimeError("no")
"""
NAMES = ("good", "better", "bad", "cheap", "dead")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 cases, 3 repeats, by five agents; and a second run of `good` by other cases and seed."""
    folder = tmp_path_factory.mktemp("compare")
    document = suite(40, suite={"category": "accuracy"})
    asyncio.run(run(folder, document, AGENTS, *NAMES, repeats=3, tags=("first",)))
    later = suite(30, suite={"category": "accuracy"}, concurrency=2)
    later["benchmarks"][0]["dataset"]["cases"] = later["benchmarks"][0]["dataset"]["cases"][10:]
    return asyncio.run(run(folder, later, AGENTS, "good", tags=("later",), seed=7)).database


@pytest.fixture
def database(measured: Path, tmp_path: Path) -> Path:
    shutil.copyfile(measured, tmp_path / "store.db")
    return tmp_path / "store.db"


def change(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        for one in statements:
            connection.execute(one)


def sides_of(
    database: Path, selectors: Sequence[str], *metrics: str, **asked: Any
) -> tuple[Compared, dict[str, Any]]:
    with closing(connect_to_read(database)) as connection:
        numbers = CaseNumbers(connection)
        sides = load_sides(connection, selectors, None, None, numbers)
        found = compare(connection, sides, numbers, Asked(**asked), metrics)
        return found, plain(compare_document(connection, found, numbers, 5))


def by_metric(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["metric"]: one for one in document["metrics"]}


def words(document: dict[str, Any]) -> dict[str, str]:
    """What differs besides the agents, on the only benchmark."""
    (benchmark,) = document["benchmarks"]
    return {one["what"]: one["words"] for one in benchmark["differences"]}


def test_a_winner_is_better_in_something_and_worse_in_nothing(measured: Path) -> None:
    _, document = sides_of(measured, ["tag:first/good", "tag:first/better"], "output_tokens")
    tokens = by_metric(document)["output_tokens"]
    assert tokens["verdict"] == "better"
    assert tokens["ratio"] == pytest.approx(0.5, rel=0.01)
    assert document["overall"]["winner"] == "tag:first/better"
    assert document["categories"] == {"accuracy": "tag:first/better"}
    assert document["recommendations"][0].startswith("take tag:first/better: output_tokens 50%")


def test_gains_and_losses_are_a_trade_off(measured: Path) -> None:
    _, document = sides_of(measured, ["tag:first/good", "cheap"], "accuracy", "cost_usd_per_task")
    verdicts = {name: one["verdict"] for name, one in by_metric(document).items()}
    assert verdicts == {"accuracy": "worse", "cost_usd_per_task": "better"}
    assert document["overall"]["verdict"] == "trade-off"
    assert document["overall"]["winner"] is None
    assert document["recommendations"][0].startswith("choose by what matters: with cheap cost")


def test_an_agent_that_never_answers_wins_nothing(measured: Path) -> None:
    found, document = sides_of(measured, ["tag:first/good", "dead"])
    verdicts = {name: one["verdict"] for name, one in by_metric(document).items()}
    assert verdicts["accuracy"] == verdicts["reliability"] == "worse"
    assert "better" not in verdicts.values()
    assert document["overall"]["winner"] == "tag:first/good"
    assert found.adjustment == "holm"
    assert "e2e_ms: B has no value of it" in document["benchmarks"][0]["notes"]


def test_cases_that_one_side_alone_gets_right_come_with_both_answers(measured: Path) -> None:
    _, document = sides_of(measured, ["tag:first/good", "bad"])
    apart = document["benchmarks"][0]["disagreements"]
    # Of 0 … 39: right unless divisible by 10, against right where divisible by 4.
    assert (apart["only_a"], apart["only_b"]) == (28, 2)
    first = apart["first"][0]
    assert first["expected"] == first["a"]["answer"]
    assert first["b"]["answer"] == "?" + first["expected"]
    assert (first["a"]["right"], first["b"]["right"]) == (1.0, 0.0)
    _, document = sides_of(measured, ["tag:first/good", "dead"])
    assert document["benchmarks"][0]["disagreements"]["first"][0]["b"]["failure"] == "agent"


def test_only_cases_that_both_were_asked_are_compared(measured: Path) -> None:
    _, document = sides_of(measured, ["tag:first/good", "tag:later"], paired="no")
    assert words(document)["cases"] == (
        "A was asked 40 cases, B 20: the 20 that both were asked are compared"
    )
    tokens = by_metric(document)["output_tokens"]
    assert tokens["a"] == pytest.approx(tokens["b"])


def test_other_seeds_and_definitions_are_told(measured: Path) -> None:
    _, document = sides_of(measured, ["tag:first/good", "tag:later"])
    assert words(document)["seeds"] == "other seeds: 42 against 7"
    assert "concurrency 1 against 2" in words(document)["definition"]
    assert document["n_pairs"] == 20  # the same cases, whatever the seed


async def test_a_former_name_of_a_scorer_is_no_other_definition(tmp_path: Path) -> None:
    for name in ("normalised", "normalized"):
        document = suite(12, scorers=[name], suite={"version": name})
        await run(tmp_path, document, AGENTS, "good", tags=(name,))
    store = tmp_path / "store.db"
    _, document = sides_of(store, ["tag:normalised", "tag:normalized"], "accuracy")
    assert "definition" not in words(document)
    assert document["n_pairs"] == 12
    # The agent puts a question mark before two of the numbers, which this scorer ignores.
    assert [by_metric(document)["accuracy"][side] for side in "ab"] == [1.0, 1.0]


def test_times_of_other_machines_are_shown_but_not_judged(database: Path) -> None:
    other = "INSERT INTO environments VALUES ('other', 'other machine', '{}')"
    change(database, other, "UPDATE runs SET environment_hash='other' WHERE tags='[\"later\"]'")
    change(database, "UPDATE answers SET e2e_ms = 10 * e2e_ms WHERE run_key = 2")
    _, document = sides_of(database, ["tag:first/good", "tag:later"])
    assert "different machines" in words(document)["machine"]
    time = by_metric(document)["e2e_ms"]
    assert time["ratio"] > 3
    assert (time["comparable"], time["verdict"], time["p_adjusted"]) == (
        False, "inconclusive", None,
    )  # fmt: skip
    assert by_metric(document)["accuracy"]["comparable"]
    assert any("one machine to compare e2e_ms" in said for said in document["recommendations"])


def test_nobody_wins_by_other_scorers_or_other_cases(database: Path) -> None:
    two = ["tag:first/good", "tag:later"]
    change(database, "UPDATE answers SET credit = 0 WHERE run_key = 2")
    assert sides_of(database, two, "accuracy")[1]["overall"]["winner"] == "tag:first/good"
    of_later = "(SELECT suite_hash FROM benchmark_executions WHERE run_key = 2)"
    change(
        database,
        "UPDATE benchmark_suites SET document ="
        f" json_set(document, '$.benchmarks[0].scorers', 'exact') WHERE hash IN {of_later}",
    )
    found, document = sides_of(database, two, "accuracy")
    assert by_metric(document)["accuracy"]["verdict"] == "worse"
    assert document["overall"]["winner"] is None
    assert "scorers" in found.pairs[0].why_unranked


def test_nobody_wins_where_no_case_is_the_same(database: Path) -> None:
    of_later = "(SELECT dataset_key FROM benchmark_executions WHERE run_key = 2)"
    change(
        database,
        "UPDATE answers SET credit = 0 WHERE run_key = 2",
        f"UPDATE cases SET case_id = 'other-' || case_id WHERE dataset_key IN {of_later}",
    )
    found, document = sides_of(database, ["tag:first/good", "tag:later"], "accuracy")
    assert document["overall"]["winner"] is None
    assert "none of them the same" in found.pairs[0].why_unranked


BOTH_RUNS = "UPDATE runs SET tags='[\"both\"]'"


def test_runs_are_compared_as_soon_as_a_side_has_two(database: Path) -> None:
    _, document = sides_of(database, ["tag:first/good", "tag:first/bad"], "output_tokens")
    assert by_metric(document)["output_tokens"]["repeats"] == 3
    _, document = sides_of(database, ["tag:first/good", "tag:first/bad"], "e2e_ms.p50")
    assert by_metric(document)["e2e_ms.p50"]["of"] == "repeats"
    change(database, BOTH_RUNS)
    _, document = sides_of(database, ["tag:both/good", "tag:both/bad"], "output_tokens")
    (benchmark,) = document["benchmarks"]
    assert benchmark["notes"] == ("runs are compared, not their repeats: A has 2, B has 1",)
    assert by_metric(document)["output_tokens"]["repeats"] == 1
    _, document = sides_of(database, ["tag:both/good", "tag:both/bad"], "e2e_ms.p50")
    assert by_metric(document)["e2e_ms.p50"]["of"] == "runs"


def test_times_of_one_run_each_allow_for_the_variance_between_runs(measured: Path) -> None:
    for other, allowed in (("tag:later", True), ("tag:first/bad", False)):
        _, document = sides_of(measured, ["tag:first/good", other])
        notes = str(document["benchmarks"][0]["notes"])
        assert ("Speed was measured in one run per side" in notes) == allowed
        assert ("between-run sd" in by_metric(document)["e2e_ms"]["method"]) == allowed


def test_times_of_sides_that_mix_machines_are_not_judged(database: Path) -> None:
    other = "INSERT INTO environments VALUES ('other', 'other machine', '{}')"
    change(database, other, BOTH_RUNS, "UPDATE runs SET environment_hash='other' WHERE key=2")
    _, document = sides_of(database, ["tag:both/good", "tag:both/good"])
    assert words(document)["machine"].startswith("measured on several machines")
    assert not by_metric(document)["e2e_ms"]["comparable"]


def test_a_disturbed_machine_is_told(database: Path) -> None:
    change(database, "UPDATE runs SET verdict='noisy' WHERE key=1")
    _, document = sides_of(database, ["tag:first/good", "bad"])
    assert words(document)["harness"].startswith("A is noisy, B is noisy")


def test_a_simulated_agent_wins_over_no_measured_one(database: Path) -> None:
    change(database, "UPDATE benchmark_executions SET simulated=1 WHERE agent_id='bad'")
    _, document = sides_of(database, ["bad", "tag:first/good"])
    assert words(document)["simulated"].startswith("A is simulated, B measured")
    assert by_metric(document)["accuracy"]["verdict"] == "better"
    assert document["overall"]["winner"] is None


def test_the_same_executions_are_no_different(measured: Path) -> None:
    _, document = sides_of(measured, ["bad", "bad"])
    assert words(document)["same"] == "both sides hold the same executions"
    assert document["overall"]["winner"] is None
    assert {one["verdict"] for one in document["metrics"]} <= {"equivalent", "inconclusive"}
    assert not document["recommendations"]
    assert {one["n_needed"] for one in document["metrics"]} == {None}


def test_of_three_the_winner_beats_or_equals_every_other(measured: Path) -> None:
    three = ["bad", "tag:first/good", "better"]
    _, document = sides_of(measured, three, "output_tokens")
    assert [(one["a"], one["b"]) for one in document["matrix"]] == [
        ("bad", "tag:first/good"), ("bad", "better"), ("tag:first/good", "better"),
    ]  # fmt: skip
    assert document["overall"]["winner"] == "better"
    _, document = sides_of(measured, ["cheap", *three], "accuracy", "output_tokens")
    assert document["overall"]["winner"] is None
    assert document["tests"] == 11  # of 12, one in which too few cases differ to tell anything
    assert document["adjustment"] == "benjamini-hochberg"


def test_what_was_measured_together_is_adjusted_together(measured: Path) -> None:
    """Accuracy first: the least p of its share of the error, four fifths."""
    _, document = sides_of(measured, ["tag:first/good", "bad"])
    accuracy = by_metric(document)["accuracy"]
    assert accuracy["p_adjusted"] == pytest.approx(accuracy["p_value"] / 0.8)
    assert document["tests"] < len(document["metrics"])  # reliability: no answer failed


def test_the_price_of_an_hour_is_a_cost_of_whole_repeats(tmp_path: Path) -> None:
    result = asyncio.run(
        run(tmp_path, suite(8), AGENTS, "good", "bad", repeats=3, hourly_price_usd=36.0)
    )
    stored = result.metrics("good")["cost_usd_per_task"]["value"]
    with closing(connect_to_read(result.database)) as connection:
        numbers = CaseNumbers(connection)
        (side, _) = load_sides(connection, ["good", "bad"], None, None, numbers)
        (evidence,) = side.evidence.values()
    assert isinstance(evidence, TaskEvidence)
    assert "cost_usd_per_task" not in evidence.values
    assert evidence.per_repeat("cost_usd_per_task").mean() == pytest.approx(stored)
    asking = result.column("SELECT asking_s FROM iterations WHERE execution_key=1 ORDER BY repeat")
    expected = [s / 100 + 1e-5 * sum(range(100, 108)) for s in asking]  # 36 USD/h is 0.01 USD/s
    assert evidence.per_repeat("cost_usd").tolist() == pytest.approx(expected)
    _, document = sides_of(result.database, ["good", "bad"])
    assert by_metric(document)["cost_usd_per_task"]["of"] == "repeats"


def test_points_of_a_sweep_are_matched_or_held_against_each_other(tmp_path: Path) -> None:
    document = suite(12, prompt="{input}", sweep={"parameters": {"level": [1, 2]}})
    database = asyncio.run(run(tmp_path, document, AGENTS, "good", "bad")).database
    found, _ = sides_of(database, ["good", "bad"])
    assert [one.place.point for one in found.pairs[0].benchmarks] == [
        {"level": 1}, {"level": 2},
    ]  # fmt: skip
    found, _ = sides_of(database, ["good?level=1", "good?level=2"])
    (one,) = found.pairs[0].benchmarks
    assert one.place.point == {}
    found, _ = sides_of(database, ["good?level=2", "bad"])
    (one,) = found.pairs[0].benchmarks
    assert one.place.point == {"level": 2}


def test_sides_without_a_benchmark_in_common(tmp_path: Path) -> None:
    asyncio.run(run(tmp_path, suite(2), AGENTS, "good"))
    other = suite(2, suite={"suite_id": "other"})
    database = asyncio.run(run(tmp_path, other, AGENTS, "bad")).database
    with pytest.raises(UsageError, match="no benchmark in common: good was measured on small/echo"):
        sides_of(database, ["good", "bad"])


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (["acuracy"], "no such metric .did you mean .accuracy"),
        (["sent_per_s"], "neither more nor less"),
    ],
)
def test_metrics_that_cannot_be_compared(measured: Path, metrics: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sides_of(measured, ["better", "bad"], *metrics)


def test_the_document_is_json(measured: Path) -> None:
    _, document = sides_of(measured, ["tag:first/good", "bad", "dead"])
    assert json.loads(json.dumps(document, allow_nan=False))["schema"] == "agentbench.compare/1"


@pytest.mark.parametrize(
    ("counts", "verdict", "settled"),
    [
        ((1, 0, 2, 0), "better", True),
        ((1, 0, 0, 3), "better", False),
        ((0, 1, 0, 0), "worse", True),
        ((2, 1, 0, 0), "trade-off", True),
        ((0, 0, 3, 0), "tie", True),
        ((0, 0, 3, 1), "tie", False),
        ((0, 0, 0, 0), "tie", False),
    ],
)
def test_the_outcome_of_several_metrics(
    counts: tuple[int, int, int, int], verdict: str, settled: bool
) -> None:
    found = Outcome(*counts)
    assert (found.verdict, found.is_settled) == (verdict, settled)
    mirrored = {"better": "worse", "worse": "better"}
    assert found.swapped().verdict == mirrored.get(verdict, verdict)
