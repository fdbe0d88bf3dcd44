"""When to stop: signals and control requests, budgets, and the early stops of a benchmark."""

from __future__ import annotations

from array import array
from statistics import fmean, median
from typing import TYPE_CHECKING

from agentbench_tui.engine.run.interval_precision import outlook
from agentbench_tui.model.answer import FailureKind
from agentbench_tui.model.text.plain_number import plain

if TYPE_CHECKING:
    from agentbench_tui.model.suite import EarlyStop

_INFRASTRUCTURE = frozenset({FailureKind.HARNESS, FailureKind.CONNECTION})
LEAST_PASSES = 5
"""Iterations before precision may end an execution."""
_LEAST_FOR_HOPELESS = 20
"""Observations before an execution may be called hopeless."""
_HOPELESS_EVERY = 50
"""Number of observations between two checks, in addition to the end of each block."""


class Budget:
    """Budget of a whole run in cost and tokens, checked after every attempt."""

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
        """Return why no more requests are allowed, or None."""
        if self.cost_limit_usd is not None and self.cost_usd >= self.cost_limit_usd:
            return f"cost limit reached: {self.cost_usd:.4f} of {plain(self.cost_limit_usd)} USD"
        if self.token_limit is not None and self.tokens >= self.token_limit:
            return f"token limit reached: {self.tokens} of {self.token_limit}"
        return None


class Progress:
    """Progress of one execution: the data for early stops and the live view.

    At most three doubles per observation; the answers themselves are in the store.
    """

    def __init__(self) -> None:
        self.observed = 0
        self.answered = 0
        self.correct = 0
        self.tokens = 0
        self.cost_usd = 0.0
        self.e2e_ms = array("d")
        self.ttft_ms = array("d")
        """Times of streamed answers."""
        self.credits = array("d")
        self.infrastructure_failures_in_a_row = 0
        self.pass_accuracy: list[float] = []
        """Mean credit of each finished iteration, over all repeats."""
        self.pass_median_ms: list[float] = []
        self._pass_began = (0, 0)
        self.credit = 0.0
        """Sum of `credits`."""
        self.looked_at = 0
        """Number of credits at the last call of `check_hopeless`."""
        self.outlook = ""
        """Current precision, and the number of further iterations, in words."""
        self.stop_reason: str | None = None
        self.cut_short = False
        """Whether less was measured than planned, if counting does not show it."""
        self.broken: str | None = None
        """Why the execution cannot be measured to its end, or None."""

    def note(
        self,
        failure: FailureKind | None,
        credit: float | None,
        correct: bool | None,
        e2e_ms: float,
        ttft_ms: float | None = None,
    ) -> None:
        """Count one finished observation."""
        self.observed += 1
        self.correct += bool(correct)
        if failure is None:
            self.answered += 1
            self.e2e_ms.append(e2e_ms)
            if ttft_ms is not None:
                self.ttft_ms.append(ttft_ms)
        if credit is not None:
            self.credits.append(credit)
            self.credit += credit
        elif failure not in {None, FailureKind.GRADER, FailureKind.HARNESS}:
            self.credits.append(0.0)
        if failure in _INFRASTRUCTURE:
            self.infrastructure_failures_in_a_row += 1
        else:
            self.infrastructure_failures_in_a_row = 0

    def end_pass(self) -> None:
        """Note the figures of the iteration that just ended."""
        credits_before, times_before = self._pass_began
        new_credits, new_times = self.credits[credits_before:], self.e2e_ms[times_before:]
        if new_credits:
            self.pass_accuracy.append(fmean(new_credits))
        if new_times:
            self.pass_median_ms.append(median(new_times))
        self._pass_began = (len(self.credits), len(self.e2e_ms))


def check_observation(progress: Progress, rule: EarlyStop) -> None:
    """Check after an observation whether to continue: not after too many consecutive
    infrastructure failures, nor if the target accuracy is out of reach.
    """
    if len(progress.credits) - progress.looked_at >= _HOPELESS_EVERY:
        check_hopeless(progress, rule)
    failures = progress.infrastructure_failures_in_a_row
    if failures >= rule.harness_failures:
        progress.broken = f"{failures} failures of connection or harness in a row"


def end_pass(progress: Progress, rule: EarlyStop) -> None:
    """A measured iteration is over: note its figures, and set `stop_reason` if it may end here.

    Precision is judged on one figure per iteration (its accuracy, its median time), at fixed
    numbers of iterations: looking after every one would make the interval too narrow.
    """
    from agentbench_tui.analysis.summary import precision_reached

    progress.end_pass()
    progress.outlook = outlook(progress, rule)
    is_share = rule.metric == "accuracy"
    figures = progress.pass_accuracy if is_share else progress.pass_median_ms
    if rule.half_width is None or len(figures) < LEAST_PASSES:
        return
    if precision_reached(figures, rule.half_width, relative=not is_share):
        width = f"{rule.half_width:g}" if is_share else f"{100 * rule.half_width:g}%"
        progress.stop_reason = (
            f"precise enough: {rule.metric} within ± {width} after {len(figures)} iterations"
        )


def check_hopeless(progress: Progress, rule: EarlyStop) -> None:
    """Set `stop_reason` if even the upper bound of accuracy lies below the required accuracy."""
    progress.looked_at = seen = len(progress.credits)
    if rule.hopeless_below is None or seen < _LEAST_FOR_HOPELESS:
        return
    from agentbench_tui.analysis.intervals.interval import wilson

    interval = wilson(progress.credit, seen)
    if interval is not None and interval.high < rule.hopeless_below:
        progress.stop_reason = (
            f"hopeless: accuracy is below {rule.hopeless_below:g} "
            f"(upper bound {interval.high:.3f} after {seen} observations)"
        )
