"""An agent that knows outcomes is called out; one that is lucky, or knows fair values, is not."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.cli.main import _run
from agentbench_tui.market.baselines import make, play
from agentbench_tui.market.judging import foresight_evidence as foresight_module
from agentbench_tui.market.judging.foresight_evidence import CASH, foresight_log10
from agentbench_tui.market.judging.metrics import measure
from agentbench_tui.market.play.episode import Episode
from agentbench_tui.market.play.game import Game
from agentbench_tui.market.world.conditions import CONDITIONS
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.truth import Truth
from agentbench_tui.market.world.world import PER_MILLION, World, WorldConfig
from agentbench_tui.model.outcome_foresight import foresight
from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode
from agentbench_tui.verdicts.runs.market_summary import agent_summaries, called_out

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


def played(agent: str, probability: Probability, *, simulated: bool = False) -> list[PlayedEpisode]:
    return [
        PlayedEpisode(
            agent,
            f"seed-{world.config.seed}",
            0,
            simulated,
            {
                "world": world.config.document(),
                "metrics": measure(stated(world, truth, probability), world, truth).values,
            },
        )
        for world, truth in WORLDS
    ]


@pytest.mark.parametrize("chance", [0.9, 0.95, 0.98, 0.99, 1.0])
def test_forecasts_that_know_every_outcome_are_called_out(chance: float) -> None:
    episodes = played("cheat", of_the_outcome(chance))
    (sentence,) = called_out(episodes)
    assert sentence.startswith("cheat: its forecasts of 60 markets are right beyond chance.")
    (row,) = agent_summaries(episodes)
    assert row.foresight.is_beyond_chance
    assert row.foresight.forecast_markets == 60


def test_an_oracle_that_is_marked_as_such_is_not() -> None:
    assert called_out(played("oracle", of_the_outcome(1.0), simulated=True)) == []


def test_knowing_every_fair_value_is_no_foreknowledge() -> None:
    episodes = played("fair", fair)
    assert called_out(episodes) == []
    (row,) = agent_summaries(episodes)
    assert row.foresight.log10_evidence == pytest.approx(0.0, abs=0.01)


def test_certainty_of_what_happens_gains_one_over_the_fair_probability_of_the_start() -> None:
    world, truth = WORLDS[0]
    markets, evidence = foresight_log10(stated(world, truth, of_the_outcome(1.0)), world, truth)
    chances = [
        fair(world, truth, place, 0)
        if truth.outcomes[market.id]
        else 1 - fair(world, truth, place, 0)
        for place, market in enumerate(world.markets)
    ]
    assert markets == 5
    # Less what stays in cash: a hundredth of each move.
    assert evidence == pytest.approx(sum(math.log10(1 / chance) for chance in chances), rel=0.03)


@given(
    truth=st.floats(0.0, 1.0),
    step=st.floats(0.0, 1.0),
    forecast=st.floats(0.0, 1.0),
)
def test_the_expected_factor_is_at_most_one_without_foreknowledge(
    truth: float, step: float, forecast: float
) -> None:
    # The probability moves up or down by `step` of the room there is, and its mean stays; of both
    # and of what it was the nearest millionths are known.
    room = step * min(truth, 1.0 - truth)
    now = round(truth * PER_MILLION)
    ends = [round((truth + move) * PER_MILLION) for move in (room, -room)]
    mean = sum(foresight_module._factor(forecast, now, end) for end in ends) / 2
    assert CASH <= mean <= 1.0 + 1e-12


def test_a_gambler_on_forecasts_at_random_does_not_win_on_average() -> None:
    draw = random.Random(1)

    def at_random(_world: World, _truth: Truth, _place: int, _tick: int) -> float:
        return draw.random()

    wealth = [
        10 ** foresight_log10(stated(world, truth, at_random), world, truth)[1]
        for world, truth in WORLDS
    ]
    assert sum(wealth) / len(wealth) < 1


def test_a_certain_forecast_that_is_wrong_costs_a_bounded_amount() -> None:
    world, truth = WORLDS[0]
    _, evidence = foresight_log10(stated(world, truth, of_the_outcome(0.0)), world, truth)
    assert -5 * 30 * 2 <= evidence < -5


def test_repeats_and_other_worlds_of_one_seed_count_once() -> None:
    # Five guesses are lucky once in 32 times; the six conditions share outcomes.
    def metrics(conditions: str) -> dict[str, object]:
        world, truth = generate(WorldConfig(seed=3, conditions=conditions))
        return measure(stated(world, truth, of_the_outcome(1.0)), world, truth).values

    once = foresight([({"seed": 3}, metrics("calm"))])
    every = [({"seed": 3, "conditions": name}, metrics(name)) for name in CONDITIONS]
    assert foresight(every * 8).markets == once.markets == 5
    assert not foresight(every * 8).is_beyond_chance
    salted = [({"seed": 3, "salt_sha256": salt}, metrics("calm")) for salt in "ab"]
    assert foresight(salted).markets == 10


def test_shipped_baselines_that_know_no_outcome_are_not_called_out() -> None:
    for name in ("follower", "bayes"):
        episodes = []
        for world, truth in WORLDS:
            episode = play(Game(world, truth.outcomes), make(name, world, truth, 0))
            record = {
                "world": world.config.document(),
                "metrics": measure(episode, world, truth).values,
            }
            episodes.append(PlayedEpisode(name, f"seed-{world.config.seed}", 0, False, record))
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
                "scorers": ["python:agentbench_tui.market.judging.scorer:attainment"],
                "iterations": {"warmup": 0, "measured": 1},
                "retries": 0,
            }
        ],
    }
    Path("suite.json").write_text(json.dumps(suite))
    assert _run(["run", "suite.json", "--db=a.db", "--no-ui"]) == 0
    text = " ".join(capfd.readouterr().out.split())
    assert "cheat on market: its forecasts are right beyond chance (p at most 10^-" in text
    assert "hold on market: its forecasts" not in text
