"""Boards by scores: what the luck of runs adds to intervals, and what it takes to be ahead."""

import asyncio
import math
import random
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

from agentbench_tui.analysis.intervals.estimate import Estimate
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.transaction import write_once
from agentbench_tui.verdicts.ranking.execution_scores import ExecutionScore, execution_scores
from agentbench_tui.verdicts.ranking.rankable import rankable
from agentbench_tui.verdicts.ranking.ranked import rank
from agentbench_tui.verdicts.ranking.ranked_group import Ranked
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards
from agentbench_tui.verdicts.ranking.scorecard import Scorecard
from agentbench_tui.verdicts.ranking.standing import RunLuck, by_intervals
from agentbench_tui.verdicts.selection.contenders import Contender

AGENTS = "def one(prompt): return prompt\ndef two(prompt): return prompt\n"
SPEED = {"metric": "e2e_ms.p50", "target": 200, "limit": 20_000, "scale": "log"}
LUCK = 1.959964 * 0.05
"""Half width of the 95% interval of the assumed between-run variance, on logarithms."""


class Rows:
    """Evidence of nothing but executions."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        self.executions = rows


def ranked(scores: dict[str, list[tuple[int, ExecutionScore]]]) -> Ranked:
    """Agents with (run, score) of executions at places 0, 1, …"""
    cards, by_key = [], {}
    for name, rows in scores.items():
        evidence: dict[int, Any] = {}
        for place, (run_key, score) in enumerate(rows):
            by_key[len(by_key)] = score
            row = {"key": len(by_key) - 1, "run_key": run_key}
            row |= {"overall_score": 1.0, "accuracy_score": 0.0}
            evidence[place] = Rows(row)
        executions = tuple(row for one in evidence.values() for row in one.executions)
        cards.append(Scorecard(Contender(name, name, "1", False, executions), evidence))
    (group,), _ = rank(cards, "overall", scores=by_key)
    return group


def timed(value: float) -> ExecutionScore:
    return ExecutionScore(value, value - 0.003, value + 0.004, 0.02, 0.03, 0.02, is_timed=True)


def test_different_runs_widen_the_interval_of_scores_that_rest_on_times() -> None:
    found = ranked({"a": [(1, timed(0.8))], "b": [(2, timed(0.5))]})
    row = found.standings.rows[0]
    assert found.several_runs
    assert (row.low, row.high) == pytest.approx(
        (0.8 - math.hypot(0.003, 0.02), 0.8 + math.hypot(0.004, 0.03))
    )
    assert "5% assumed between runs" in found.standings.method


def test_one_run_shares_its_luck() -> None:
    found = ranked({"a": [(1, timed(0.8))], "b": [(1, timed(0.79))]})
    row = found.standings.rows[0]
    assert (row.low, row.high, found.several_runs) == pytest.approx((0.797, 0.804, False))
    assert found.standings.labels() == ["1", "2"]


@pytest.mark.parametrize(("other", "labels"), [(0.75, ["1=", "1="]), (0.72, ["1", "2"])])
def test_a_lead_in_different_runs_has_to_exceed_what_10_percent_of_time_does(
    other: float, labels: list[str]
) -> None:
    """Beyond 0.02 of the lead, 95% of normal needs √(0.0202² + 0.0303²) = 0.0364."""
    assert ranked({"a": [(1, timed(0.8))], "b": [(2, timed(other))]}).standings.labels() == labels


def test_scores_without_times_of_different_runs_are_compared_as_they_are() -> None:
    sure = [ExecutionScore(value, value - 0.003, value + 0.003) for value in (0.8, 0.79)]
    found = ranked({"a": [(1, sure[0])], "b": [(2, sure[1])]})
    assert (found.standings.labels(), found.several_runs) == (["1", "2"], False)


def test_the_luck_of_a_run_moves_all_its_benchmarks_together() -> None:
    together = ranked({"a": [(1, timed(0.8)), (1, timed(0.6))], "b": [(2, timed(0.5))] * 2})
    apart = ranked({"a": [(1, timed(0.8)), (3, timed(0.6))], "b": [(2, timed(0.5))] * 2})
    own = math.hypot(0.003, 0.003) / 2
    lows = [one.standings.rows[0].low for one in (together, apart)]
    assert lows == pytest.approx(
        [0.7 - math.hypot(own, 0.02), 0.7 - math.hypot(own, math.hypot(0.02, 0.02) / 2)]
    )


def test_equal_agents_of_different_runs_are_seldom_told_apart() -> None:
    """Runs differ by 6%; by their own intervals some pair is told apart in nearly every table."""
    draw, by_log = random.Random(11), math.log(100)
    wide = math.hypot(0.02, LUCK) / by_log
    false = {"with": 0, "without": 0}
    for _ in range(200):
        logs = [math.log(2000) + draw.gauss(0, 0.06) for _ in range(4)]
        scores = [1 - (log - math.log(200)) / by_log for log in logs]
        own = [Estimate(v, v - 0.02 / by_log, v + 0.02 / by_log, 1, "") for v in scores]
        luck = RunLuck(
            [[{run}] for run in range(4)],
            [Estimate(v, v - wide, v + wide, 1, "") for v in scores],
            [math.log(1.1) / by_log] * 4,
        )
        for name, given in (("with", luck), ("without", None)):
            false[name] += any(row.behind for row in by_intervals(own, "higher", given).rows)
    assert false["with"] <= 10
    assert false["without"] >= 150


def at(database: Path, e2e_ms: float) -> None:
    """Let every execution have taken so long, with 1% to either side, and be scored by it."""
    score = 1 - math.log(e2e_ms / 200) / math.log(100)
    ends = [score - math.log(1.01) / math.log(100), score + math.log(1.01) / math.log(100)]
    write_once(database, [
        lambda c: c.execute("UPDATE metrics SET value=?, low=?, high=? WHERE name='e2e_ms.p50'",
                            (e2e_ms, e2e_ms / 1.01, e2e_ms * 1.01)),
        lambda c: c.execute("UPDATE benchmark_executions SET speed_score=?, overall_score=?,"
                            " overall_low=?, overall_high=?", (score, score, *ends)),
    ])  # fmt: skip


def of_store(database: Path, score: str) -> list[ExecutionScore]:
    with closing(connect_to_read(database)) as connection:
        rows = connection.execute("SELECT * FROM benchmark_executions ORDER BY key").fetchall()
        found = execution_scores(connection, [dict(row) for row in rows], rankable(score))
    return [*found.values()]


WEIGHTS = {"accuracy": 0, "speed": 1, "efficiency": 0, "cost": 0, "reliability": 0}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """`one` in run 1, `two` in run 2."""
    document = suite(8, suite={"weights": WEIGHTS}, scoring_rubric={"speed": SPEED})
    asyncio.run(run(tmp_path, document, AGENTS, "one"))
    return asyncio.run(run(tmp_path, document, AGENTS, "two")).database


@pytest.mark.parametrize("score", ["speed_score", "overall"])
def test_a_rubric_maps_the_luck_of_a_run(database: Path, score: str) -> None:
    at(database, 2000)
    found = of_store(database, score)[0]
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high) == pytest.approx(
        (0.5 - math.log(1.01) / math.log(100), 0.5 + math.log(1.01) / math.log(100))
    )
    assert (found.worse, found.better) == pytest.approx((LUCK / math.log(100),) * 2)
    assert found.large == pytest.approx(math.log(1.1) / math.log(100))
    assert found.is_timed


def test_a_score_at_its_end_is_moved_one_way_alone(database: Path) -> None:
    at(database, 200)
    found = of_store(database, "speed_score")[0]
    assert found.better == 0
    assert found.worse == pytest.approx(LUCK / math.log(100))


def test_overall_across_runs_is_shown_with_the_luck_of_runs(database: Path) -> None:
    at(database, 2000)
    with closing(connect_to_read(database)) as connection:
        (board,) = boards(connection, BoardAsked("overall"))
    line = board["standings"][0]
    half = math.hypot(math.log(1.01), LUCK) / math.log(100)
    assert (line["low"], line["high"]) == pytest.approx((0.5 - half, 0.5 + half))
    assert [note[:43] for note in board["notes"]] == ["Speed was measured in different runs, so ra"]


def test_scores_of_times_of_another_machine_have_a_board_apart(database: Path) -> None:
    at(database, 2000)
    write_once(database, [
        lambda c: c.execute("INSERT INTO environments (hash, fingerprint, document)"
                            " SELECT 'other', 'another machine', document FROM environments"
                            " LIMIT 1"),
        lambda c: c.execute("UPDATE runs SET environment_hash='other' WHERE key=2"),
    ])  # fmt: skip
    with closing(connect_to_read(database)) as connection:
        found = boards(connection, BoardAsked("speed_score"))
    named = [[line["name"] for line in board["standings"]] for board in found]
    assert sorted(named) == [["one"], ["two"]]


def test_a_baseline_of_the_same_run_shares_its_luck(tmp_path: Path) -> None:
    relative = {"weights": WEIGHTS, "baseline": "one"}
    found = asyncio.run(run(tmp_path, suite(8, suite=relative), AGENTS, "one", "two"))
    scores = of_store(found.database, "speed_score")
    assert [one.value > 0 for one in scores] == [True, True]
    assert [(one.worse, one.better, one.large) for one in scores] == [(0, 0, 0)] * 2
