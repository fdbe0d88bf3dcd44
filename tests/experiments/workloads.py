"""Experiments for tests; their names are `python:FOLDER/workloads.py:Class`."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from agentbench_tui.experiments.experiment import Experiment, ExperimentContext

HERE = Path(__file__).parent


class Counting(Experiment):
    """Counts, and fails where it is told to."""

    class Parameters(BaseModel):
        size: int = 100
        mode: Literal["list", "set"] = "list"
        fail_at: int = -1
        fail_setup: bool = False
        fail_teardown: bool = False
        log: str = ""

    def setup(self, context: ExperimentContext) -> None:
        self._log("setup")
        self._fails_at_last = self.params["fail_teardown"]
        if self.params["fail_setup"]:
            raise RuntimeError("no room to set up")

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        if context.iteration_index == self.params["fail_at"]:
            raise ValueError("planted")
        self._log(f"{context.variant} {context.iteration_index}")
        items = (list if self.params["mode"] == "list" else set)(range(self.params["size"]))
        found = sum(items)
        return {"found": found, "rates": {"items_per_s": 2.0 * self.params["size"]}}

    def teardown(self, context: ExperimentContext) -> None:
        self._log("teardown")
        if self._fails_at_last:
            raise RuntimeError("nothing to tear down")

    def _log(self, line: str) -> None:
        if self.params["log"]:
            with Path(self.params["log"]).open("a") as file:
                file.write(f"{line} {os.getpid()}\n")


class Pragma(Experiment):
    """Asks for a setting, of which only `on` takes effect."""

    variants: ClassVar = {
        "on": {"wanted": "on"},
        "yes": {"wanted": "yes"},
        "off": {"wanted": "off"},
    }

    def __init__(self, wanted: str = "off", parameters: dict[str, Any] | None = None) -> None:
        super().__init__(parameters or {})
        self.params.update({"wanted": wanted})

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        return {}

    def effective(self, context: ExperimentContext) -> dict[str, Any]:
        return {"setting": self.params["wanted"] == "on"}


class Waiting(Experiment):
    """All of it is async, in one loop."""

    async def setup(self, context: ExperimentContext) -> None:
        self.loop = asyncio.get_running_loop()

    async def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"same_loop": asyncio.get_running_loop() is self.loop}

    async def teardown(self, context: ExperimentContext) -> None:
        assert asyncio.get_running_loop() is self.loop


class Ending(Experiment):
    """Ends its process in the second iteration."""

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        if context.iteration_index == 1:
            os._exit(7)
        return {"pid": os.getpid()}


class Killed(Experiment):
    """Is killed with its process, once: where it first meets size 3 in its second iteration."""

    better: ClassVar = {"squared": "higher"}

    class Parameters(BaseModel):
        size: int = 1
        mark: str = "killed"

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        mark = Path(self.params["mark"])
        if self.params["size"] == 3 and context.iteration_index == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"squared": self.params["size"] ** 2, "pid": os.getpid()}


class Hanging(Experiment):
    """Never comes back from its second iteration."""

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        if context.iteration_index == 1:
            threading.Event().wait()
        return {}


class Stuck(Experiment):
    """Never comes back from its set-up or from any call; may ask a process to end before."""

    class Parameters(BaseModel):
        where: Literal["setup", "call"] = "setup"
        ends: int = 0
        log: str = ""

    def setup(self, context: ExperimentContext) -> None:
        if self.params["log"]:
            with Path(self.params["log"]).open("a") as file:
                file.write(f"{context.variant}\n")
        if self.params["ends"]:
            os.kill(self.params["ends"], signal.SIGTERM)
        self._wait("setup")

    def execute_once(self, context: ExperimentContext) -> None:
        self._wait("call")

    def _wait(self, where: str) -> None:
        if self.params["where"] == where:
            threading.Event().wait()


class Claiming(Experiment):
    """Says of itself how fast it is."""

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        return {"duration_s": -7.0, "read": {"p50_ms": 3.0}, "found": True}


@contextmanager
def descriptors(context: dict[str, Any], scale: float = 1.0) -> Iterator[None]:
    """An instrument as AgentFarm has them."""
    yield
    context["descriptors"] = {"open": scale * 3}


class Unknowing(Experiment):
    """What it looks for is never a number, and once where it may be."""

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        return {"lost_ms": math.nan, "e2e_ms": None, "rare": 2 if context.iteration_index else None}


class Refilled(Experiment):
    """Has its work laid out before each call, and takes all of it."""

    def before_each(self, context: ExperimentContext) -> None:
        self.work = [1, 2, 3]

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        taken = len(self.work)
        self.work.clear()
        return {"taken": taken}


class Deaf(Experiment):
    """Heeds one of its two parameters."""

    class Parameters(BaseModel):
        size: int = 1
        heard: int = 1

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        return {"heard": self.params["heard"]}


class Handing(Deaf):
    """Hands its parameters on as a whole, to code that is not Python's."""

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        return {"heard": self.Parameters.model_validate(self.params).heard}


class Rated(Experiment):
    """Returns a rate that it is told from outside."""

    better: ClassVar = {"items_per_s": "higher"}
    RATE = "WORKLOADS_RATE"

    class Parameters(BaseModel):
        release: int = 1

    def setup(self, context: ExperimentContext) -> None:
        self.release = self.params["release"]

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        return {"items_per_s": float(os.environ[self.RATE])}
