"""Regressions of an agent that did not become worse: versions by case, and whole checks in CI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.verdicts.compared_values import ComparedValues
from agentbench_tui.verdicts.finding import Finding
from agentbench_tui.verdicts.history import Point
from agentbench_tui.verdicts.place import Place
from agentbench_tui.verdicts.task_evidence import TaskEvidence
from agentbench_tui.verdicts.version_judgement import judged_by_versions
from simulations.evidence import asked
from simulations.guarantee import Guarantee, Rate

Floats = NDArray[np.float64]

RIGHT, RUNS = 0.8, 5


class StoredAnswers(ComparedValues):
    """What a store would say of runs whose credits are known, float64[cases], by run key."""

    def __init__(self, right: dict[int, Floats]) -> None:
        self._right = right

    def answers(
        self, old: Sequence[Point], new: Sequence[Point], metric: str
    ) -> tuple[TaskEvidence, TaskEvidence] | None:
        rows = [np.stack([self._right[one.run_key] for one in side]) for side in (old, new)]
        a, b = (asked(row.shape[1], len(row), **{metric: row}) for row in rows)
        return a, b


def point(number: int, version: str, values: dict[str, float]) -> Point:
    """A run of a task benchmark, an hour after the one before."""
    at = f"2026-01-{1 + number // 24:02d}T{number % 24:02d}:00:00.000Z"
    row = {"key": number, "observed": 1, "agent_id": "bot", "model_configuration": None}
    execution = cast("dict[str, Any]", row)
    return Point(f"r{number:05d}", number, at, version, (execution,), {}, {}, "clean", values)


def _called_worse(cases: int, anew: float, trials: int, draw: np.random.Generator) -> Rate:
    """A deterministic agent whose next version, as good, answers a share of the cases anew."""
    hits = 0
    for _ in range(trials):
        old = draw.random(cases) < RIGHT
        new = np.where(draw.random(cases) < anew, draw.random(cases) < RIGHT, old)
        answers: dict[int, Floats] = {}
        sides: list[list[Point]] = []
        for version, right in enumerate((old, new)):
            keys = range(version * RUNS, (version + 1) * RUNS)
            answers |= dict.fromkeys(keys, right.astype(np.float64))
            value = {"accuracy": float(right.mean())}
            sides.append([point(key, str(version), value) for key in keys])
        base = Finding(Place("s", "b"), "accuracy", "not enough data", (), margin=0.02)
        found = judged_by_versions(base, *sides, StoredAnswers(answers))
        hits += found.verdict == "regression"
    return Rate(hits, trials)


def _anew(cases: int, share: float) -> Guarantee:
    return Guarantee(
        f"regressions, accuracy, {cases} cases, 5 runs of each version, deterministic agent",
        f"an equally good version that answers {100 * share:g}% of the cases anew called worse",
        lambda trials, draw: _called_worse(cases, share, trials, draw),
        trials=500,
        highest=0.05,
        assumes="cases are independent, or their cluster is declared",
        breaks="questions share a document or template and no cluster is declared",
    )


ROWS = (*(_anew(cases, share) for cases in (50, 200) for share in (0.1, 0.3)),)
