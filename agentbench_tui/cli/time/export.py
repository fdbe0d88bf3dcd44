"""Writes the times of commands as a file in hyperfine's format, which plotting scripts read."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import write_error
from agentbench_tui.store.queries.answers import answer_times
from agentbench_tui.store.queries.runs import executions_of, find_run

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from pathlib import Path

_MS_PER_S = 1000


def write_times(
    connection: sqlite3.Connection, run_id: str, commands: Mapping[str, str], path: Path
) -> None:
    """Write the times in seconds of every run of each command, and their summary.

    `commands` has the command of each name. Raises UsageError where the file cannot be written.
    """
    run = find_run(connection, run_id)
    results = [
        _result(commands[row["agent_id"]], row["agent_id"], answer_times(connection, row["key"]))
        for row in executions_of(connection, run["key"])
    ]
    try:
        path.write_text(json.dumps({"results": results}, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise write_error(path, error) from None


def _result(command: str, name: str, times_ms: list[float]) -> dict[str, Any]:
    times = [time / _MS_PER_S for time in times_ms]
    result: dict[str, Any] = {"command": command, "name": name}
    if times:
        result |= {
            "mean": statistics.fmean(times),
            "stddev": statistics.stdev(times) if len(times) > 1 else None,
            "median": statistics.median(times),
            "min": min(times),
            "max": max(times),
        }
    return {**result, "times": times}
