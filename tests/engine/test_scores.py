"""The numbers of an execution against figures worked out by hand."""

import json
import math
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from carried_out import Result, run, suite

from agentbench_tui.engine.task.rescoring import rescore
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.store.transaction import write_once
from agentbench_tui.verdicts.ranking.leaderboard import category_leaderboard
from agentbench_tui.verdicts.selection.contenders import Wanted

# Right on 0 and 1, wrong on 2, raises on 3. Each answer is 100 + 20 tokens of a priced model.
FIVE = """
from agentbench_tui.model.answer import Answer, Usage
def mixed(prompt):
    if prompt == "3":
        raise ValueError("no")
    text = "?" if prompt == "2" else prompt
    return Answer(text, usage=Usage(100, 20), model="test-model")
def silent(prompt):
    return prompt
def unpriced(prompt):
    return Answer(prompt, usage=Usage(1, 1), model="nobody-sells-this")
def right(prompt):
    return Answer(prompt, usage=Usage(50, 10), model="test-model")
"""
PRICES = [{"model": "test-*", "input": 1.0, "output": 5.0}]
"""An answer of `mixed` costs 100 × 1 + 20 × 5 millionths of a dollar: 0.0002."""


def value(metrics: dict[str, Any], name: str) -> Any:
    return metrics[name]["value"]


async def retimed(result: Result, times_ms: list[float], asking_s: float) -> None:
    """Give the answers other times, and aggregate anew."""
    seqs = result.column("SELECT seq FROM answers ORDER BY seq")
    write_once(
        result.database,
        [
            lambda c: c.executemany(
                "UPDATE answers SET e2e_ms=? WHERE seq=?", list(zip(times_ms, seqs, strict=True))
            ),
            lambda c: c.execute("UPDATE iterations SET asking_s=?", (asking_s,)),
        ],
    )
    with closing(connect_to_read(result.database)) as connection:
        row = find_run(connection, result.outcome.run_id)
    await rescore(result.database, row)


async def test_quality_tokens_and_cost(tmp_path: Path) -> None:
    document = suite(4, suite={"prices": PRICES})
    result = await run(tmp_path, document, FIVE, "mixed")
    metrics = result.metrics("mixed")
    assert value(metrics, "accuracy") == pytest.approx(2 / 4)
    assert value(metrics, "correct_share") == pytest.approx(2 / 4)
    assert value(metrics, "reliability") == pytest.approx(3 / 4)
    # Wilson, 3 of 4, z = 1.96: (0.3006, 0.9544), as in any table of it.
    assert metrics["reliability"]["low"] == pytest.approx(0.3006, abs=5e-4)
    assert metrics["reliability"]["high"] == pytest.approx(0.9544, abs=5e-4)
    assert value(metrics, "tokens_used") == 3 * 120
    assert value(metrics, "tokens_per_correct") == pytest.approx(180)
    assert value(metrics, "cost_usd") == pytest.approx(0.0006)
    assert value(metrics, "cost_usd_per_task") == pytest.approx(0.00015)
    assert value(metrics, "cost_usd_per_correct") == pytest.approx(0.0003)
    assert value(metrics, "api_calls") == 3
    assert metrics["cost_usd"]["reason"] is None
    stored = result.rows(
        "SELECT model, input_usd_per_mtok, output_usd_per_mtok, source FROM prices"
    )
    assert [tuple(row) for row in stored] == [("test-model", 1.0, 5.0, "suite")]


async def test_a_cost_of_tokens_that_we_counted_says_so(tmp_path: Path) -> None:
    code = """
from agentbench_tui.model.answer import Answer, Usage
def counted(prompt):
    return Answer(prompt, usage=Usage(100, 20, estimated=prompt != "0"), model="test-model")
def told(prompt):
    return Answer(prompt, usage=Usage(100, 20, estimated=True), cost_usd=0.5)
"""
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    result = await run(tmp_path, suite(4), code, "counted", "told", prices=tmp_path / "prices.json")
    reason = "estimated: the tokens of 3 answers were counted here, not by the server"
    for name in ("cost_usd", "cost_usd_per_task", "cost_usd_per_correct"):
        assert result.metrics("counted")[name]["value"] > 0
        assert result.metrics("counted")[name]["reason"] == reason
        assert result.metrics("told")[name]["reason"] is None
    assert result.column("SELECT source FROM prices") == [str(tmp_path / "prices.json")]


async def test_what_is_not_known_is_null_with_its_reason(tmp_path: Path) -> None:
    code = FIVE + "def nothing(prompt): raise ValueError\n"
    result = await run(tmp_path, suite(4), code, "silent", "unpriced", "nothing")
    silent, unpriced = result.metrics("silent"), result.metrics("unpriced")
    assert value(silent, "cost_usd") is None
    assert silent["cost_usd"]["reason"] == (
        "the agent did not say how many tokens it used (4 answers)"
    )
    assert unpriced["cost_usd_per_correct"]["reason"] == (
        "the price of nobody-sells-this is not known; give it in `prices` or with --prices"
        " (4 answers)"
    )
    assert silent["tokens_used"]["reason"] == "the agent does not report tokens"
    assert silent["ttft_ms.p50"]["reason"] == "not streamed"
    assert (value(silent, "e2e_ms.p95"), silent["e2e_ms.p95"]["reason"]) == (
        None, "needs 59 (have 4)"
    )  # fmt: skip
    nothing = result.metrics("nothing")
    assert value(nothing, "accuracy") == 0.0
    assert nothing["e2e_ms.p50"]["reason"] == "nothing answered"
    execution = result.execution("silent")
    assert execution["scores"]["cost"] is None
    assert execution["scores"]["speed"] is None


async def test_an_hourly_price_is_shared_out_over_the_time_of_asking(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(4), FIVE, "silent", hourly_price_usd=36.0)
    await retimed(result, [5.0] * 4, asking_s=2.0)
    metrics = result.metrics("silent")
    assert value(metrics, "cost_usd") == pytest.approx(0.02)
    assert value(metrics, "cost_usd_per_correct") == pytest.approx(0.005)
    assert value(metrics, "throughput_per_s") == pytest.approx(2.0)


async def test_percentiles_are_given_from_the_samples_that_support_them(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(59), FIVE, "silent")
    await retimed(result, [float(n) for n in range(1, 60)], asking_s=1.0)
    metrics = result.metrics("silent")
    assert value(metrics, "e2e_ms.p50") == pytest.approx(30.0)
    assert value(metrics, "e2e_ms.mean") == pytest.approx(30.0)
    # Type 7: 1 + 0.95 × 58.
    assert value(metrics, "e2e_ms.p95") == pytest.approx(56.1)
    assert value(metrics, "e2e_ms.p99") is None


async def test_speed_over_repeats_is_the_geometric_mean_of_their_medians(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(1), FIVE, "silent", repeats=2)
    await retimed(result, [10.0, 40.0], asking_s=1.0)
    assert value(result.metrics("silent"), "e2e_ms.p50") == pytest.approx(20.0)


RUBRIC = {
    "speed": {"metric": "e2e_ms.p50", "target": 10, "limit": 1000, "scale": "log"},
    "efficiency": {"metric": "tokens_per_correct", "target": 100, "limit": 300},
    "cost": {"metric": "cost_usd_per_correct", "target": 0.0001, "limit": 0.0005},
}
WEIGHTS = {"accuracy": 2, "speed": 1, "efficiency": 1, "cost": 1, "reliability": 1}


async def test_rubrics_make_scores_and_weights_make_them_one(tmp_path: Path) -> None:
    document = suite(4, scoring_rubric=RUBRIC, suite={"prices": PRICES, "weights": WEIGHTS})
    result = await run(tmp_path, document, FIVE, "mixed")
    await retimed(result, [100.0] * 4, asking_s=1.0)
    expected = {
        "accuracy": 0.5,
        "speed": 0.5,  # log: halfway from 10 to 1000 is 100
        "efficiency": 0.6,  # (180 - 300) ÷ (100 - 300)
        "cost": 0.5,  # (0.0003 - 0.0005) ÷ (0.0001 - 0.0005)
        "reliability": 0.75,
    }
    scores = result.execution("mixed")["scores"]
    overall = (2 * 0.5 + 0.5 + 0.6 + 0.5 + 0.75) / 6
    assert scores == pytest.approx({**expected, "overall": overall})
    assert result.document["leaderboard"][0]["overall"] == pytest.approx(overall)


async def test_a_missing_dimension_with_a_weight_leaves_overall_empty(tmp_path: Path) -> None:
    weights = {"accuracy": 1, "speed": 0, "efficiency": 0, "cost": 0.01, "reliability": 0}
    result = await run(tmp_path, suite(4, suite={"weights": weights}), FIVE, "silent")
    assert result.execution("silent")["scores"]["overall"] is None
    entry = result.document["leaderboard"][0]
    assert (entry["overall"], entry["low"]) == (None, None)
    assert (entry["rank"], entry["rank_metric"]) == (1, "accuracy")


async def test_without_a_rubric_scores_are_relative_to_the_baseline_of_the_same_run(
    tmp_path: Path,
) -> None:
    outer = {"prices": PRICES, "baseline": "right", "weights": {"accuracy": 1, "efficiency": 1,
             "speed": 0, "cost": 0, "reliability": 0}}  # fmt: skip
    # The baseline comes last in the plan, and every agent is scored against it all the same.
    result = await run(tmp_path, suite(4, suite=outer), FIVE, "mixed", "right", seeds=2)
    found = [one for one in result.document["executions"] if one["agent_id"] == "mixed"]
    for execution in found:
        # 60 tokens a right answer against 180: a third as good, and as good is 0.5.
        assert execution["scores"]["efficiency"] == pytest.approx(0.5 * 60 / 180)
    base = [one for one in result.document["executions"] if one["agent_id"] == "right"]
    assert [one["scores"]["efficiency"] for one in base] == [0.5, 0.5]
    overall = (0.5 + 1 / 6) / 2
    assert found[0]["scores"]["overall"] == pytest.approx(overall)
    assert found[0]["deviation_from_baseline"] == pytest.approx(overall / 0.75 - 1)
    assert base[0]["deviation_from_baseline"] == pytest.approx(0.0)
    # Two agents' latest executions, one a seed: two below and two equal, halves counted.
    assert base[0]["percentile_rank"] == pytest.approx(100 * (2 + 2 / 2) / 4)
    assert found[0]["percentile_rank"] == pytest.approx(100 * (0 + 2 / 2) / 4)
    before = result.document["executions"]
    await retimed(result, [5.0] * 16, asking_s=1.0)
    again = result.document["executions"]
    assert [one["scores"]["efficiency"] for one in again] == [
        one["scores"]["efficiency"] for one in before
    ]


async def test_agents_of_a_run_rank_by_overall_and_ties_share_a_rank(tmp_path: Path) -> None:
    code = FIVE + "def twin(prompt): return prompt\n"
    result = await run(tmp_path, suite(4), code, "mixed", "silent", "twin")
    board = [(one["rank"], one["agent_id"]) for one in result.document["leaderboard"]]
    assert board == [(1, "silent"), (1, "twin"), (3, "mixed")]


async def test_simulated_agents_rank_only_among_themselves(tmp_path: Path) -> None:
    from agentbench_tui.engine.run.coordinator import carry_out
    from agentbench_tui.engine.run.planning import RunOptions, make_plan

    result = await run(tmp_path, suite(4), FIVE, "mixed")
    both = RunOptions(
        agents=("mixed=python:agents.py:mixed", "ideal=reference:perfect"), folder=tmp_path
    )
    plan = make_plan([str(tmp_path / "suite.json")], both)
    second = Result(await carry_out(plan, result.database), result.database)
    board = [(one["agent_id"], one["rank"]) for one in second.document["leaderboard"]]
    assert board == [("mixed", 1), ("ideal", 1)]
    assert second.execution("mixed")["percentile_rank"] == 50.0
    with closing(connect_to_read(result.database)) as connection:
        views = category_leaderboard(connection, Wanted())
    for rows in (views["agents"], views["categories"]["comprehensive"]):
        assert [(row["agent_id"], row["simulated"], row["rank"]) for row in rows] == [
            ("mixed", False, 1), ("ideal", True, 1)
        ]  # fmt: skip
        assert all(row["accuracy_rank"] == 1 for row in rows)


async def test_credit_between_none_and_full_is_averaged_by_case(tmp_path: Path) -> None:
    (tmp_path / "scorers.py").write_text(
        "def part(case, answer):\n"
        "    return {'value': int(answer.text) / 4, 'completeness': 0.5,\n"
        "            **({'correctness': 0.25} if case.id == 'c1' else {})}\n"
    )
    document = suite(4, scorers=["python:scorers.py:part"], iterations={"warmup": 0, "measured": 2})
    result = await run(tmp_path, document, FIVE, "silent")
    metrics = result.metrics("silent")
    assert value(metrics, "accuracy") == pytest.approx((0 + 1 + 2 + 3) / 16)
    # Four case means 0, 1/4, 2/4, 3/4 of variance 5/48, so φ = 4/9, drawn to 1 by 0.5 of 4.25.
    n = 4 * 4.25 / (3.75 * (5 / 48) / (15 / 64) + 0.5)
    weight = 3.18245**2 / n
    center, half = 0.375 + weight / 2, math.sqrt(15 / 64 * weight + weight**2 / 4)
    assert metrics["accuracy"]["low"] == pytest.approx((center - half) / (1 + weight), abs=1e-4)
    assert metrics["accuracy"]["high"] == pytest.approx((center + half) / (1 + weight), abs=1e-4)
    assert (value(metrics, "completeness"), metrics["completeness"]["n"]) == (0.5, 8)
    assert (value(metrics, "correctness"), metrics["correctness"]["n"]) == (0.25, 2)
    assert metrics["relevance"]["reason"] == "no scorer gives it"


async def test_correctness_is_the_credit_where_no_scorer_gives_it(tmp_path: Path) -> None:
    document = suite(4, scorers=["exact", {"contains": {}}])
    result = await run(tmp_path, document, FIVE, "mixed")
    metrics = result.metrics("mixed")
    # Right on 0 and 1, wrong on 2; 3 was not answered, so nothing was scored.
    assert (value(metrics, "correctness"), metrics["correctness"]["n"]) == (pytest.approx(2 / 3), 3)
    assert result.column("SELECT output_correctness FROM benchmark_executions") == [
        pytest.approx(2 / 3)
    ]
    unjudged = await run(tmp_path, suite(2, scorers=[]), FIVE, "silent")
    assert unjudged.metrics("silent")["correctness"]["reason"] == "no scorer gives it"


async def test_deviation_is_of_overall_where_the_baseline_scores_give_every_dimension(
    tmp_path: Path,
) -> None:
    weights = {"accuracy": 3, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 1}
    five = {"accuracy": 0.8, "speed": 0.1, "efficiency": 0.1, "cost": 0.1, "reliability": 0.4}

    async def deviation(*scores: dict[str, Any]) -> float:
        given = [{"agent_id": "old", **one} for one in scores]
        outer = {"weights": weights, "baseline_scores": given}
        result = await run(tmp_path, suite(4, suite=outer), FIVE, "mixed")
        found = result.execution("mixed")
        assert found["scores"]["overall"] == pytest.approx((3 * 0.5 + 0.75) / 4)
        assert found["deviation_from_baseline"] is not None
        return float(found["deviation_from_baseline"])

    overall = (3 * 0.5 + 0.75) / 4
    assert await deviation({"scores": five}) == pytest.approx(overall / 0.7 - 1)
    assert await deviation({"scores": {**five, "overall": 0.5}}) == pytest.approx(overall / 0.5 - 1)
    assert await deviation({"scores": {"accuracy": 0.8}}) == pytest.approx(0.5 / 0.8 - 1)
    own = {"scores": {"overall": 0.9}, "benchmark_id": "echo"}
    assert await deviation({"scores": five}, own) == pytest.approx(overall / 0.9 - 1)


async def test_promised_metrics_without_a_value_are_told_with_the_reason(tmp_path: Path) -> None:
    document = suite(2, metrics_measured=["accuracy", "e2e_ms", "e2e_ms.p95", "ttft_ms.p50"])
    code = "def echo(prompt):\n    return prompt\n"
    found = (await run(tmp_path, document, code, "echo")).execution("echo")["unmeasured"]
    assert found == {"e2e_ms.p95": "needs 59 (have 2)", "ttft_ms.p50": "not streamed"}
