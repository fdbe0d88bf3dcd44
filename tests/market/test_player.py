"""A benchmark that is played: cases, episodes, credit and metrics go the way of any task."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.market import document
from agentbench_tui.market.baselines import BASELINES
from agentbench_tui.market.cases import worlds
from agentbench_tui.market.document import MOST_MARKS
from agentbench_tui.market.judging.scorer import attainment
from agentbench_tui.market.packing import whole
from agentbench_tui.market.play.actions import ERROR_NAMES, METHODS
from agentbench_tui.market.play.player import Player
from agentbench_tui.market.play.seating import seat_of
from agentbench_tui.market.world.stage import open_stage, read_input
from agentbench_tui.model.answer import Answer, Case, GraderFailure, Request
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.market_metrics import MARKET_METRICS
from agentbench_tui.presentation.market.episode_pages import detailed_page
from agentbench_tui.reports.html.document import html_page
from agentbench_tui.reports.market.report_folder import actions_csv
from agentbench_tui.tui.pages.market.state import episode_view
from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode

SMALL = {"duration": 10.0, "markets": 2, "perpetuals": 1}


def episode(name: str, seed: int = 7, **given: Any) -> Answer:
    """What a baseline makes of a small world."""
    from agentbench_tui.agents.registry import open_agent
    from agentbench_tui.agents.target import parse_agent

    (case,) = worlds(seed, **{**SMALL, **given})
    spec = parse_agent(f"market:{name}", base_dir="")
    agent = open_agent(spec, memory_limit_mb=None, concurrency=1)
    player = Player(seat_of(agent, spec, None))
    return asyncio.run(player.answer(Request(Case(case["id"], case["input"]), 3)))


def test_cases_follow_from_the_seed_and_are_one_world_each() -> None:
    cases = [*worlds(5, 3, **SMALL)]
    assert [case["id"] for case in cases] == ["seed-5", "seed-6", "seed-7"]
    stages = [open_stage(read_input(case["input"])[0]) for case in cases]
    assert len({stage.world.id for stage in stages}) == 3
    assert [case["input"] for case in worlds(5, 3, **SMALL)] == [case["input"] for case in cases]
    with pytest.raises(UsageError, match='"bul"'):
        [*worlds(5, conditions="bul")]


def test_an_episode_is_what_the_page_market_shows() -> None:
    data = episode("always_long").data
    view = episode_view(data, "always_long")
    assert view.ticks == 11
    assert view.equity[-1] - view.equity[0] == pytest.approx(data["metrics"]["total_pnl"])
    assert {one.kind for one in view.instruments} == {"market", "perpetual"}
    assert view.positions(view.ticks - 1) == []  # all is closed or paid out at the end
    assert any(one.side == "yes" for one in view.positions(1))
    for one in view.instruments:
        if one.kind == "market":
            assert one.resolved_tick is not None
            assert one.outcome in {"yes", "no"}
    assert "trajectory" not in data


def test_a_long_episode_is_kept_at_some_of_its_ticks() -> None:
    answer = episode("always_long", duration=30.0, interval=1.0)
    assert len(json.dumps(answer.data)) < 400_000
    data = whole(answer.data)
    assert data["ticks"] <= MOST_MARKS + 1
    assert all(len(one["prices"]) == data["ticks"] for one in data["instruments"])
    assert data["equity"][-1] == pytest.approx(10_000 + data["metrics"]["total_pnl"])
    assert all(act["tick"] < data["ticks"] for act in data["acts"])
    for one in data["instruments"]:
        if one["kind"] == "market":
            paid = 1.0 if one["outcome"] == "yes" else 0.0
            resolved = one["resolved_tick"]
            assert [*{*one["prices"][resolved:]}] == [paid]
            assert one["prices"][resolved - 1] != paid
    assert len(data["acts"]) == data["calls"] == data["metrics"]["calls"] > 3_000
    last = data["acts"][-1]
    assert last["tick"] == last["world_tick"] * (data["ticks"] - 1) // 1_800


def test_of_too_many_calls_every_nth_is_kept_and_the_pages_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = episode("momentum").data["acts"]
    monkeypatch.setattr(document, "MOST_ACTS", 9)
    data = episode("momentum").data
    every = data["acts_every"]
    assert data["acts"] == calls[::every]
    assert every == -(-len(calls) // 9) > 1
    page = html_page(detailed_page(PlayedEpisode("momentum", "seed-7", 0, False, data)))
    assert f"{len(data['acts'])} of {len(calls)} calls, evenly over the game, are kept." in page


def test_a_page_shows_calls_from_all_of_a_long_game_and_says_how_many_there_are() -> None:
    act = {"method": "a2a.submitForecast", "arguments": {}, "ok": True, "result": ""}
    acts = [{"tick": place // 10, "world_tick": place, **act} for place in range(5_000)]
    metrics = {"total_pnl": -2.5, "optimality_fair": None}
    record = {"acts": acts, "calls": 5_000, "said": [], "metrics": metrics}
    played = PlayedEpisode("a", "w", 0, False, record)
    page = html_page(detailed_page(played))
    assert "a loses $2.50." in page
    assert "1,667 of 5,000 calls, one in 3; actions.csv has all of them." in page
    assert ">4,998</td>" in page
    assert "are kept" not in page
    assert actions_csv(played).count("submitForecast") == 5_000


def test_no_episode_holds_what_only_the_judge_knows() -> None:
    text = json.dumps(episode("bayes").data)
    for secret in ("reliability_ppm", '"fair"', "truth", "optimal_actions"):
        assert secret not in text


@pytest.mark.parametrize(
    ("fair", "value", "correct"),
    [(1.7, 1.0, True), (0.05, 0.05, True), (0.0, 0.0, False), (-3.0, 0.0, False)],
)
def test_credit_is_what_was_attained_cut_to_a_share(
    fair: float, value: float, correct: bool
) -> None:
    answer = Answer(data={"metrics": {"optimality_fair": fair, "total_pnl": 12.5}})
    score = attainment(Case("seed-1", {}), answer)
    assert (score.value, score.correct) == (value, correct)
    assert score.metadata["optimality_fair"] == fair
    with pytest.raises(GraderFailure, match="not an episode"):
        attainment(Case("seed-1", {}), Answer("hello"))


def test_who_knows_the_rules_can_be_right_and_who_holds_is_not() -> None:
    case = Case("seed", {})
    held = [attainment(case, episode("hold", seed=seed)).correct for seed in range(3)]
    known = [attainment(case, episode("bayes", seed=seed)).correct for seed in range(12)]
    assert not any(held)
    assert sum(known) >= 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("text", "an object"),
        ({}, "one of `config` and `file`"),
        ({"confg": {}}, 'did you mean "config"'),
        ({"config": {"seed": "x"}}, "not one of the game market"),
        ({"file": "a.json", "pacing": {"real_time": "fast"}}, "not one of the game market"),
    ],
)
def test_a_case_that_is_no_world_is_told(given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_input(given)


def test_a_benchmark_that_cannot_be_played_is_told_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    suite = {
        "suite_id": "wrong",
        "benchmarks": [
            {
                "benchmark_id": "one",
                "game": "market",
                "dataset": {"cases": [{"id": "a", "input": "text"}]},
                "scorers": ["python:agentbench_tui.market.judging.scorer:attainment"],
            }
        ],
    }
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    monkeypatch.chdir(tmp_path)
    assert _run(["suites", "validate", "suite.json"]) == 2
    said = capfd.readouterr().err
    assert all(word in said for word in ("retries", "warmup", "case a"))


def test_a_suite_of_worlds_runs_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = _run(
        ["run", "market-smoke", "--no-ui", "--db", "a.db", "--format", "json", "--runs", "2"]
    )
    assert code == 0
    document = json.loads(capfd.readouterr().out)
    by_agent = {one["agent_id"]: one for one in document["executions"]}
    assert len(by_agent) == 8
    assert [name for name, one in by_agent.items() if one["simulated"]] == ["oracle"]
    with closing(sqlite3.connect("a.db")) as connection:
        rows = connection.execute(
            "SELECT e.agent_id, m.name, m.value FROM metrics m"
            " JOIN benchmark_executions e ON e.key=m.execution_key"
        ).fetchall()
    stored = {(agent, name): value for agent, name, value in rows}
    assert {name for _, name in stored} >= set(MARKET_METRICS)
    assert stored["hold", "total_pnl"] == 0
    assert stored["hold", "accuracy"] == 0
    assert stored["hold", "brier"] is None
    assert stored["oracle", "total_pnl"] > stored["bayes", "total_pnl"]
    assert stored["oracle", "optimality"] == pytest.approx(1, abs=0.02)


def test_the_page_of_the_market_names_every_method_metric_and_error() -> None:
    page = (Path(__file__).parents[2] / "docs/market.md").read_text()
    for name in (*METHODS, *MARKET_METRICS, *BASELINES):
        assert f"`{name}`" in page or f"`market:{name}`" in page, name
    for code in ERROR_NAMES:
        assert str(code) in page, code
