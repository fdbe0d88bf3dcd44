"""The state of a running service, and what its endpoints do with it."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.api import readings
from agentbench_tui.api.events import EventHub
from agentbench_tui.api.job import Copied, ImportJob, Outcome, Refused, Started, StartJob
from agentbench_tui.api.problems import UNPROCESSABLE, ServiceError
from agentbench_tui.api.settings import TOKEN_VARIABLE
from agentbench_tui.api.store_reader import StoreReader
from agentbench_tui.engine.run.launch import python_path
from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.process.environment import python_module
from agentbench_tui.process.freed_memory import return_freed_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agentbench_tui.api.job import Job
    from agentbench_tui.api.settings import ServiceSettings
    from agentbench_tui.contracts.service import RunConfiguration

JOB_LIMIT_S = 600.0
"""Longest time for which a child process may plan a run or import a file."""
_WATCH_S = 0.1
_STATUS = {
    "not-found": HTTPStatus.NOT_FOUND,
    "forbidden": HTTPStatus.FORBIDDEN,
    "usage": UNPROCESSABLE,
    "suite": UNPROCESSABLE,
    "failed": HTTPStatus.INTERNAL_SERVER_ERROR,
}


@dataclass(slots=True)
class RequestCounts:
    """Requests since the service started, for `/metrics`."""

    by_answer: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """Method, path template and status code → requests."""
    seconds: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Method and path template → time until the answer began."""


class Service:
    """One database, its readers and its event streams."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.reader = StoreReader(settings.database, settings.limits.readers)
        self.events = EventHub(settings.database, settings.limits.listeners)
        self.counts = RequestCounts()
        self._background: list[asyncio.Task[None]] = []
        self._starting = asyncio.Lock()
        self._importing = asyncio.Lock()

    def prepare_answers(self, describe: Callable[[], object]) -> None:
        """Begin to prepare answers in the background, so that the first requests need not wait.

        `describe` makes the OpenAPI document, by which requests are checked.
        """
        self._background = [
            asyncio.create_task(self._first_answers(describe)),
            asyncio.create_task(self.reader.keep_current()),
        ]

    async def _first_answers(self, describe: Callable[[], object]) -> None:
        describe()
        await asyncio.to_thread(readings.load_modules)
        with suppress(AgentbenchError):  # such as an empty database; the next request reports it
            await self.reader.answer(*readings.leaderboard_answer(), of_history=True)
        return_freed_memory()

    async def close(self) -> None:
        """End the event streams and close the database. Runs continue."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.events.close()
        self.reader.close()

    async def start_run(self, agent_id: str, suite_id: str, configuration: RunConfiguration) -> str:
        """Start a run as a process of its own; return its id once it is in the database.

        Raises ServiceError while as many runs are running as may, and for anything that the suite
        or the operator does not allow.
        """
        settings = self.settings
        job = StartJob(
            str(settings.database),
            suite_id,
            agent_id,
            configuration,
            tuple(map(str, settings.suite_folders)),
            settings.agents,
            tuple(sorted(settings.schemes)),
        )
        async with self._starting:
            await self._check_room()
            outcome = await run_job(job)
        if not isinstance(outcome, Started):
            raise _failed(outcome)
        return outcome.run_id

    async def wait_for_end(self, run_id: str) -> None:
        """Wait until the process of a run has ended."""
        from agentbench_tui.store.locking import is_leased

        while is_leased(self.settings.database, run_id):  # noqa: ASYNC110  # a lock of another process
            await asyncio.sleep(_WATCH_S)

    async def import_file(self, file: Path) -> Copied:
        """Import the runs of a file, one file at a time."""
        async with self._importing:
            outcome = await run_job(ImportJob(str(self.settings.database), str(file)))
        if not isinstance(outcome, Copied):
            raise _failed(outcome)
        return outcome

    async def _check_room(self) -> None:
        most = self.settings.limits.runs
        running = await asyncio.to_thread(_running_runs, self.settings.database, most)
        if running >= most:
            raise ServiceError(
                HTTPStatus.TOO_MANY_REQUESTS,
                "running",
                f"{most} {'run is' if most == 1 else 'runs are'} running on this database, and a"
                " further one would disturb their times; try again when one has ended",
                headers={"Retry-After": "10"},
            )


def _running_runs(database: Path, most: int) -> int:
    """Count runs whose process lives, whoever started them."""
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.locking import is_leased
    from agentbench_tui.store.queries.runs import newest_run_ids

    with reading(database) as connection:
        named = newest_run_ids(connection, most + 100, "running")
    return sum(is_leased(database, run_id) for run_id in named)


def _failed(outcome: Outcome) -> ServiceError:
    assert isinstance(outcome, Refused)
    problems = outcome.problems if len(outcome.problems) > 1 else ()
    return ServiceError(_STATUS[outcome.kind], outcome.kind, outcome.detail, problems=problems)


async def run_job(job: Job) -> Outcome:
    """Do a job in a child process, which does not know the token of the service."""
    environment = {**os.environ, "PYTHONPATH": python_path()}
    environment.pop(TOKEN_VARIABLE, None)
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *python_module("agentbench_tui.api.job"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # an interrupt of the service is not one of its child
            env=environment,
        )
        try:
            async with asyncio.timeout(JOB_LIMIT_S):
                said, _ = await process.communicate(msgspec.json.encode(job))
        except TimeoutError:
            return Refused("failed", f"the child process took more than {JOB_LIMIT_S:.0f} s")
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        try:
            return msgspec.json.decode(said, type=Started | Copied | Refused)
        except msgspec.MsgspecError:
            errors.seek(0)
            lines = errors.read(100_000).decode(errors="replace").strip().splitlines()
            last = lines[-1] if lines else f"it ended with {process.returncode}"
            return Refused("failed", f"the child process failed: {last[:300]}")
