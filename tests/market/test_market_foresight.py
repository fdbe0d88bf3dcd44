"""An agent that knows outcomes is called out; one that is lucky, or knows fair values, is not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.market.baselines import make, play
from agentbench_tui.market.episode import Episode
from agentbench_tui.market.foresight import sure_forecasts
from agentbench_tui.market.game import Game
from agentbench_tui.market.generator import generate
from agentbench_tui.market.metrics import measure
from agentbench_tui.market.truth import Truth
from agentbench_tui.market.world import PER_MILLION, World, WorldConfig
from agentbench_tui.model.foresight import foresight
from agentbench_tui.report.market_tables import Played, called_out, summary_rows

WORLDS = [generate(WorldConfig(seed=seed)) for seed in range(12)]
Probability = Callable[[World, Truth, int, int], float]


def stated(world: World, truth: Truth, probability: Probability) -> Episode:
    """The episode of an agent that states a probability of every open market at every tick."""
    game = Game(world, truth.outcomes)
    while not game.is_over:
        for place, market in enumerate(world.markets):
            if game.tick < market.resolve_tick:
                chance = probability(world, truth, place, game.tick)
                params = {"marketId": market.id, "probability": chance}
                game.call("a2a.submitForecast", params)
        game.advance()
    return game.episode()


def of_the_outcome(chance: float) -> Probability:
    def probability(world: World, truth: Truth, place: int, _tick: int) -> float:
        return chance if truth.outcomes[world.markets[place].id] else 1.0 - chance

    return probability


def fair(_world: World, truth: Truth, place: int, tick: int) -> float:
    return truth.fair[place][tick] / PER_MILLION


def played(agent: str, probability: Probability, *, simulated: bool = False) -> list[Played]:
    return [
        Played(
            agent,
            f"seed-{world.config.seed}",
            0,
            simulated,
            {
                "world": {"id": world.id},
                "metrics": measure(stated(world, truth, probability), world, truth).values,
            },
        )
        for world, truth in WORLDS
    ]


@pytest.mark.parametrize("chance", [0.99, 1.0])
def test_forecasts_that_know_every_outcome_are_called_out(chance: float) -> None:
    episodes = played("cheat", of_the_outcome(chance))
    (sentence,) = called_out(episodes)
    assert sentence.startswith("cheat: 60 of 60 sure forecasts (at least 99 %) came true.")
    (row,) = summary_rows(episodes)
    assert row["foresight"]["is_beyond_chance"]
    assert row["foresight"]["sure_forecasts_right"] == 60


def test_an_oracle_that_is_marked_as_such_is_not() -> None:
    assert called_out(played("oracle", of_the_outcome(1.0), simulated=True)) == []


def test_knowing_every_fair_value_is_no_foreknowledge() -> None:
    episodes = played("fair", fair)
    assert called_out(episodes) == []
    (row,) = summary_rows(episodes)
    assert row["foresight"]["sure_forecasts"] > 5


def test_the_factor_of_a_sure_forecast_is_what_was_claimed_over_what_was_fair() -> None:
    world, truth = WORLDS[0]
    sure, right, evidence = sure_forecasts(stated(world, truth, of_the_outcome(0.99)), world, truth)
    chances = [
        fair(world, truth, place, 0)
        if truth.outcomes[market.id]
        else 1 - fair(world, truth, place, 0)
        for place, market in enumerate(world.markets)
    ]
    assert (sure, right) == (5, 5)
    assert evidence == pytest.approx(sum(math.log10(0.99 / chance) for chance in chances))


def test_the_expected_factor_is_one_without_foreknowledge() -> None:
    # Of always claiming YES at the first tick: exactly, over both outcomes of each market.
    for _, truth in WORLDS:
        for column in truth.fair:
            chance = column[0] / PER_MILLION
            mean = chance * (0.99 / chance) + (1 - chance) * (0.01 / (1 - chance))
            assert mean == pytest.approx(1.0)


def test_unsure_forecasts_and_repeats_of_a_world_prove_nothing() -> None:
    world, truth = WORLDS[0]
    assert sure_forecasts(stated(world, truth, of_the_outcome(0.98)), world, truth) == (0, 0, 0.0)
    metrics = measure(stated(world, truth, of_the_outcome(1.0)), world, truth).values
    once = foresight([("a", metrics)])
    assert foresight([("a", metrics)] * 50) == once
    assert not once.is_beyond_chance


def test_shipped_baselines_that_know_no_outcome_are_not_called_out() -> None:
    for name in ("follower", "bayes"):
        episodes = []
        for world, truth in WORLDS:
            episode = play(Game(world, truth.outcomes), make(name, world, truth, 0))
            record = {
                "world": {"id": world.id},
                "metrics": measure(episode, world, truth).values,
            }
            episodes.append(Played(name, f"seed-{world.config.seed}", 0, False, record))
        assert called_out(episodes) == []


def test_a_suite_calls_out_an_agent_that_recomputed_public_worlds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = [
        {
            "id": f"seed-{world.config.seed}",
            "input": {"config": world.config.document(), "salt": ""},
        }
        for world, _ in WORLDS
    ]
    # The first price of each perpetual identifies the world, as anything public does.
    known = {str(world.marks[0][0]): truth.outcomes for world, truth in WORLDS}
    Path("known.json").write_text(json.dumps(known))
    Path("mine.py").write_text(
        "import json, pathlib\n"
        "KNOWN = json.loads(pathlib.Path(__file__).with_name('known.json').read_text())\n"
        "def turn(market):\n"
        "    if market.observation['tick']:\n"
        "        return\n"
        "    price = market.observation['perpetuals'][0]['price']\n"
        "    outcomes = KNOWN[str(round(price * 1_000_000))]\n"
        "    for name, outcome in outcomes.items():\n"
        "        probability = 0.999 if outcome else 0.001\n"
        "        market.call('a2a.submitForecast', marketId=name, probability=probability)\n"
    )
    suite = {
        "suite_id": "public-worlds",
        "category": "accuracy",
        "agents": [
            {"id": "cheat", "target": "python:mine.py:turn"},
            {"id": "hold", "target": "market:hold"},
        ],
        "benchmarks": [
            {
                "benchmark_id": "market",
                "game": "market",
                "dataset": {"cases": cases},
                "scorers": ["python:agentbench_tui.market.scorer:attainment"],
                "iterations": {"warmup": 0, "measured": 1},
                "retries": 0,
            }
        ],
    }
    Path("suite.json").write_text(json.dumps(suite))
    assert _run(["run", "suite.json", "--db=a.db", "--no-ui"]) == 0
    text = " ".join(capfd.readouterr().out.split())
    assert "cheat on market: its sure forecasts are right beyond chance (p at most 10^-" in text
    assert "hold on market: its sure forecasts" not in text
