"""Independent draws of the run behind two sides, and the consequences of too few for times.

All answers of a run share its machine state. So a time of one run on each side says nothing of how
much runs differ: `analysis.runs.between_run` has the rule that is used then.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.runs.between_run import (
    ASSUMED_SD,
    DRAWS_NEEDED,
    LARGE_CHANGE,
    between_run_error,
    between_run_sd,
    interval_with_error,
    p_of_interval,
    ratio_interval_with_error,
)
from agentbench_tui.verdicts.comparison.comparison import EQUIVALENCE_LEVEL, LEVEL, Comparison
from agentbench_tui.verdicts.comparison.pairing import repeat_means
from agentbench_tui.verdicts.evidence.load_evidence import LoadEvidence
from agentbench_tui.verdicts.evidence.stress_evidence import StressEvidence
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Execution

_IN_TURN = f"{DRAWS_NEEDED} runs of each agent in turn (A, B, A, B, …), or one run of both"


class RunDraws(msgspec.Struct, frozen=True):
    """Number of independent draws of the run on each side."""

    a: int
    b: int
    runs: tuple[int, int]
    """Number of runs of each side; above the number of draws if consecutive runs are of the same
    side.
    """
    of_files: bool = False
    """Whether one of the sides is a file."""

    @property
    def fewest(self) -> int:
        return min(self.a, self.b)

    @property
    def note(self) -> str:
        """Describe the assumption about times and what to do about it; empty if there is none."""
        if self.fewest >= DRAWS_NEEDED:
            return ""
        if min(self.runs) >= 2 and self.fewest == 1:
            return (
                "The runs of one agent were made without runs of the other between them, so they"
                f" count as one. Alternate them: {_IN_TURN}."
            )
        many = "one run" if self.fewest == 1 else f"{self.fewest} runs"
        way = f"{DRAWS_NEEDED} runs per file in a column `run`" if self.of_files else _IN_TURN
        return (
            f"Speed was measured in {many} per side, so its intervals assume that runs differ by"
            f" {100 * ASSUMED_SD:.0f}%. To measure that: {way}."
        )


def run_draws(a: Evidence, b: Evidence) -> RunDraws | None:
    """Return the independent draws of the run on both sides; None if both share their runs.

    A file is one run unless it tells its runs. Runs of one side that no run of the other side
    interrupts were made in one sitting, and are one draw; where each side has `DRAWS_NEEDED`
    sittings, the runs alternate, and each counts.
    """
    runs = count_runs(a), count_runs(b)
    counts = max(1, runs[0]), max(1, runs[1])
    if not a.executions or not b.executions:
        return RunDraws(*counts, counts, of_files=True)
    if _run_ids(a.executions) == _run_ids(b.executions):
        return None
    sittings = _sittings(a.executions, b.executions)
    if min(sittings) >= DRAWS_NEEDED:
        return RunDraws(*counts, counts)
    return RunDraws(*sittings, counts)


def _run_ids(executions: Sequence[Execution]) -> set[str]:
    return {row["run_id"] for row in executions}


def _sittings(a: Sequence[Execution], b: Sequence[Execution]) -> tuple[int, int]:
    """Return the stretches of runs of each side that no run of the other side interrupts."""
    began: dict[str, tuple[str, str]] = {}
    for row in (*a, *b):
        at = row["created_at"], row["run_id"]
        began[row["run_id"]] = min(at, began.get(row["run_id"], at))
    ordered = sorted(began, key=lambda run: began[run])
    sides = _run_ids(a), _run_ids(b)
    counts = [0, 0]
    for place, run in enumerate(ordered):
        before = ordered[place - 1] if place else None
        for side, other in ((0, 1), (1, 0)):
            goes_on = before in sides[side] and before not in sides[other]
            counts[side] += run in sides[side] and not goes_on
    return counts[0], counts[1]


def count_runs(side: Evidence) -> int:
    """Return the number of runs of a side; 0 for a file without a run column."""
    if isinstance(side, TaskEvidence):
        return side.runs
    return len(_run_ids(side.executions))


def by_run(side: Evidence) -> Evidence:
    """Return the side with whole runs as its repeats; a file without a run column is unchanged."""
    if isinstance(side, TaskEvidence | LoadEvidence | StressEvidence) and count_runs(side):
        return side.by_run()
    return side


def with_run_variance(found: Comparison, draws: RunDraws, a: Evidence, b: Evidence) -> Comparison:
    """Return a comparison of times with the between-run variance that its few draws cannot show.

    With `DRAWS_NEEDED` on each side it is in the comparison already. `a` and `b` are the evidence
    as it was compared: by run, where a side has several.
    """
    found = replace(found, draws=draws.fewest)
    effect = found.ratio if found.is_ratio else found.difference
    if draws.fewest >= DRAWS_NEEDED or effect is None:
        return found
    if found.unit == "share":  # what 5% of the time do to answers within a limit is not known
        return replace(found, sd=None, varies_by="runs")
    if found.is_ratio and not 0 < effect < math.inf:
        return replace(found, p_value=None, inner_low=None, inner_high=None)
    several = max(draws.runs) > 1 and min(draws.runs) < DRAWS_NEEDED
    sd = ASSUMED_SD
    if several:
        sd = between_run_sd(_values_of_runs(found, a), _values_of_runs(found, b))
    if found.is_ratio:
        size, error = 1.0, between_run_error((draws.a, draws.b), sd)
        allowed = math.log1p(LARGE_CHANGE)
    else:
        values = abs(found.a or 0.0), abs(found.b or 0.0)
        size = max(values)
        allowed = LARGE_CHANGE * size
        error = sd * math.hypot(values[0] / draws.a**0.5, values[1] / draws.b**0.5)
    low, high = outer = _ends(found, effect, (found.low, found.high), error, LEVEL)
    inner = _ends(found, effect, (found.inner_low, found.inner_high), error, EQUIVALENCE_LEVEL)
    return replace(
        found,
        p_value=_p(found, effect, outer),
        p_large=_p(found, effect, outer, allowed),
        p_serial=None,
        low=low,
        high=high,
        inner_low=inner[0],
        inner_high=inner[1],
        sd=sd * size,
        varies_by="runs",
        method=f"{found.method}; between-run sd of {100 * sd:.3g}% added",
    )


def _values_of_runs(found: Comparison, side: Evidence) -> Floats:
    """Return the value of each run on logarithms, over the same cases if there are any."""
    if isinstance(side, TaskEvidence) and found.metric in side.values:
        column = side.values[found.metric]
        known = column[~np.isnan(column)]
        if len(known) and bool((known > 0).all()):
            return repeat_means(side, found.metric, np.unique(side.case), on_logs=True).value
    values = side.per_repeat(found.metric)
    return np.log(values) if bool((values > 0).all()) else np.empty(0)


def _ends(
    found: Comparison,
    effect: float,
    ends: tuple[float | None, float | None],
    error: float,
    level: float,
) -> tuple[float | None, float | None]:
    low, high = ends
    if low is None or high is None or (found.is_ratio and not 0 < low <= high < math.inf):
        return None, None
    added = ratio_interval_with_error if found.is_ratio else interval_with_error
    return added(effect, low, high, error, level)


def _p(
    found: Comparison,
    effect: float,
    ends: tuple[float | None, float | None],
    allowed: float = 0.0,
) -> float | None:
    """Return p of a difference from none, or of one beyond the allowance; None if there is no
    test.
    """
    low, high = ends
    if found.p_value is None or low is None or high is None or (found.is_ratio and low <= 0):
        return None
    if found.is_ratio:
        effect, low, high = (math.log(one) for one in (effect, low, high))
    return p_of_interval(effect, low, high, LEVEL, allowed)
