"""Choices on the page New run, and the resulting command line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from agentbench_tui.load.options import LOAD_OPTIONS
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.gate import parse_gate
from agentbench_tui.model.suite_option import FLAG, Words, named
from agentbench_tui.stress.options import SCENARIOS, STRESS_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from agentbench_tui.model.suite_option import SuiteOption

What = Literal["run", "load", "stress"]
GATES, TAGS, OWNED = "--fail-on", "--tag", "--i-own-this-target"


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One line of the form. An empty one uses the suite's value, or the command's default."""

    option: str
    """`--runs`; for a suite's parameter `--set NAME`."""
    label: str
    placeholder: str = ""
    words: tuple[str, ...] = ()
    """Allowed values, if they are a list of words; offered while typing."""
    several: bool = False
    """Whether several values are separated by spaces, each as a separate option."""


def _lines(options: Sequence[SuiteOption], *flags: str) -> Iterator[FieldSpec]:
    """Yield the lines of these options, as the table of their command describes them."""
    for flag in flags:
        option = named(options, flag)
        words = option.value.words if isinstance(option.value, Words) else ()
        yield FieldSpec(
            option.option,
            option.label,
            option.placeholder,
            ("yes",) if option.value == FLAG else words,
            several=option.several and option.value != SCENARIOS,
        )


_LIMITS = (
    FieldSpec("--max-cost", "cost cap", "USD; stops the run"),
    FieldSpec("--max-tokens", "token cap", "stops the run"),
)
_LAST = (
    FieldSpec(GATES, "gates", "accuracy>=0.8 e2e_ms.p95<=1200", several=True),
    FieldSpec(TAGS, "tags", "to find the run by", several=True),
    FieldSpec("--notes", "notes", "stored with the run"),
)
FIELDS: dict[What, tuple[FieldSpec, ...]] = {
    "run": (
        FieldSpec("--runs", "repeats", "1; new sessions each"),
        FieldSpec("--iterations", "iterations", "set by the suite"),
        FieldSpec("--warmup", "warm-up", "set by the suite"),
        FieldSpec("--limit", "cases at most", "all, of each benchmark"),
        FieldSpec("--seed", "seed", "set by the suite"),
        FieldSpec("--seeds", "seeds", "1; consecutive from seed"),
        FieldSpec("--concurrency", "at once", "set by the suite"),
        *_LIMITS,
        *_LAST,
    ),
    "load": (
        *_lines(LOAD_OPTIONS, "--rate", "--arrivals", "--concurrency", "--duration", "--requests"),
        *_lines(LOAD_OPTIONS, "--slo", "--input-tokens", "--output-tokens"),
        FieldSpec("--runs", "repeats", "1"),
        *_LIMITS,
        *_LAST,
    ),
    "stress": (
        *_lines(STRESS_OPTIONS, "--scenario", "--time-scale", "--duration", "--most-rate"),
        *_lines(STRESS_OPTIONS, "--most-concurrency", "--p95-ms", "--max-time", "--max-requests"),
        *_lines(STRESS_OPTIONS, OWNED),
        *_LIMITS,
        *_LAST,
    ),
}
"""Fields of each command, in the order of the form."""


@dataclass(slots=True)
class Choice:
    """The current choices."""

    what: What = "run"
    suite: str | None = None
    """Name or path, of a run."""
    benchmarks: list[str] = field(default_factory=list)
    """Empty means all."""
    cases: list[str] = field(default_factory=list)
    own_agents: list[str] = field(default_factory=list)
    """Agents that the suite names, as arguments."""
    agents: list[str] = field(default_factory=list)
    """Picked agents, as arguments; a load has one."""
    values: dict[str, str] = field(default_factory=dict)
    """Option → typed value."""

    def lacking(self) -> str:
        """Return what must be chosen before there can be a plan; empty if nothing is missing."""
        if self.what == "run" and self.suite is None:
            return "choose a suite: enter on its line in the tree"
        if not self.agents:
            return "pick an agent with space, or type one below"
        if self.what == "load" and len(self.agents) > 1:
            return "a load goes to one target: unpick the others"
        return ""

    def arguments(self) -> list[str]:
        """Return the arguments after `agentbench`."""
        if self.what == "run":
            given = ["run", *([self.suite] if self.suite else [])]
            if sorted(self.agents) != sorted(self.own_agents):
                given += _each("--agent", [self._in_short(agent) for agent in self.agents])
            given += _each("--benchmark", self.benchmarks) + _each("--case", self.cases)
        else:
            given = [self.what, *self.agents]
        return given + [word for line in self._lines() for word in self._options(line)]

    def check_arguments(self, agent: str) -> list[str]:
        """Return the arguments after `agentbench` that check this agent."""
        of_suite = ["--suite", self.suite] if self.suite and agent in self.own_agents else []
        return ["agents", "check", self._in_short(agent), "--ask", *of_suite]

    def _in_short(self, agent: str) -> str:
        """Return a suite's agent by its id, because its files are relative to the suite."""
        return agent.partition("=")[0].partition("@")[0] if agent in self.own_agents else agent

    def command(self, database: Path | None) -> str:
        """Return the shell command; `database`: if it is not the default one."""
        place = [] if database is None else ["--db", str(database)]
        return shlex.join(["agentbench", *self.arguments(), *place])

    def _lines(self) -> list[FieldSpec]:
        parameters = [
            FieldSpec(option, option) for option in self.values if option.startswith("--set ")
        ]
        return [*(parameters if self.what == "run" else ()), *FIELDS[self.what]]

    def _options(self, line: FieldSpec) -> list[str]:
        typed = self.values.get(line.option, "").strip()
        if not typed:
            return []
        if line.option.startswith("--set "):
            return ["--set", f"{line.option.removeprefix('--set ')}={typed}"]
        if line.option == OWNED:
            return [OWNED] if typed.lower() == "yes" else []
        if line.several:
            return _each(line.option, typed.split())
        # A value that begins with a dash is no option.
        return [f"{line.option}={typed}"] if typed.startswith("-") else [line.option, typed]


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def typed_fault(line: FieldSpec, typed: str) -> str:
    """Return what is wrong with a field's text, as far as known without a plan."""
    if line.option == GATES:
        return _fault_of(lambda: [parse_gate(one) for one in typed.split()])
    if line.words and typed.strip() and not any(w.startswith(typed.strip()) for w in line.words):
        return f"one of {', '.join(line.words)}"
    return ""


def _fault_of(check: Callable[[], object]) -> str:
    try:
        check()
    except UsageError as error:
        return str(error)
    return ""


def field_of_fault(words: str, options: Sequence[str]) -> str | None:
    """Return the option that a message of the command refers to, by its name or that of its
    gate.
    """
    for option in options:
        name = option.removeprefix("--set ")
        if option.startswith("--set "):
            if f"--set {name}" in words:
                return option
        elif f"{option}'" in words or f"{option}:" in words or f"{option} " in words:
            return option
    return GATES if words.startswith("gate ") and GATES in options else None
