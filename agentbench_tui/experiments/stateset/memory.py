"""Memory of a dialogue: stores and searches turns, and builds prompts from them."""

from __future__ import annotations

import math
import random
from collections import Counter, deque
from itertools import cycle
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from agentbench_tui.experiments.experiment import Experiment, register_experiment

if TYPE_CHECKING:
    from agentbench_tui.experiments.experiment import ExperimentContext

_WORDS = (
    "order", "parcel", "refund", "screen", "cable", "monday", "thursday", "broken", "late", "size",
    "colour", "invoice", "account", "password", "delivery", "address", "store", "return", "receipt",
)  # fmt: skip


_TURN_WORDS = 12
_MORE = 64
"""Turns that are added in rotation."""


class DialogueMemory:
    """The latest turns of a dialogue, with an index of their words."""

    def __init__(self, most_turns: int) -> None:
        self._turns: deque[tuple[str, str, Counter[str]]] = deque(maxlen=most_turns)
        self._in_turns: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._turns)

    def add(self, role: str, text: str) -> None:
        """Add a turn; the oldest is dropped if there are too many."""
        if len(self._turns) == self._turns.maxlen:
            self._in_turns -= Counter(self._turns[0][2].keys())
        words = Counter(text.lower().split())
        self._turns.append((role, text, words))
        self._in_turns.update(words.keys())

    def context(self, most_words: int) -> list[dict[str, str]]:
        """Return the latest turns that fit into this many words, oldest first."""
        kept: list[dict[str, str]] = []
        for role, text, words in reversed(self._turns):
            most_words -= words.total()
            if most_words < 0:
                break
            kept.append({"role": role, "content": text})
        return kept[::-1]

    def search(self, query: str, most: int) -> list[str]:
        """Return the turns most similar to the query, weighting rare words higher (tf-idf); of
        equal ones the later.
        """
        asked = set(query.lower().split())
        weight = {word: math.log((1 + len(self)) / (1 + self._in_turns[word])) for word in asked}
        graded = [
            (sum(words[word] * weight[word] for word in asked & words.keys()), place, text)
            for place, (_, text, words) in enumerate(self._turns)
        ]
        return [text for grade, _, text in sorted(graded, reverse=True)[:most] if grade > 0]


def _filled(turns: int, draw: random.Random) -> DialogueMemory:
    memory = DialogueMemory(turns)
    for nth in range(turns):
        memory.add("user" if nth % 2 == 0 else "assistant", _said(draw))
    return memory


def _said(draw: random.Random) -> str:
    return " ".join(draw.choices(_WORDS, k=_TURN_WORDS))


class _Remembered(Experiment):
    """Base of experiments that begin with a full memory, so that iterations are equal: each
    added turn is as long as the dropped one.
    """

    class Parameters(BaseModel):
        turns: int = Field(200, ge=2, le=1_000_000, description="Turns that are remembered.")

    asks_agent = False
    tags = ("stateset", "memory")

    def setup(self, context: ExperimentContext) -> None:
        draw = random.Random(context.seed)  # noqa: S311  # not a secret
        self.memory = _filled(self.params["turns"], draw)
        self.more = cycle([_said(draw) for _ in range(_MORE)])


@register_experiment("stateset_memory_system")
class MemorySystem(_Remembered):
    """Measures adding a turn to a dialogue's memory and building the next prompt's context."""

    def execute_once(self, context: ExperimentContext) -> dict[str, int]:  # noqa: ARG002
        self.memory.add("user", next(self.more))
        kept = self.memory.context(most_words=600)
        return {"turns": len(self.memory), "turns_in_context": len(kept)}


@register_experiment("stateset_dialogue_search")
class DialogueSearch(_Remembered):
    """Measures finding the turns of a dialogue about a topic."""

    def execute_once(self, context: ExperimentContext) -> dict[str, int]:  # noqa: ARG002
        return {"found": len(self.memory.search("refund of a broken cable", most=5))}
