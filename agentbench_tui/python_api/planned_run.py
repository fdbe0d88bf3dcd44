"""A run that a caller asked for: planned, then carried out in the loop thread.

Each function of the API that runs something exists twice, one that waits and one to be awaited.
Both are made of one function that returns a `PlannedRun`.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar

from msgspec.structs import replace

from agentbench_tui.agents.python.python_source import module_being_imported
from agentbench_tui.agents.python.session_objects import SessionObject, session_objects
from agentbench_tui.model.errors import Unmeasured, UsageError
from agentbench_tui.python_api.background import (
    Interrupts,
    loop_thread,
    wait_for,
    wait_for_async,
)
from agentbench_tui.python_api.progress import OnProgress, read_progress

if TYPE_CHECKING:
    from agentbench_tui.agents.python.session_objects import Place
    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.store.location import Location
    from agentbench_tui.verdicts.runs.ended_run import EndedRun

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Database: TypeAlias = "str | os.PathLike[str]"
"""A database file, or `:memory:` for one that is discarded when the run has ended."""


@dataclass(frozen=True, slots=True)
class Storage:
    """Where a run is stored, as the options `--db` and `--persist` have it."""

    db: Database | None = None
    persist: Database | None = None

    @contextmanager
    def opened(self) -> Iterator[Location]:
        """Create the database, and deliver it at the end in any case."""
        from agentbench_tui.store.database import create_or_migrate
        from agentbench_tui.store.location import Location

        location = Location.resolve(_text(self.db), _text(self.persist))
        create_or_migrate(location.working)
        try:
            yield location
        finally:
            location.deliver()
            location.discard()


def _text(path: Database | None) -> str | None:
    return None if path is None else os.fspath(path)


@dataclass(frozen=True, slots=True)
class PlannedRun(Generic[Result]):
    """A planned run."""

    plan: Plan
    storage: Storage
    result: Callable[[EndedRun], Result]
    """Makes what the caller gets."""
    objects: Mapping[Place, SessionObject] = field(default_factory=dict)
    """Callables of the caller that the plan names."""
    on_progress: OnProgress | None = None

    def wait(self) -> Result:
        """Carry it out while this thread waits. Raises KeyboardInterrupt after an interrupt, when
        the run has ended in order."""
        interrupts = Interrupts()
        self._warn()
        with self.storage.opened() as location, session_objects(self.objects):
            work = _carry_out(self.plan, location.working, interrupts)
            wait_for(loop_thread().submit(work), interrupts, self._tick(location.working))
            return self._read(location.working)

    async def wait_async(self) -> Result:
        """Carry it out while the running loop continues, on which coroutines of the caller's
        callables run too."""
        loop = asyncio.get_running_loop()
        objects = {place: replace(one, loop=loop) for place, one in self.objects.items()}
        interrupts = Interrupts()
        self._warn()
        with self.storage.opened() as location, session_objects(objects):
            work = _carry_out(self.plan, location.working, interrupts)
            tick = self._tick(location.working)
            await wait_for_async(loop_thread().submit(work), interrupts, tick)
            return await asyncio.to_thread(self._read, location.working)

    def _warn(self) -> None:
        """Raise the errors, and issue the warnings, of the command line."""
        from agentbench_tui.load.limits import prepare_limits
        from agentbench_tui.stress.safety import check_consent

        check_consent(self.plan)
        for line in prepare_limits(self.plan):
            _say(f"warning: {line}")

    def _tick(self, database: Path) -> Callable[[], None] | None:
        tell = self.on_progress
        if tell is None:
            return None

        def tick() -> None:
            progress = read_progress(database, self.plan.run_id)
            if progress is not None:
                tell(progress)

        return tick

    def _read(self, database: Path) -> Result:
        from agentbench_tui.store.database import reading
        from agentbench_tui.verdicts.runs.ended_run import ended_run, write_documents

        with reading(database) as connection:
            ended = ended_run(connection, self.plan)
        for line in write_documents(ended.document, self.plan):
            _say(line)
        return self.result(ended)


async def _carry_out(plan: Plan, database: Path, interrupts: Interrupts) -> None:
    from agentbench_tui.engine.run.coordinator import carry_out

    try:
        await carry_out(plan, database, say=_say, listen=interrupts.listen)
    except asyncio.CancelledError:
        if interrupts.count:
            return  # what was measured is kept, and its status says that it was interrupted
        raise Unmeasured(
            f"run {plan.run_id} stopped before its end: an agent or a scorer canceled the tasks of"
            f" agentbench. `agentbench resume {plan.run_id}` continues the run."
        ) from None


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def waiting(prepare: Callable[Parameters, PlannedRun[Result]]) -> Callable[Parameters, Result]:
    """Make the function that plans, runs and returns the result."""

    @functools.wraps(prepare)
    def call(*args: Parameters.args, **options: Parameters.kwargs) -> Result:
        _check_not_imported(prepare.__name__)
        _check_not_inside(prepare.__name__)
        return prepare(*args, **options).wait()

    _set_return(call, prepare)
    return call


def awaitable(
    name: str, function: Callable[Parameters, Result]
) -> Callable[Parameters, Coroutine[Any, Any, Result]]:
    """Make the function `name` that is awaited, of one that `waiting` made."""
    prepare: Callable[Parameters, PlannedRun[Result]] = inspect.unwrap(function)

    @functools.wraps(function)
    async def call(*args: Parameters.args, **options: Parameters.kwargs) -> Result:
        _check_not_imported(name)
        job = await asyncio.to_thread(prepare, *args, **options)
        return await job.wait_async()

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"Do what `{function.__name__}` does without blocking the event loop.\n\n"
        "Async agents are called on the event loop that awaits this, so that they can use its HTTP"
        f" clients. Parameters, result and errors are those of `{function.__name__}`."
    )
    return call


def _set_return(call: Callable[..., Any], prepare: Callable[..., Any]) -> None:
    """Let `help` show what the caller gets instead of `PlannedRun[…]`."""
    given = str(prepare.__annotations__["return"]).removeprefix("PlannedRun[").removesuffix("]")
    call.__annotations__ = {**prepare.__annotations__, "return": given}
    call.__signature__ = inspect.signature(prepare).replace(return_annotation=given)  # type: ignore[attr-defined]


def _check_not_inside(function: str) -> None:
    """Raise UsageError for an async agent that waits for another run, because its run would
    block.
    """
    if loop_thread().is_current:
        raise UsageError(
            f"agentbench.{function}() was called on the event loop of a run, which it would block;"
            f" await agentbench.{function}_async() instead"
        )


def _check_not_imported(function: str) -> None:
    """Raise UsageError if agentbench itself imports the script that calls an API function.

    Another process, such as one that sends a load, imports a script to find a function in it. A
    script that starts a run when it is imported would start another run there.
    """
    module = module_being_imported()
    if module is not None:
        raise UsageError(
            f"agentbench.{function}() was called while {module} is imported to find a function in"
            ' it; put the call under `if __name__ == "__main__":`'
        )
