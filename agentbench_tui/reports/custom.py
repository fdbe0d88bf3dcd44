"""Reporters of other people: functions `(results, output_dir)` that write what they like.

They are found by the entry-point group `agentbench.reporters` or as `python:FILE:NAME`. `results`
has one `experiments.results.ExperimentResult` for each execution of a run of experiments, as
AgentFarm's reporters expect, and one `contracts.run.ExecutionResult` for each of any other run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from agentbench_tui.reports.sources import RunSource


def call_reporter(
    connection: sqlite3.Connection, source: RunSource, name: str, here: Path, folder: Path
) -> None:
    """Let a reporter write into a folder, which is made. A `python:` file is relative to `here`.

    Raises UsageError for an unknown reporter and for one that fails, OSError for the folder.
    """
    from agentbench_tui.experiments.results import find_reporter, results_of

    reporter = find_reporter(name, here)
    folder.mkdir(parents=True, exist_ok=True)
    results = results_of(connection, source.run.run_id, folder)
    try:
        reporter(results or list(source.run.executions), str(folder))
    except OSError:
        raise
    except Exception as error:
        raise UsageError(f"reporter {name} failed: {error!r}") from error
