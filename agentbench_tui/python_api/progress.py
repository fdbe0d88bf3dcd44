"""Progress of a run, for a waiting caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Progress of a run."""

    run_id: str
    """Id of the run, by which `agentbench attach` shows it."""
    planned: int
    """Observations that are planned: cases × iterations × repeats × agents."""
    observed: int
    """Observations so far."""
    answered: int
    """Of them, those with a valid answer."""
    correct: int
    """Of them, those that are right."""

    def __str__(self) -> str:
        return (
            f"run {self.run_id}: {self.observed:,} of {self.planned:,} asked,"
            f" {self.answered:,} answered, {self.correct:,} correct"
        )


OnProgress: TypeAlias = "Callable[[RunProgress], object]"
"""Gets the progress of a run about twice a second, such as `print`."""


def read_progress(database: Path, run_id: str) -> RunProgress | None:
    """Read how far a run is; None before it has begun."""
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.progress import progress_of_run

    with reading(database) as connection:
        row = progress_of_run(connection, run_id)
    if row is None:
        return None
    return RunProgress(run_id, row["planned"], row["observed"], row["answered"], row["correct"])
