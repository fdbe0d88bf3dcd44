"""Whole load runs in this process: planned, carried out by workers, stored, and read back."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentbench_tui.agents.mock.options import read_options
from agentbench_tui.agents.mock.process import start_server
from agentbench_tui.contracts.document import plain
from agentbench_tui.engine.run.coordinator import Outcome, carry_out
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.verdicts.runs.documents import run_document

TRIES = 3
WEIGHTS = {"accuracy": 0, "speed": 1, "efficiency": 0, "cost": 0, "reliability": 0}


@dataclass(frozen=True)
class Loaded:
    """One target in a load run that has ended."""

    outcome: Outcome
    """Of the run."""
    execution: dict[str, Any]
    """As `agentbench.run/1` has it."""

    @property
    def load(self) -> dict[str, Any]:
        """`agentbench.load/1`, as `agentbench load --format json` prints it."""
        document: dict[str, Any] = plain(self.execution["load"])
        return document

    @property
    def requests(self) -> dict[str, Any]:
        found: dict[str, Any] = self.load["requests"]
        return found

    def metric(self, name: str) -> Any:
        """Parts of a distribution, or a number."""
        return self.load["metrics"][name]

    @property
    def told(self) -> str:
        """Reasons and warnings."""
        return "\n".join([*self.load["reasons"], *self.load["warnings"]])


@dataclass(frozen=True)
class Truth:
    """What a practice server wrote at its end."""

    document: dict[str, Any]
    """`agentbench.mock-truth/1`."""
    rows: list[dict[str, Any]]
    """Of its requests log, in the order of the requests' ends."""

    @property
    def requests(self) -> dict[str, Any]:
        found: dict[str, Any] = self.document["requests"]
        return found

    @property
    def metrics(self) -> dict[str, Any]:
        found: dict[str, Any] = self.document["metrics"]
        return found

    @property
    def answered(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["status"] == "ok"]


async def load_each(
    folder: Path, agents: dict[str, dict[str, Any]], block: dict[str, Any], **more: Any
) -> dict[str, Loaded]:
    """Put the load of a `load:` block on agents, one after another, in one run.

    `agents`: keys of the suite's agents by id; `more`: further keys of the benchmark.
    """
    document = {
        "suite_id": "load",
        "agents": [{"id": name, **agent} for name, agent in agents.items()],
        "weights": WEIGHTS,
        "benchmarks": [{"benchmark_id": "load", "kind": "load", "load": block, **more}],
    }
    plan = make_plan([suite_of_data(document, folder)], RunOptions(folder=folder))
    database = folder / "store.db"
    create_or_migrate(database)
    outcome = await carry_out(plan, database)
    with closing(connect_to_read(database)) as connection:
        run = run_document(connection, find_run(connection, outcome.run_id))
    return {one["agent_id"]: Loaded(outcome, one) for one in run["executions"]}


async def load(folder: Path, target: str, block: dict[str, Any], **more: Any) -> Loaded:
    """The same for one target."""
    return (await load_each(folder, {"target": {"target": target}}, block, **more))["target"]


async def practice(
    folder: Path, block: dict[str, Any], *, stream: bool = True, **server: Any
) -> tuple[Loaded, Truth]:
    """Put load on a practice server of its own; what was reported, and what it did.

    Without warm-up, so that the server sees exactly the measured requests.
    """
    truth, log = folder / "truth.json", folder / "log.jsonl"
    options = read_options({name: str(value) for name, value in server.items()})
    async with await start_server(options, truth_file=truth, requests_log=log) as running:
        found = await load(
            folder,
            f"openai:{running.url}#mock",
            {"warmup_requests": 0, "stream": stream, **block},
        )
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return found, Truth(json.loads(truth.read_text()), rows)


def three_tries(test: Callable[[Path], Awaitable[None]]) -> Callable[[Path], Awaitable[None]]:
    """Repeat a test of measured times that fails, in a new folder, up to three times in all.

    A machine that is busy with something else wakes the sender or the server late, and a measured
    time then differs from the planned one by as much. A wrong formula differs each time.
    """

    @functools.wraps(test)
    async def tried(tmp_path: Path) -> None:
        for nth in range(1, TRIES + 1):
            folder = tmp_path / str(nth)
            folder.mkdir()
            try:
                await test(folder)
            except AssertionError:
                if nth == TRIES:
                    raise
            else:
                return

    return tried


def leave_calibration_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a second or two after each run, and has tests of its own."""

    async def none(*_: Any) -> None:
        return None

    monkeypatch.setattr("agentbench_tui.load.calibration.calibration.calibrated", none)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has asked after yet included."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
