"""What is said of stress runs elsewhere: their own findings, one value a run; what they cost."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from staged import QUICK_MOCK, Staged, on_stand

from agentbench_tui.load.results.aggregate import read_windows
from agentbench_tui.load.results.columns import read_columns
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.selection import executions_where, specification_of
from agentbench_tui.stress.aggregate import aggregate_report
from agentbench_tui.stress.report import Advice, ScenarioReport, ScoreFacts
from agentbench_tui.stress.reporter import Reporter, facts_of
from agentbench_tui.stress.stand.stand import Stand
from agentbench_tui.stress.stand.window_plan import WindowPlan
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.evidence import evidence_of
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards
from agentbench_tui.verdicts.selection.side import load_sides


async def scored(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *scores: float, **facts: float
) -> Staged:
    """A run of as many agents, each with such a resilience after two windows of unlike load."""
    left = [*scores]

    async def act(stand: Stand, _: Any, __: Any, reporter: Reporter) -> None:
        report: ScenarioReport = reporter.report
        for phase, rate in (("stress", 100), ("recovery", 50)):
            await reporter.window(
                facts_of(await stand.hold(WindowPlan(0.2, rate=rate), phase=phase))
            )
        report.score = ScoreFacts(value=left.pop(0))
        report.observations |= facts

    return await on_stand(folder, monkeypatch, act, *[QUICK_MOCK] * len(scores))


async def test_a_run_of_stress_is_one_value_of_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scores in ((90.0, 40.0), (85.0, 38.0)):
        await scored(tmp_path, monkeypatch, *scores)

    with reading(tmp_path / "store.db") as connection:
        first, second = (executions_where(connection, agent=agent) for agent in ("t0", "t1"))
        numbers = CaseNumbers(connection)
        evidence = evidence_of(connection, first, numbers)
        others = evidence_of(connection, second, numbers)
        rates = {len(one.per_repeat("breaking_rate_per_s")) for one in (evidence, others)}
        (board,) = boards(connection, BoardAsked())
        found = boards(connection, BoardAsked(metric="e2e_ms"))
        sides = load_sides(connection, ("t0", "t1"), None, None, numbers)
        compared = compare(connection, sides, numbers, Asked())

    assert evidence.per_repeat("resilience").tolist() == [90, 85]
    assert others.per_repeat("resilience").tolist() == [40, 38]
    assert not len(evidence.per_repeat("e2e_ms"))
    assert rates == {0}
    assert board["metric"] == "resilience"
    # A board shows the newest run of each.
    assert [(one["name"], one["score"]) for one in board["standings"]] == [
        ("t0", pytest.approx(85)),
        ("t1", pytest.approx(38)),
    ]
    assert not any(one["standings"] for one in found)
    (pair,) = compared.pairs
    assert {one.metric for one in pair.metrics} == {"resilience"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Staged]:
    """Where a run of one agent is stored that has figures of all kinds, and what it told."""
    folder = tmp_path_factory.mktemp("evidence")
    advice = Advice(
        rule="r", severity="info", words="w", evidence={"a": math.nan, "b": 1.5, "c": "x"}
    )
    facts = {"lost": math.nan, "kept": 2.0, "endless": math.inf}
    errors = {"scored_requests": 300.0, "scored_failed": 75.0}
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("agentbench_tui.stress.advice.advice.advise", lambda _: [advice])
        found = asyncio.run(scored(folder, monkeypatch, 90.0, **facts, **errors))
    return folder, found


def test_tokens_and_costs_of_all_windows_are_added_up(told: tuple[Path, Staged]) -> None:
    folder, found = told
    used = found.execution["metrics"]["tokens_used"]
    with reading(folder / "store.db") as connection:
        (row,) = executions_where(connection, agent="t0")
        columns = read_columns(connection, row["key"])
        windows = read_windows(connection, row["key"]).values()
        agent = msgspec.structs.replace(specification_of(connection, row), hourly_price_usd=3.6)
        costs = aggregate_report(connection, row["key"], agent).metrics["cost_usd"]

    assert used["value"] == float(columns.input_tokens.sum() + columns.output_tokens.sum()) > 0
    seconds = sum(one.window_s + max(w.drained_s for w in one.workers) for one in windows)
    assert costs.value == pytest.approx(seconds / 1000)


def test_what_is_no_finite_number_is_left_out(told: tuple[Path, Staged]) -> None:
    report = told[1].told
    scored_by = {"scored_requests", "scored_failed"}
    assert report.observations.keys() - {"machine_cores"} - scored_by == {"kept"}
    assert [one.evidence for one in report.advice] == [{"b": 1.5, "c": "x"}]


def test_errors_are_those_of_what_a_scenario_scores(told: tuple[Path, Staged]) -> None:
    share = told[1].execution["metrics"]["error_share"]
    assert (share["value"], share["n"]) == (0.25, 300)
