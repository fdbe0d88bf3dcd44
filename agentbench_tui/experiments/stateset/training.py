"""The parts of training from rewards: scoring answers, sampling trajectories, a policy step.

The policy is a softmax over actions for a state; its step follows advantages relative to the group,
as in group-relative policy optimization (Shao et al. 2024, arXiv:2402.03300) with one step for each
sample and no KL term. It is small, but every number is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, Field

from agentbench_tui.experiments.experiment import Experiment, register_experiment

if TYPE_CHECKING:
    import numpy as np

    from agentbench_tui.experiments.experiment import ExperimentContext

    Array = np.ndarray[Any, Any]

_GROUP = 8
"""Trajectories of one start that are compared with one another."""


class Policy:
    """A softmax over actions for each of this many states, in a world that rewards one action with
    1.
    """

    def __init__(self, states: int, actions: int, seed: int) -> None:
        import numpy as np

        self.draw = np.random.default_rng(seed)
        self.weights = np.zeros((states, actions))
        self.wanted = self.draw.integers(actions, size=states)

    def rollout(self, groups: int, turns: int) -> tuple[Array, Array, Array]:
        """Return states and actions, int64[groups, 8, turns], and the mean reward, float64[groups,
        8]. All trajectories of a group start alike and see the same states.
        """
        import numpy as np

        states, actions = self.weights.shape
        seen = self.draw.integers(states, size=(groups, 1, turns))
        seen = np.broadcast_to(seen, (groups, _GROUP, turns))
        cumulated = self.probabilities()[seen].cumsum(axis=-1)
        drawn = self.draw.random((groups, _GROUP, turns, 1))
        taken = np.minimum((drawn > cumulated).sum(axis=-1), actions - 1)
        return seen, taken, (taken == self.wanted[seen]).mean(axis=-1)

    def probabilities(self) -> Array:
        """Return float64[states, actions]; each row sums to 1."""
        import numpy as np

        raised = np.exp(self.weights - self.weights.max(axis=1, keepdims=True))
        probabilities: Array = raised / raised.sum(axis=1, keepdims=True)
        return probabilities

    def step(self, seen: Array, taken: Array, rewards: Array, rate: float) -> None:
        """Make one ascent step along the advantages within each group."""
        import numpy as np

        spread = rewards.std(axis=1, keepdims=True)
        advantage = (rewards - rewards.mean(axis=1, keepdims=True)) / (spread + 1e-8)
        each = np.repeat(advantage[..., None], seen.shape[-1], axis=-1).ravel()
        states, actions = seen.ravel(), taken.ravel()
        gradient = np.zeros_like(self.weights)
        np.add.at(gradient, (states, actions), each)
        total = np.bincount(states, weights=each, minlength=len(gradient))
        gradient -= total[:, None] * self.probabilities()
        self.weights += rate * gradient / len(each)


class _Trained(Experiment):
    class Parameters(BaseModel):
        groups: int = Field(16, ge=1, le=100_000, description="Starts; of each 8 trajectories.")
        turns: int = Field(6, ge=1, le=1000)
        states: int = Field(64, ge=1, le=100_000)
        actions: int = Field(16, ge=2, le=10_000)

    asks_agent = False
    tags = ("stateset", "engine")

    def setup(self, context: ExperimentContext) -> None:
        self.policy = Policy(self.params["states"], self.params["actions"], context.seed)

    def effective(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        states, actions = self.policy.weights.shape
        return {**self.params, "states": states, "actions": actions}


@register_experiment("stateset_trajectories")
class Trajectories(_Trained):
    """Sample trajectories from a policy."""

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        _, _, rewards = self.policy.rollout(self.params["groups"], self.params["turns"])
        return {"trajectories": rewards.size, "mean_reward": float(rewards.mean())}


@register_experiment("stateset_training_iteration")
class TrainingIteration(_Trained):
    """Sample trajectories and take a step of the policy; variants have 1, 2 and ½ the work."""

    variants: ClassVar = {
        "scale-1": {"groups": 16},
        "scale-2": {"groups": 32},
        "scale-0.5": {"groups": 8},
    }

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        seen, taken, rewards = self.policy.rollout(self.params["groups"], self.params["turns"])
        self.policy.step(seen, taken, rewards, rate=1.0)
        return {"trajectories": rewards.size, "mean_reward": float(rewards.mean())}


@register_experiment("stateset_reward_scoring")
class RewardScoring(Experiment):
    """Score a batch of answers: by four weighted objectives, or by a small network."""

    class Parameters(BaseModel):
        answers: int = Field(100, ge=1, le=1_000_000)
        by: str = Field("objectives", pattern="^(objectives|network)$")

    variants: ClassVar = {"multi-objective": {"by": "objectives"}, "neural": {"by": "network"}}
    asks_agent = False
    tags = ("stateset", "reward")

    def setup(self, context: ExperimentContext) -> None:
        import numpy as np

        draw = np.random.default_rng(context.seed)
        self.texts = [
            " ".join(draw.choice(_SAID, size=int(draw.integers(5, 60))))
            for _ in range(self.params["answers"])
        ]
        self.layers = [draw.normal(0, size[0] ** -0.5, size) for size in ((64, 128), (128, 1))]

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        import numpy as np

        if self.params["by"] == "objectives":
            scores = np.array([_objectives(text) for text in self.texts])
        else:
            features = np.array([_features(text) for text in self.texts])
            scores = np.tanh(features @ self.layers[0]) @ self.layers[1]
        return {"answers": len(self.texts), "mean_score": float(scores.mean())}


_SAID = (
    "sorry", "thank", "please", "order", "refund", "late", "we", "you", "your", "will", "by",
    "today", "team", "send",
)  # fmt: skip


def _objectives(text: str) -> float:
    """Return relevance 0.4 + politeness 0.2 + length 0.2 + variety 0.2, each in 0..1."""
    words = text.split()
    distinct = set(words)
    relevant = len(distinct & {"order", "refund", "send", "today"}) / 4
    polite = min(1.0, sum(words.count(one) for one in ("sorry", "thank", "please")) / 2)
    length = min(1.0, len(words) / 10) if len(words) <= 40 else 40 / len(words)
    return 0.4 * relevant + 0.2 * polite + 0.2 * length + 0.2 * len(distinct) / len(words)


def _features(text: str) -> list[float]:
    """Return words counted by length and first letter, in 64 bins."""
    counts = [0.0] * 64
    for word in text.split():
        counts[(len(word) * 31 + ord(word[0])) % 64] += 1.0
    return counts
