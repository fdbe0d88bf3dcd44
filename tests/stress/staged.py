"""Whole stress runs in this process: planned, carried out by workers, stored, and read back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from agentbench_tui.engine.run.coordinator import Outcome, carry_out
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.stress.report import ScenarioReport
from agentbench_tui.stress.reporter import Reporter, read_report
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.normal import Normal
from agentbench_tui.stress.stand.stand import Stand
from agentbench_tui.verdicts.runs.documents import run_document

QUICK_MOCK = "mock?slots=8&service-time=20ms&ttft=20ms&itl=0ms&tokens=2"
"""400 requests a second at most."""
QUICK = {"time_scale": 0.02, "limits": {"error_share": 0.05}}

Act = Callable[[Stand, StressSpec, Normal, Reporter], Awaitable[None]]


@dataclass(frozen=True)
class Staged:
    """A scenario that has ended."""

    outcome: Outcome
    """Of the run."""
    report: ScenarioReport | None
    execution: dict[str, Any]
    """As `agentbench.run/1` has it."""
    others: list[dict[str, Any]]
    """Of further agents."""
    windows: dict[int, int]
    """What the store keeps: repeat → rows of samples."""

    @property
    def told(self) -> ScenarioReport:
        assert self.report is not None
        return self.report


async def staged(folder: Path, *targets: str, **block: Any) -> Staged:
    """Put targets through a scenario, one after another; what is told of windows is the first's."""
    document = {
        "suite_id": "stress",
        "agents": [{"id": f"t{nth}", "target": target} for nth, target in enumerate(targets)],
        "benchmarks": [{"benchmark_id": "one", "kind": "stress", "stress": {**QUICK, **block}}],
    }
    plan = make_plan([suite_of_data(document, folder)], RunOptions(folder=folder))
    database = folder / "store.db"
    create_or_migrate(database)
    outcome = await carry_out(plan, database)
    with closing(connect_to_read(database)) as connection:
        run = run_document(connection, find_run(connection, outcome.run_id))
        (key,) = connection.execute("SELECT MIN(key) FROM benchmark_executions").fetchone()
        rows = connection.execute(
            "SELECT w.repeat, SUM(c.rows) FROM load_windows w LEFT JOIN sample_chunks c"
            " ON c.execution_key=w.execution_key AND c.repeat=w.repeat"
            " WHERE w.execution_key=? GROUP BY w.repeat",
            (key,),
        ).fetchall()
        report = read_report(connection, key)
    first, *others = run["executions"]
    return Staged(outcome, report, first, others, {row[0]: row[1] or 0 for row in rows})


async def on_stand(
    folder: Path, monkeypatch: pytest.MonkeyPatch, act: Act, *targets: str, **block: Any
) -> Staged:
    """The same with a scenario of the test's own, without normal load before it."""

    async def none(*_: object) -> None:
        return None

    monkeypatch.setattr("agentbench_tui.stress.stand.normal.measure_normal", none)
    monkeypatch.setattr("agentbench_tui.stress.kind._module", lambda _: SimpleNamespace(run=act))
    block = {"scenario": "high_load", **block}
    return await staged(folder, *(targets or (QUICK_MOCK,)), **block)


def descendants() -> set[int]:
    """Of this process, by pid; those that have ended and nobody has asked after left out."""
    return {
        child.pid
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE
    }
