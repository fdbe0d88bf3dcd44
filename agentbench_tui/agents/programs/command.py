"""`command:PROGRAM ARGUMENTS` and `worker:PROGRAM ARGUMENTS`: agents that are local programs.

In mode `task` each case gets a process of its own: the request as one JSON line on standard
input, the answer on standard output, a JSON object with the fields of an Answer or plain text.
In mode `worker` the program stays and answers one JSON line with another (see `agents.worker`
and docs/agents.md). No shell is involved; `{python}` stands for the running interpreter.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field

from agentbench_tui.agents.adapter import AgentOptions, NameList, OpenContext
from agentbench_tui.agents.programs.worker_agent import WorkerAgent
from agentbench_tui.agents.reply import FIELDS, answer_of_fields, task_of
from agentbench_tui.agents.target import parse_target
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import (
    Agent,
    AgentFailure,
    Answer,
    FailureKind,
    Request,
)
from agentbench_tui.model.text.not_json import NOT_JSON
from agentbench_tui.process.child import SpawnError
from agentbench_tui.process.environment import child_environment
from agentbench_tui.process.single import Finished, run_program
from agentbench_tui.process.worker import JsonLinesWorker

_encoder = msgspec.json.Encoder()


class Options(AgentOptions):
    """Options of a program."""

    mode: Literal["task", "worker"] | None = None
    """One process a case, or one that stays; `worker` for the scheme `worker:`, else `task`."""
    env: NameList = Field(default_factory=list)
    """Names of environment variables that the program receives in addition to the usual ones
    (such as keys).
    """
    cwd: str | None = None
    """Folder to run in, relative to the suite's; the suite's own folder when left out."""
    address_space_mb: Annotated[float, Field(gt=0)] | None = None
    """Hard limit on address space (RLIMIT_AS). Exact and free, but counts memory that is only
    reserved: numpy or node need about 1,000 to start."""
    start_timeout_s: Annotated[float, Field(gt=0)] = 60.0
    """Time limit for a worker's hello."""


def check(spec: AgentSpec, options: Options) -> list[str]:
    """Return problems of the program, the folder, and the named variables."""
    try:
        command = command_of(spec)
    except ValueError as error:
        return [f"`{spec.target}`: {error}"]
    if not command:
        return [f"`{spec.target}` names no program"]
    folder = folder_of(spec, options)
    if not folder.is_dir():
        return [f"option `cwd`: no folder `{folder}`"]
    problems = []
    if shutil.which(command[0]) is None:
        problems.append(f"no program `{command[0]}` on the PATH that can be run")
    environment = child_environment(options.env)
    problems += [
        f"option `env`: {name} is not set" for name in options.env if name not in environment
    ]
    return problems


def open(spec: AgentSpec, options: Options, context: OpenContext) -> Agent:  # noqa: A001
    """Return a session; its workers start with it, its one-case programs with each case."""
    default = "worker" if parse_target(spec.target).scheme == "worker" else "task"
    command, folder = command_of(spec), str(folder_of(spec, options))
    if (options.mode or default) == "task":
        return TaskAgent(command, folder, options, context)
    workers = [
        JsonLinesWorker(
            command,
            environment=child_environment(options.env),
            cwd=folder,
            memory_limit_mb=context.memory_limit_mb,
            address_space_mb=options.address_space_mb,
            start_timeout_s=options.start_timeout_s,
        )
        for _ in range(context.concurrency)
    ]
    return WorkerAgent(workers, task_of)


def command_of(spec: AgentSpec) -> list[str]:
    """Return the words of the command; a relative program path is looked up in `base_dir`."""
    words = shlex.split(parse_target(spec.target).rest)
    words = [word.replace("{python}", sys.executable) for word in words]
    if words and "/" in words[0]:
        words[0] = str(Path(spec.base_dir).resolve() / words[0])
    return words


def folder_of(spec: AgentSpec, options: Options) -> Path:
    return Path(spec.base_dir, options.cwd or "").resolve()


class TaskAgent:
    """Starts one process for each case."""

    def __init__(
        self, command: list[str], cwd: str, options: Options, context: OpenContext
    ) -> None:
        self._command = command
        self._cwd = cwd
        self._options = options
        self._memory_limit_mb = context.memory_limit_mb
        self._environment = child_environment(options.env)
        self._running: set[int] = set()
        self.peak_memory_mb: float | None = None
        self.cpu_seconds: float | None = 0.0

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the processes of the current cases."""
        return tuple(self._running)

    async def start(self) -> None:
        """Do nothing: each case starts its own process."""

    async def answer(self, request: Request) -> Answer:
        """Run the program once. Raises AgentFailure."""
        pid: list[int] = []

        def started(number: int) -> None:
            pid.append(number)
            self._running.add(number)

        try:
            finished = await run_program(
                self._command,
                environment=self._environment,
                data=_encode(task_of(request)) + b"\n",
                cwd=self._cwd,
                timeout_s=request.time_limit_s,
                memory_limit_mb=self._memory_limit_mb,
                address_space_mb=self._options.address_space_mb,
                on_start=started,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.AGENT, str(error)) from None
        finally:
            self._running.difference_update(pid)
        self.cpu_seconds = (self.cpu_seconds or 0.0) + finished.cpu_seconds
        if finished.peak_memory_mb is not None:
            self.peak_memory_mb = max(self.peak_memory_mb or 0.0, finished.peak_memory_mb)
        self._check_ending(finished, request.time_limit_s)
        return _answer_of_output(finished.output)

    def _check_ending(self, finished: Finished, time_limit_s: float | None) -> None:
        if finished.over_limit is not None:
            raise AgentFailure(FailureKind.LIMIT, f"memory: {finished.over_limit}")
        if finished.too_long:
            raise AgentFailure(
                FailureKind.LIMIT, f"answered more than {len(finished.output)} bytes"
            )
        if finished.timed_out:
            raise AgentFailure(FailureKind.TIMEOUT, f"no answer within {time_limit_s:g} s")
        # None: closed its output and went on, which is an answer all the same.
        if finished.exit_code:
            raise AgentFailure(FailureKind.AGENT, f"`{self._command[0]}` {finished.ending}")

    async def close(self) -> None:
        """Do nothing: each case ends its own process."""


def _encode(value: Any) -> bytes:
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentFailure(
            FailureKind.HARNESS, f"the case cannot be sent as JSON: {error}"
        ) from None


def _answer_of_output(output: bytes) -> Answer:
    text = output.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        try:
            fields = msgspec.json.decode(text)
        except NOT_JSON:
            return Answer(text=text)
        if fields and FIELDS.issuperset(fields):
            return answer_of_fields(fields)
    return Answer(text=text)
