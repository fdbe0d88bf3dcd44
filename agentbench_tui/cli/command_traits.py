"""What commands do to the process and the machine, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_RUN_USER_CODE = {
    "run", "load", "stress", "experiments", "time", "market", "resume", "rerun", "rescore",
    "regressions", "agents", "suites", "carry-out",
}  # fmt: skip
_COMPUTE_ONLY = {
    "runs", "compare", "report", "leaderboard", "stats", "gate", "history", "baseline", "cost",
    "profile",
}  # fmt: skip
_MEASURE = {"run", "load", "stress", "time", "resume", "rerun", "rescore", "carry-out"}
_MEASURING_PARTS = {("experiments", "run"), ("market", "run"), ("market", "serve")}


def runs_user_code(arguments: Sequence[str]) -> bool:
    """Return whether a command runs the user's code in its own process, which may end it."""
    return not _RUN_USER_CODE.isdisjoint(arguments[:1])


def only_computes(arguments: Sequence[str]) -> bool:
    """Return whether a command computes from stored results and measures nothing."""
    return not _COMPUTE_ONLY.isdisjoint(arguments[:1])


def measures(arguments: Sequence[str]) -> bool:
    """Return whether a command calls agents or judges, which costs time and money, or starts a run:
    it is never repeated automatically.
    """
    if arguments[:1] == ["regressions"]:
        return "--confirm" in arguments
    return not _MEASURE.isdisjoint(arguments[:1]) or tuple(arguments[:2]) in _MEASURING_PARTS
