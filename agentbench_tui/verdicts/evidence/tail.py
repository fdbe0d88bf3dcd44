"""Checks whether the repeats of both sides have enough answers for a high percentile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.analysis.summary import needed
from agentbench_tui.model.figures.metric import SHARES

if TYPE_CHECKING:
    from agentbench_tui.verdicts.evidence.evidence import Evidence


def answers_needed(metric: str) -> int:
    """Return the number of answers that a repeat needs for its percentile; 1 for medians and
    other metrics.
    """
    share = SHARES.get(metric.partition(".")[2], 0.5)
    return needed(share) if share > 0.5 else 1


def too_few_answers(metric: str, a: Evidence, b: Evidence) -> str:
    """Say why a percentile has no value on one of the sides; empty if both have one."""
    fewest = answers_needed(metric)
    if fewest == 1:
        return ""
    have = {name: side.fewest_answers(metric) for name, side in (("A", a), ("B", b))}
    few = [f"{name} has {count:,}" for name, count in have.items() if 0 < count < fewest]
    return f"needs {fewest:,} answers per repeat ({', '.join(few)})" if few else ""
