"""Everything that a leaderboard can rank by: all metrics, and all scores of an execution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.metric import COMPARED, METRICS, SCORES, find_metric
from agentbench_tui.verdicts.comparison.comparison import ALPHA
from agentbench_tui.verdicts.explanation import explained

if TYPE_CHECKING:
    from agentbench_tui.analysis.scale import Better

OVERALL = "overall"
_INSTEAD = {
    "count": "a count grows with the load; rank by `reliability` or a rate such as"
    " `request_throughput_per_s`",
    "harness": "it describes the harness, not an agent",
    "fact": "it is a fact of a load, and neither more nor less of it is better",
    "failure": "a count of failures grows with what was asked; rank by `reliability`",
    "regression": "it describes a change between versions; see `agentbench regressions`",
    "stress": "it describes one scenario; rank by `resilience`, `breaking_rate_per_s` or another"
    " metric of stress",
    "word": "it is a word of a table, not a number of an agent",
}
"""Why figures of each type of explanation cannot rank agents."""


@dataclass(frozen=True, slots=True)
class Rankable:
    """One metric or score that agents are ranked by."""

    name: str
    unit: str
    better: Better
    kind: Literal["metric", "score"]
    column: str = ""
    """Column of a score in `benchmark_executions`."""
    alpha: float = ALPHA
    """Highest probability of any false separation in one board; lower if several boards are
    judged together.
    """

    @property
    def base(self) -> str:
        """Return the metric without the statistic of a distribution."""
        return self.name.partition(".")[0] if self.name.partition(".")[0] in METRICS else self.name

    @property
    def part(self) -> str:
        """Return the statistic of a distribution: `p95`, `mean`; empty if none is named."""
        return self.name[len(self.base) + 1 :]


def rankable(name: str) -> Rankable:
    """Return the metric or score of that name; `speed` is `speed_score`, as in `explain`.

    Raises UsageError, with the reason, for anything that agents cannot be ranked by.
    """
    dimension = name.removesuffix("_score")
    if name == OVERALL:
        return Rankable(OVERALL, "score", "higher", "score", "overall_score")
    if dimension in SCORES and (name != dimension or name not in METRICS):
        return Rankable(f"{dimension}_score", "score", "higher", "score", f"{dimension}_score")
    if name in COMPARED:
        return Rankable(name, COMPARED[name].unit, "higher", "score", name)
    known = find_metric(name)
    if known is not None and known.direction != "none":
        return Rankable(name, known.unit, known.direction, "metric")
    raise UsageError(f"--metric {name}: {_why_not(name)}; `agentbench explain` lists the metrics")


def _why_not(name: str) -> str:
    if find_metric(name) is not None:
        return "neither more nor less of it is better"
    figure = explained(name)
    if figure is not None and figure["type"] in _INSTEAD:
        return _INSTEAD[figure["type"]]
    names = [OVERALL, *(f"{one}_score" for one in SCORES if one != OVERALL), *COMPARED]
    names += [one.name for one in METRICS.values() if one.direction != "none"]
    return f"unknown{did_you_mean(name, names)}"
