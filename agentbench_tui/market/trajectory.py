"""Episodes for training: one JSON object a game, with each tick's observation, actions and
reward.

Observations follow from the world and the actions, so they are made here by playing the recorded
calls again. What becomes public only at a resolution is in no earlier step; hidden fair values,
reliabilities and news to come are in none. Episodes of one world share `group`, as GRPO wants.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.market.packing import pack
from agentbench_tui.market.play.actions import METHODS, MethodError
from agentbench_tui.market.play.game import Game, GameConfig
from agentbench_tui.market.world.world import DOLLAR

if TYPE_CHECKING:
    from agentbench_tui.market.play.episode import Call, Episode
    from agentbench_tui.market.world.world import World

SCHEMA = "agentbench.trajectory/1"
MOST_PACKED = 2_400_000
"""Maximum characters of a trajectory in an answer, which may have about four million and holds
other data too.
"""
_SECRET = frozenset(
    {
        *("truth", "groundTruth", "outcomes", "fair", "reliability", "reliability_ppm", "news"),
        *("optimalActions", "optimal_actions", "gameKnowledge", "trueProbabilities", "seed"),
        *("actualOutcome", "actualOutcomes", "futureOutcomes", "correctness", "optimality"),
    }
)
"""Keys that have no place in an agent's own memory of a game."""


def trajectory_of(
    world: World, episode: Episode, *, knows_outcomes: bool = False
) -> dict[str, Any]:
    """Return the episode as one JSON object.

    Raises ValueError if `validate` would refuse it. `knows_outcomes`: whether the agent received
    the truth, so that training should exclude the episode.
    """
    calls: dict[int, list[Call]] = defaultdict(list)
    for call in episode.calls:
        calls[call.tick].append(call)
    messages: dict[int, list[Any]] = defaultdict(list)
    for tick, message in episode.messages:
        messages[tick].append(msgspec.to_builtins(message))
    game = _replay(world, episode)
    steps = []
    for tick in range(episode.ticks):
        observation = game.observation()
        steps.append(_step(episode, tick, observation, calls[tick], messages[tick]))
        for call in calls[tick]:
            if call.code == 0 and METHODS[call.method].changes:
                _again(game, call)
        game.advance()
    if game.account.cash != episode.balance[-1]:
        raise ValueError(f"the calls of this episode were not made in world {world.id}")
    errors = sum(call.code != 0 for call in episode.calls)
    trajectory = {
        "schema": SCHEMA,
        "knowsOutcomes": knows_outcomes,
        "group": world.id,
        "world": world.id,
        "scenarioId": world.id,
        "ticks": episode.ticks,
        "startTime": world.time_ms(0),
        "endTime": world.time_ms(episode.ticks),
        "steps": steps,
        "reward": episode.pnl / DOLLAR,
        "totalReward": episode.pnl / DOLLAR,
        "rewardComponents": {"environmentReward": episode.pnl / DOLLAR},
        "metrics": {
            "episodeLength": len(steps),
            "finalStatus": "completed_with_errors" if errors else "completed",
            "finalBalance": episode.balance[-1] / DOLLAR,
            "finalPnL": episode.pnl / DOLLAR,
            "tradesExecuted": len(episode.trades) + len(episode.perp_trades),
            "postsCreated": sum(
                call.code == 0 and call.method == "a2a.createPost" for call in episode.calls
            ),
            "errorCount": errors,
        },
    }
    validate(trajectory)
    return trajectory


def validate(trajectory: Mapping[str, Any]) -> None:
    """Raise ValueError, with the problem, for a trajectory that cannot be used for training."""
    if trajectory.get("schema") != SCHEMA:
        raise ValueError(f"a trajectory has the schema {SCHEMA}, not {trajectory.get('schema')}")
    steps = trajectory.get("steps")
    if not isinstance(steps, list) or not steps:
        raise ValueError("the trajectory has no steps, so it cannot be used for training")
    if not trajectory.get("group"):
        raise ValueError("a trajectory has a group: the id of its world")
    for number, step in enumerate(steps):
        if step.get("stepNumber") != number:
            raise ValueError(f"steps.{number} has number {step.get('stepNumber')}")
        for key in ("reward", "returnToGo"):
            value = step.get(key)
            if not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ValueError(f"steps.{number}.{key} is not a finite number")
        if not step.get("observation"):
            raise ValueError(f"steps.{number} has no observation")
    secret = _secret_path(trajectory, "")
    if secret:
        raise ValueError(f"{secret} reveals what an agent must not know")


def keep_trajectory(
    data: dict[str, Any], world: World, episode: Episode, *, knows_outcomes: bool = False
) -> None:
    """Add the packed trajectory to the answer's data, or a notice if it is too long."""
    packed = pack(trajectory_of(world, episode, knows_outcomes=knows_outcomes))
    if len(packed) <= MOST_PACKED:
        data["trajectory"] = packed
        return
    data.setdefault("notices", []).append(
        f"trajectories of {world.ticks:,} ticks are not kept: this one has"
        f" {len(packed) / 1e6:.1f} MB packed, and there is room for {MOST_PACKED / 1e6:.1f}"
    )


def _step(
    episode: Episode,
    tick: int,
    observation: dict[str, Any],
    calls: list[Call],
    messages: list[Any],
) -> dict[str, Any]:
    """Return one tick: the reward is the change of equity until the next tick, the return sums all
    later ones.
    """
    equity = episode.equity
    return {
        "stepNumber": tick,
        "timestamp": observation["timestamp"],
        "environmentState": {
            "agentBalance": episode.balance[tick] / DOLLAR,
            "agentPnL": (equity[tick] - episode.initial) / DOLLAR,
            "openPositions": episode.open_positions[tick],
            "activeMarkets": sum(not row["resolved"] for row in observation["predictions"]),
        },
        "observation": observation,
        "messages": messages,
        "toolCalls": [_call(call) for call in calls],
        "action": [_call(call) for call in calls if _acts(call)],
        "reward": (equity[tick + 1] - equity[tick]) / DOLLAR,
        "returnToGo": (equity[-1] - equity[tick]) / DOLLAR,
        "timedOut": tick in episode.timeouts,
        "done": tick == episode.ticks - 1,
    }


def exported(
    trajectory: Mapping[str, Any], agent_id: str, name: str, repeat: int, *, knows_outcomes: bool
) -> dict[str, Any]:
    """Return the trajectory as written to files: with its agent, and each model call with its
    prompt.

    `name` identifies the episode in its run. The store keeps the messages alone, to save space.
    """
    system = ""
    steps = []
    for step in trajectory["steps"]:
        system = next((m["content"] for m in step["messages"] if m["role"] == "system"), system)
        steps.append({**step, "llmCalls": _model_calls(system, step["messages"])})
    return {
        **trajectory,
        "agentId": agent_id,
        "trajectoryId": name,
        "episodeId": name,
        "groupIndex": repeat,
        "knowsOutcomes": knows_outcomes,
        "steps": steps,
    }


def _model_calls(system: str, messages: list[Any]) -> list[dict[str, Any]]:
    """Return each answer of a model with its prompt; none for other agents."""
    user = ""
    calls = []
    for message in messages:
        content = message.get("content", "")
        if message["role"] == "user":
            user = content
        elif message["role"] == "assistant":
            calls.append(
                {
                    "systemPrompt": system,
                    "userPrompt": user,
                    "response": content,
                    "purpose": "action",
                }
            )
    return calls


def _acts(call: Call) -> bool:
    return call.method in METHODS and METHODS[call.method].changes


def _call(call: Call) -> dict[str, Any]:
    row: dict[str, Any] = {
        "actionType": call.method,
        "parameters": call.params,
        "success": call.code == 0,
    }
    if call.code:
        row["error"] = {"code": call.code, "message": call.message}
    elif call.result is not None:
        row["result"] = call.result
    return row


def _replay(world: World, episode: Episode) -> Game:
    outcomes = {world.markets[place].id: outcome for _, place, outcome in episode.resolutions}
    most = len(episode.calls) + 1
    return Game(world, outcomes, GameConfig(max_calls_per_tick=most, max_calls=most))


def _again(game: Game, call: Call) -> None:
    try:
        game.call(call.method, call.params)
    except MethodError as error:
        raise ValueError(f"a call that was answered is refused now: {error.message}") from None


def _secret_path(value: object, path: str) -> str:
    """Return the path of the first key that reveals the truth, or empty.

    The agent's own messages do not count.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            here = f"{path}.{key}" if path else str(key)
            if key in _SECRET:
                return here
            found = "" if key in {"parameters", "arguments"} else _secret_path(inner, here)
            if found:
                return found
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            found = _secret_path(inner, f"{path}.{number}")
            if found:
                return found
    return ""
