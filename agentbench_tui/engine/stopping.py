"""When to stop: signals and wishes, budgets, and the early stops that a benchmark asks for."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from agentbench_tui.model.answer import FailureKind

if TYPE_CHECKING:
    from agentbench_tui.model.suite import EarlyStop

_INFRASTRUCTURE = frozenset({FailureKind.HARNESS, FailureKind.CONNECTION})
_LEAST_FOR_HOPELESS = 20
"""Observations before an execution may be called hopeless."""


class Budget:
    """Caps of a whole run on cost and tokens, checked after every attempt."""

    def __init__(self, cost_limit_usd: float | None, token_limit: int | None) -> None:
        self.cost_limit_usd = cost_limit_usd
        self.token_limit = token_limit
        self.cost_usd = 0.0
        self.tokens = 0

    def spend(self, cost_usd: float | None, tokens: int | None) -> None:
        self.cost_usd += cost_usd or 0.0
        self.tokens += tokens or 0

    @property
    def spent_reason(self) -> str | None:
        """Why nothing more may be asked, or None."""
        if self.cost_limit_usd is not None and self.cost_usd >= self.cost_limit_usd:
            return f"cost limit reached: {self.cost_usd:.4f} of {self.cost_limit_usd:g} USD"
        if self.token_limit is not None and self.tokens >= self.token_limit:
            return f"token limit reached: {self.tokens} of {self.token_limit}"
        return None


class Progress:
    """What one execution has seen so far: enough for early stops and the live view.

    Two doubles an observation; answers themselves are in the store.
    """

    def __init__(self) -> None:
        self.observed = 0
        self.answered = 0
        self.correct = 0
        self.tokens = 0
        self.cost_usd = 0.0
        self.e2e_ms = array("d")
        self.credits = array("d")
        self.infrastructure_failures_in_a_row = 0
        self.passes = 0
        """Measured iterations finished, over all repeats."""
        self.stop_reason: str | None = None
        self.broken: str | None = None
        """Why the execution cannot be measured to its end, or None."""

    def note(
        self,
        failure: FailureKind | None,
        credit: float | None,
        correct: bool | None,
        e2e_ms: float,
    ) -> None:
        """Count one finished observation."""
        self.observed += 1
        self.correct += bool(correct)
        if failure is None:
            self.answered += 1
            self.e2e_ms.append(e2e_ms)
        if credit is not None:
            self.credits.append(credit)
        elif failure not in {None, FailureKind.GRADER, FailureKind.HARNESS}:
            self.credits.append(0.0)
        if failure in _INFRASTRUCTURE:
            self.infrastructure_failures_in_a_row += 1
        else:
            self.infrastructure_failures_in_a_row = 0


def check_infrastructure(progress: Progress, rule: EarlyStop) -> None:
    """Mark the execution broken after too many infrastructure failures in a row."""
    failures = progress.infrastructure_failures_in_a_row
    if failures >= rule.harness_failures:
        progress.broken = f"{failures} failures of connection or harness in a row"


def check_early_stop(progress: Progress, rule: EarlyStop) -> None:
    """Set `progress.stop_reason` when precision is reached or the case is hopeless.

    Precision is looked at after fixed numbers of passes only (5, 10, 15, 20, 30, …): looking
    after every one would make the interval too narrow (statistics: optional stopping).
    """
    import numpy as np

    from agentbench_tui.analysis.interval import t_log_mean, t_mean, wilson

    credit = np.asarray(progress.credits)
    if rule.hopeless_below is not None and len(credit) >= _LEAST_FOR_HOPELESS:
        upper = wilson(float(credit.sum()), len(credit)).high
        if upper < rule.hopeless_below:
            progress.stop_reason = (
                f"hopeless: accuracy is below {rule.hopeless_below:g} (upper bound {upper:.3f})"
            )
            return
    if rule.half_width is None or not _is_look(progress.passes):
        return
    if rule.metric in {"accuracy", "correct_share"}:
        interval = t_mean(credit)
        width = (interval.high - interval.low) / 2
    else:
        interval = t_log_mean(np.asarray(progress.e2e_ms))
        width = (interval.high - interval.low) / (interval.high + interval.low)
    if width <= rule.half_width:
        progress.stop_reason = (
            f"precise enough: {rule.metric} ± {width:.3g} after {progress.passes} iterations"
        )


def _is_look(passes: int) -> bool:
    return passes in {5, 10, 15} or (passes >= 20 and passes % 10 == 0)
