"""Regressions of an agent that did not become worse: versions by case, and whole checks in CI."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.runs.daily_cycle import daily_cycle
from agentbench_tui.analysis.runs.history_gate import GateLevels
from agentbench_tui.analysis.runs.history_replay import replay, replays
from agentbench_tui.verdicts.evidence.place import Place
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.regression.compared_values import ComparedValues
from agentbench_tui.verdicts.regression.finding import Finding
from agentbench_tui.verdicts.regression.history import Point
from agentbench_tui.verdicts.regression.version_judgment import judged_by_versions
from simulations.evidence import asked
from simulations.guarantee import Guarantee, Rate
from simulations.run_series import CHECKED_FROM, SHAPES, Series, series
from simulations.run_series import RUNS as RUNS_OF_SERIES

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


METRICS = 4
"""Of each benchmark with a value for each run: two times, tokens and cost."""
HISTORY = 44
"""Runs before the one that is checked."""
MARGIN = math.log(1.05)


def _checked(benchmarks: int, trials: int, draw: np.random.Generator, *, is_suspect: bool) -> Rate:
    """An agent that never changed, in CI: is any metric of any benchmark called worse, or suspect?

    Runs scatter by 1 to 6%, and half of a benchmark's scatter is common to its metrics.
    """
    levels, hits = GateLevels.of_check(5 * benchmarks), 0  # with accuracy, which has its own test
    for _ in range(trials):
        verdicts: set[str] = set()
        for _ in range(benchmarks):
            noise, common = draw.uniform(0.01, 0.06), draw.normal(0, 1, HISTORY + 1)
            for _ in range(METRICS):
                own = draw.normal(0, 1, HISTORY + 1)
                state = replay(noise * (common + own) / math.sqrt(2), MARGIN, levels)
                if state.episode is not None:
                    verdicts.add("worse" if state.episode.worse else "better")
                elif state.is_suspect:
                    verdicts.add("suspect")
        is_worse = "worse" in verdicts
        hits += ("suspect" in verdicts and not is_worse) if is_suspect else is_worse
    return Rate(hits, trials)


def _check(benchmarks: int, *, is_suspect: bool) -> Guarantee:
    many = "1 benchmark" if benchmarks == 1 else f"{benchmarks} benchmarks"
    return Guarantee(
        f"regressions, one check of {many}, 44 runs before it",
        f"an unchanged agent called {'suspect (exit 3)' if is_suspect else 'worse (exit 1)'}",
        lambda trials, draw: _checked(benchmarks, trials, draw, is_suspect=is_suspect),
        trials=300 // benchmarks,
        highest=0.05 if is_suspect else 0.01,
        assumes="runs scatter independently of each other",
        breaks="a slow hour outlasts the second look, or runs depend on the ones before",
    )


def worse_from(found: Series) -> NDArray[np.bool_]:
    """For each run whether a check after it begins to call a regression, machine by machine."""
    logs, starts = np.log(found.values), np.zeros(RUNS_OF_SERIES, np.bool_)
    for machine in np.unique(found.machine):
        runs = np.flatnonzero(found.machine == machine)
        every, standing = replays(logs[runs], MARGIN, GateLevels()), False
        for upto, run in enumerate(runs, start=1):
            if run < CHECKED_FROM:
                continue
            x, hours = logs[runs[:upto]], found.hours[runs[:upto]]
            cycle = daily_cycle(x, hours)
            # without a cycle later runs change nothing: one pass has the state after each run
            state = every[upto - 1] if cycle is None else replay(x - cycle, MARGIN, GateLevels())
            is_worse = state.episode is not None and state.episode.worse
            starts[run] = is_worse and not standing
            standing = is_worse
    return starts


def _history(noise: float, step: float, trials: int, draw: np.random.Generator) -> Rate:
    """Histories of all shapes in turn: whether the step is found, or anything without a step."""
    hits = 0
    for trial in range(trials):
        found = series(SHAPES[trial % len(SHAPES)], noise, step, draw)
        hits += bool(worse_from(found)[found.step_at if step else 0 :].any())
    return Rate(hits, trials)


def _f1(noise: float, trials: int, draw: np.random.Generator) -> Rate:
    """F1 = 2 × found ÷ (found + called worse + histories with a step), of equally many histories
    with and without a step.
    """
    found = _history(noise, _STEP, trials, draw).hits
    false = _history(noise, 0.0, trials, draw).hits
    return Rate(2 * found, found + false + trials)


_STEP = 0.1
_OF_HISTORY: dict[str, tuple[Callable[..., Rate], float, float]] = {
    "a step of 10% found": (partial(_history, step=_STEP), 0.9, 1.0),
    "nothing changed, called worse in 48 checks": (partial(_history, step=0.0), 0.0, 0.08),
    "F1 of finding a step of 10%": (_f1, 0.95, 1.0),
}
"""How each event is measured, and its bounds."""


def _of_history(noise: float, event: str) -> Guarantee:
    measure, lowest, highest = _OF_HISTORY[event]
    return Guarantee(
        f"regressions, history of 72 runs, run noise {100 * noise:g}%, seven shapes",
        event,
        lambda trials, draw: measure(noise, trials=trials, draw=draw),
        trials=70,
        lowest=lowest,
        highest=highest,
        assumes="cycles: two days of four runs or more a day; machines: told apart by fingerprint",
        breaks="noise near half of the step, or each run depends much on the one before",
    )


ROWS = (
    *(_anew(cases, share) for cases in (50, 200) for share in (0.1, 0.3)),
    *(_check(count, is_suspect=suspect) for count in (1, 4, 10) for suspect in (False, True)),
    *(_of_history(noise, event) for noise in (0.01, 0.03) for event in _OF_HISTORY),
)
