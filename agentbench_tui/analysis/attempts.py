"""Several attempts at each case: pass@k and pass^k.

pass@k is the chance that at least one of k attempts at a case is right, pass^k that all k are. Both
are estimated without bias for each case, from n >= k attempts of which c were right, and averaged
over cases with equal weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.intervals.effective_number import bounded_mean
from agentbench_tui.analysis.intervals.estimate import Estimate
from agentbench_tui.analysis.sample import distinct
from agentbench_tui.analysis.summary import pass_at_k, pass_hat_k
from agentbench_tui.model.figures.pass_metrics import attempts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agentbench_tui.analysis.sample import Floats, Integers

_FUNCTIONS = {"@": pass_at_k, "^": pass_hat_k}
_ALL_UP_TO = 10
_THEN = (16, 32, 64, 100)


class Attempts(msgspec.Struct, frozen=True):
    """Attempts at each case of a benchmark."""

    cases: Integers
    """Label of each case."""
    place: Integers
    """Index of the case of each observation."""
    first: Integers
    """Index of the first observation of each case."""
    asked: Integers
    """Attempts at each case."""
    right: Integers
    """Of these, those that were right."""

    @property
    def most(self) -> int:
        """Return the largest number of attempts at a case."""
        return int(self.asked.max(initial=0))

    @property
    def usual(self) -> int:
        """Return the number of attempts that at least half of the cases have."""
        return int(np.sort(self.asked)[len(self.asked) // 2]) if len(self.asked) else 0


def attempts_at(case: Integers, right: NDArray[np.bool_]) -> Attempts:
    """Count the attempts and right answers of each case, from the label of the case of each
    observation and whether it is right.
    """
    found = distinct(case)
    passed = np.bincount(found.place, right, minlength=len(found.names)).astype(np.int64)
    return Attempts(found.names, found.place, found.first, found.counts, passed)


def pass_names(attempts: Attempts) -> list[str]:
    """Return `pass@k` and `pass^k` for every k from 2 to 10, then 16, 32, 64 and 100, and the
    largest number of attempts; up to that number. Empty if no case has two attempts.
    """
    most = attempts.most
    numbers = sorted({k for k in (*range(2, _ALL_UP_TO + 1), *_THEN) if k <= most} | {most})
    return [f"pass{sign}{k}" for sign in _FUNCTIONS for k in numbers if k > 1]


def pass_values(attempts: Attempts, name: str) -> Floats:
    """Return the estimate of pass@k or pass^k of each case, float64[cases] in 0..1; NaN for a case
    with fewer than k attempts. ValueError for another name.
    """
    k = _attempts_needed(name)
    function = _FUNCTIONS[name[4]]
    values = np.full(len(attempts.asked), np.nan)
    pairs = np.stack([attempts.asked, attempts.right])
    for n, c in np.unique(pairs, axis=1).T.tolist():
        if n >= k:
            values[(attempts.asked == n) & (attempts.right == c)] = function(n, c, k)
    return values


def estimate_passes(attempts: Attempts, name: str, clusters: Integers | None = None) -> Estimate:
    """Return the mean over the cases with k attempts and its interval (see `bounded_mean`).

    `clusters` are the independent units of the cases, int64[cases]. `n` is the number of cases.
    The reason says how many cases have fewer attempts; there is no value if more than half have.
    """
    values = pass_values(attempts, name)
    known = ~np.isnan(values)
    n, k = int(known.sum()), _attempts_needed(name)
    short = "" if n == len(values) else f"{n:,} of {len(values):,} cases have {k} attempts"
    if k > attempts.usual:
        return Estimate(None, None, None, n, name, f"only {short}")
    interval = bounded_mean(values[known], None if clusters is None else clusters[known])
    value = float(values[known].mean())
    if interval is None:
        return Estimate(value, None, None, n, name, short)
    return Estimate(value, interval.low, interval.high, n, name, short)


def _attempts_needed(name: str) -> int:
    k = attempts_of(name)
    if k is None:
        raise ValueError(f"neither pass@k nor pass^k: {name}")
    return k
