"""Whatever `agentbench explain` lists ranks agents, or says why it does not."""

import asyncio
import math
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.verdicts.explanation import explain, explanations
from agentbench_tui.verdicts.ranking.rankable import rankable
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards

AGENTS = """
from agentbench_tui.model.answer import Answer, Usage
def good(prompt):
    right = int(prompt) % 10 != 0
    return Answer(prompt if right else "?", cost_usd=0.002, usage=Usage(10, 5))
def bad(prompt):
    right = int(prompt) % 4 == 0
    return Answer(prompt if right else "?", cost_usd=0.004, usage=Usage(20, 10))
"""
RUBRIC = {
    "speed": {"metric": "e2e_ms.p50", "target": 60_000, "limit": 120_000, "scale": "log"},
    "efficiency": {"metric": "tokens_per_correct", "target": 10, "limit": 1000, "scale": "log"},
    "cost": {"metric": "cost_usd_per_correct", "target": 0.001, "limit": 0.1, "scale": "log"},
}
WEIGHTS = {"accuracy": 1, "speed": 1, "efficiency": 1, "cost": 1, "reliability": 1}
LOG = math.log(100)
EFFICIENCY = 1 - math.log(600 / 36 / 10) / LOG, 1 - math.log(12) / LOG
COST = 1 - math.log(0.08 / 36 / 0.001) / LOG, 1 - math.log(16) / LOG
OVERALL = (0.9 + 1 + EFFICIENCY[0] + COST[0] + 1) / 5, (0.25 + 1 + EFFICIENCY[1] + COST[1] + 1) / 5
SCORES: dict[str, tuple[float, float]] = {
    "accuracy": (0.9, 0.25),
    "correct_share": (0.9, 0.25),
    "correctness": (0.9, 0.25),
    "reliability": (1, 1),
    "error_rate": (0, 0),
    "input_tokens": (10, 20),
    "input_tokens.mean": (10, 20),
    "output_tokens.mean": (5, 10),
    "tokens_used": (600, 1200),
    "tokens_per_correct": (600 / 36, 120),
    "cost_usd": (0.08, 0.16),
    "cost_usd_per_task": (0.002, 0.004),
    "cost_usd_per_correct": (0.08 / 36, 0.016),
    "api_calls": (40, 40),
    "retries": (0, 0),
    "accuracy_score": (0.9, 0.25),
    "speed_score": (1, 1),
    "efficiency_score": EFFICIENCY,
    "cost_score": COST,
    "reliability_score": (1, 1),
    "overall": OVERALL,
    "percentile_rank": (75, 25),
    "output_tokens.max": (5, 10),
}
"""What `good` and `bad` have, of 40 cases asked once."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rankable")
    document = suite(40, suite={"weights": WEIGHTS}, scoring_rubric=RUBRIC)
    return asyncio.run(run(folder, document, AGENTS, "good", "bad")).database


def of(database: Path, metric: str) -> list[dict[str, Any]]:
    with closing(connect_to_read(database)) as connection:
        return boards(connection, BoardAsked(metric))


def can_rank(name: str) -> bool:
    """Whether it is a number of agents, of which more or less is better."""
    found = explain(name)
    return found["type"] in {"metric", "score", "comparison"} and found["direction"] != "none"


def every_name() -> list[str]:
    return [
        f"{one['name']}.{part}" if part else one["name"]
        for one in explanations()
        for part in ("", *one["parts"])
    ]


@pytest.mark.parametrize(("metric", "scores"), SCORES.items())
def test_a_board_by_it_has_the_scores_worked_out_by_hand(
    measured: Path, metric: str, scores: tuple[float, float]
) -> None:
    (board,) = of(measured, metric)
    found = {line["name"]: line for line in board["standings"]}
    assert (found["good"]["score"], found["bad"]["score"]) == pytest.approx(scores)
    first, second = (found[name]["rank"] for name in ("good", "bad"))
    assert first <= second
    if scores[0] == scores[1]:
        assert first == second == 1
    assert board["unranked"] == []


@pytest.mark.parametrize("name", every_name())
def test_whatever_is_explained_ranks_or_says_why_not(measured: Path, name: str) -> None:
    if not can_rank(name):
        with pytest.raises(UsageError, match=f"--metric {name}: (?!unknown)"):
            of(measured, name)
        return
    found = of(measured, name)
    named = [line["name"] for board in found for line in board["standings"]]
    lacking = [one for board in found for one in board["unranked"]]
    assert sorted([*named, *(one["name"] for one in lacking)]) == ["bad", "good"]
    assert all(one["reason"] for one in lacking)


def test_each_metric_and_score_with_a_direction_can_rank() -> None:
    for one in explanations():
        if can_rank(one["name"]):
            assert rankable(one["name"]).better == one["direction"]
        else:
            with pytest.raises(UsageError, match="--metric"):
                rankable(one["name"])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("turnover", "neither more nor less of it is better"),
        ("offered", "rank by `reliability`"),
        ("ceiling_per_s", "it describes the harness"),
        ("severity", "a change between versions"),
        ("speed_scor", 'did you mean "speed_score"?'),
        ("e2e_ms.p97", "unknown"),
    ],
)
def test_what_cannot_rank_says_why(name: str, told: str) -> None:
    with pytest.raises(UsageError) as slip:
        rankable(name)
    assert told in str(slip.value)


def test_a_dimension_without_its_suffix_is_its_score() -> None:
    assert rankable("speed").name == "speed_score"
    assert rankable("reliability").kind == "metric", "which explain lists by that name too"


def test_a_score_that_is_missing_says_which_dimension_lacks_what(tmp_path: Path) -> None:
    document = suite(8, suite={"weights": WEIGHTS})
    found = asyncio.run(run(tmp_path, document, AGENTS, "good"))
    (board,) = of(found.database, "overall")
    (one,) = board["unranked"]
    assert one["reason"] == (
        "no overall on echo: speed: the suite gives no rubric and no baseline for it"
    )
