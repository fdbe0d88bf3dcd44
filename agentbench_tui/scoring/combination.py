"""Right or wrong, and the credit, of an answer that several scorers judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentbench_tui.model.answer import Score
    from agentbench_tui.model.suite import Combine


def deciding(counts: Sequence[bool], combine: Combine) -> list[int]:
    """Return the positions of the scorers that decide, of those that count."""
    positions = [position for position, does in enumerate(counts) if does]
    return positions[:1] if combine == "first" else positions


def combined(scores: Sequence[Score], combine: Combine) -> tuple[float, bool]:
    """Return the credit (0..1) and whether the answer is right, by the scores that decide.

    ValueError without a score.
    """
    if not scores:
        raise ValueError("no scorer decides")
    values = [score.value for score in scores]
    right = (score.correct for score in scores)
    if combine == "any":
        return max(values), any(right)
    if combine == "mean":
        return sum(values) / len(values), all(right)
    return min(values), all(right)


def metric_of_label(label: str) -> str:
    """Return the name of the metric of a scorer: its label, without dots, which in the name of a
    metric begin a percentile.
    """
    return label.replace(".", "_")


def expected_of(expected: Any, label: str, labels: Sequence[str]) -> Any:
    """Return what a scorer among those with these labels compares answers with.

    A table whose keys are all labels of the benchmark's scorers has a part for each of them; a
    scorer without a part has no expected answer. Anything else is for all scorers.
    """
    if has_parts(expected, labels):
        return expected.get(label)
    return expected


def has_parts(expected: Any, labels: Sequence[str]) -> bool:
    """Return whether `expected` is a table with a part for each scorer, of several."""
    return (
        len(labels) > 1
        and isinstance(expected, dict)
        and bool(expected)
        and expected.keys() <= set(labels)
    )
