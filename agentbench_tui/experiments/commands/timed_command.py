"""Times a command from start to end, for `agentbench time`."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, Field, model_validator

from agentbench_tui.experiments.experiment import Experiment, register_experiment
from agentbench_tui.model.bounds import MOST_ROUNDS
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from typing import Self

    from agentbench_tui.experiments.experiment import ExperimentContext

SLUG = "command"
_SHELL = "/bin/sh"
_OF_SHELL = frozenset("|&;<>()$`*?[]#~{}\n")
"""A command without any of these, outside quotes or in them, needs no shell."""
_ACCEPTS_FAILURE = " (--ignore-failure accepts that)"
_BUILT_IN = frozenset({
    "!", ".", ":", "alias", "cd", "command", "eval", "exec", "exit", "export", "getopts", "hash",
    "read", "readonly", "set", "shift", "times", "trap", "type", "ulimit", "umask", "unset", "wait",
})  # fmt: skip
"""Words that only a shell understands: `!` and the built-in utilities of POSIX."""


def words_of(command: str) -> list[str]:
    """Return the program and its arguments, or a shell with the command if it contains shell
    syntax.

    Raises ValueError for quotes that do not end, and a command without a word.
    """
    words = shlex.split(command)
    if not words:
        raise ValueError("the command is empty")
    if _OF_SHELL & set(command) or "=" in words[0] or words[0] in _BUILT_IN:
        return [_SHELL, "-c", command]
    return words


def commands_of(parameters: Any) -> list[str]:
    """Return every command that stored parameters name, in any form."""
    if not isinstance(parameters, Mapping):
        return []
    commands = parameters.get("commands")
    named = list(commands.values()) if isinstance(commands, Mapping) else [commands]
    return [str(command) for command in (*named, parameters.get("prepare")) if command]


@register_experiment(SLUG)
class TimedCommand(Experiment):
    """Starts a command and waits for its end, in a new process each time.

    Its output is thrown away, and its standard input is empty. `cpu_ms` is the CPU time of the
    command and of the processes that it waited for.
    """

    class Parameters(BaseModel):
        commands: dict[str, str] = Field(min_length=1, description="Name of each command.")
        name: str = Field("", description="Which of them; the first, if not given.")
        prepare: str = Field("", description="Command that runs before each measurement.")
        warmup: int = Field(
            0, ge=0, le=MOST_ROUNDS, description="Runs that are not measured, before the first."
        )
        ignore_failure: bool = Field(
            False, description="Count runs that end with another exit code than 0."
        )

        @model_validator(mode="after")
        def _commands_are_sound(self) -> Self:
            if self.name and self.name not in self.commands:
                raise ValueError(f"`name`: no command is called {self.name}")
            for command in (*self.commands.values(), *filter(None, [self.prepare])):
                try:
                    words_of(command)
                except ValueError as error:
                    raise ValueError(f"`{command}`: {error}") from None
            return self

    better: ClassVar = {"cpu_ms": "lower"}
    asks_agent = False
    tags = ("command",)

    def setup(self, context: ExperimentContext) -> None:
        commands: dict[str, str] = self.params["commands"]
        self._words = words_of(commands[self.params["name"] or next(iter(commands))])
        self._prepare = words_of(self.params["prepare"]) if self.params["prepare"] else []
        if context.repeat == 0:
            for _ in range(self.params["warmup"]):
                self.before_each(context)
                self.execute_once(context)

    def before_each(self, context: ExperimentContext) -> None:  # noqa: ARG002
        if self._prepare:
            _run(self._prepare, "the command of --prepare")

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        allowed = None if self.params["ignore_failure"] else 0
        return {"cpu_ms": 1e3 * _run(self._words, "the command", allowed, _ACCEPTS_FAILURE)}


def _run(words: list[str], what: str, allowed: int | None = 0, hint: str = "") -> float:
    """Run a command and return its CPU seconds. Raises RuntimeError with its ending, its last line
    on standard error and a hint, unless its exit code is `allowed` (None: any).
    """
    with tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err
            )
        except OSError as error:
            raise RuntimeError(f"{what} cannot be started: {error.strerror}: {words[0]}") from None
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        if allowed is not None and process.returncode != allowed:
            err.seek(0)
            last = err.read().decode(errors="replace").strip().rpartition("\n")[2]
            said = f": {one_line(last)}" if last else ""
            raise RuntimeError(f"{what} ended with {process.returncode}{said}{hint}")
    return usage.ru_utime + usage.ru_stime
