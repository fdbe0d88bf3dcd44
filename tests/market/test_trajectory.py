"""Trajectories for training: complete, told step by step, and without the truth."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from tiny_worlds import tiny_world, truth_of

from agentbench_tui.market import trajectory
from agentbench_tui.market.baselines import make, play
from agentbench_tui.market.packing import unpack
from agentbench_tui.market.play.actions import MethodError
from agentbench_tui.market.play.game import Game
from agentbench_tui.market.trajectory import exported, keep_trajectory, trajectory_of, validate
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.world import WorldConfig
from agentbench_tui.model.answer import Message


@pytest.fixture(scope="module")
def bayes() -> dict[str, Any]:
    world, truth = generate(WorldConfig(seed=2))
    episode = play(Game(world, truth.outcomes), make("bayes", world, truth, 0))
    return trajectory_of(world, episode)


def test_rewards_add_up_to_the_profit_and_returns_are_what_is_left(bayes: dict[str, Any]) -> None:
    steps = bayes["steps"]
    assert len(steps) == 30
    assert sum(step["reward"] for step in steps) == pytest.approx(bayes["reward"])
    for number, step in enumerate(steps):
        rest = sum(later["reward"] for later in steps[number:])
        assert step["returnToGo"] == pytest.approx(rest, abs=1e-6)
    assert [step["done"] for step in steps] == [False] * 29 + [True]


def test_an_observation_is_what_was_seen_before_the_actions_of_its_step(
    bayes: dict[str, Any],
) -> None:
    first, second = bayes["steps"][:2]
    assert first["observation"]["positions"]["predictionPositions"] == []
    assert first["action"]
    assert second["observation"]["tick"] == 1
    assert second["environmentState"]["agentBalance"] == pytest.approx(
        second["observation"]["account"]["balance"]
    )


def test_outcomes_are_in_no_step_before_they_were_public(bayes: dict[str, Any]) -> None:
    for step in bayes["steps"]:
        observation = step["observation"]
        for row in observation["predictions"]:
            assert ("outcome" in row) == (row["resolveAt"] <= observation["timestamp"])


def test_messages_and_refused_calls_are_in_their_step() -> None:
    world = tiny_world()
    game = Game(world, truth_of(world, True).outcomes)
    game.advance()
    game.note(Message("assistant", "I buy."))
    with pytest.raises(MethodError):
        game.call("a2a.buyShares", {"marketId": "market-0", "outcome": "YES", "amount": -1})
    game.advance()
    game.advance()
    step = trajectory_of(world, game.episode())["steps"][1]
    assert step["messages"] == [{"role": "assistant", "content": "I buy."}]
    assert step["toolCalls"][0]["error"]["code"] == -32602
    assert not step["action"][0]["success"]


def test_a_file_has_each_model_call_with_its_prompt_and_whose_it_is() -> None:
    world = tiny_world()
    game = Game(world, truth_of(world, True).outcomes)
    game.note(Message("system", "Trade."))
    game.advance()
    for message in (Message("user", "tick 1"), Message("assistant", "I wait.")):
        game.note(message)
    game.advance()
    game.advance()
    kept = trajectory_of(world, game.episode())
    assert "llmCalls" not in kept["steps"][1]
    file = exported(kept, "mine", "mine/seed-1/run-3", 2, knows_outcomes=False)
    assert [step["llmCalls"] for step in file["steps"]] == [
        [],
        [
            {
                "systemPrompt": "Trade.",
                "userPrompt": "tick 1",
                "response": "I wait.",
                "purpose": "action",
            }
        ],
        [],
    ]
    assert (file["agentId"], file["trajectoryId"], file["groupIndex"]) == (
        "mine",
        "mine/seed-1/run-3",
        2,
    )
    validate(file)


def test_one_that_is_too_long_for_an_answer_is_left_out_and_that_is_told(
    bayes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, truth = generate(WorldConfig(seed=2))
    episode = play(Game(world, truth.outcomes), make("bayes", world, truth, 0))
    data: dict[str, Any] = {}
    keep_trajectory(data, world, episode)
    assert unpack(data["trajectory"]) == json.loads(json.dumps(bayes))
    assert [*data] == ["trajectory"]
    monkeypatch.setattr(trajectory, "MOST_PACKED", 1_000)
    data = {"notices": ["before"]}
    keep_trajectory(data, world, episode)
    assert [*data] == ["notices"]
    assert "trajectories of 30 ticks are not kept" in data["notices"][1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.update(steps=[]), "no steps"),
        (lambda one: one.update(group=""), "group"),
        (lambda one: one.update(schema="x"), "schema"),
        (lambda one: one["steps"][1].update(reward=float("nan")), r"steps\.1\.reward"),
        (lambda one: one["steps"][1].update(observation={}), r"steps\.1 has no observation"),
        (lambda one: one["steps"].pop(0), r"steps\.0 has number 1"),
        (
            lambda one: one["steps"][3]["observation"].update(groundTruth={}),
            r"steps\.3\.observation\.groundTruth",
        ),
        (lambda one: one["metrics"].update(optimality=1.0), r"metrics\.optimality"),
        (
            lambda one: one["steps"][0]["action"][0].update(correctness={}),
            r"steps\.0\.action\.0\.correctness",
        ),
    ],
)
def test_what_cannot_be_trained_on_is_refused(
    bayes: dict[str, Any], change: Any, said: str
) -> None:
    changed = copy.deepcopy(bayes)
    change(changed)
    with pytest.raises(ValueError, match=said):
        validate(changed)


def test_an_episode_of_another_world_is_refused() -> None:
    world, truth = generate(WorldConfig(seed=2))
    other, _ = generate(WorldConfig(seed=3))
    episode = play(Game(world, truth.outcomes), make("bayes", world, truth, 0))
    with pytest.raises(ValueError, match=r"this episode|answered is refused"):
        trajectory_of(other, episode)
