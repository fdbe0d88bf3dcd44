"""Agents that can be picked for a run: those of the suite, typed ones, and earlier ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.agents.target import argument_of, parse_agent
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentbench_tui.model.agent import AgentSpec

_COLUMNS = (
    Column("id", "agent", 14, flex=1, has_names=True),
    Column("from", "from", 8, priority=2),
    Column("target", "target", 14, flex=3, priority=3),
)


@dataclass(slots=True)
class AgentChoice:
    """Agents as command-line arguments, in the order in which they are shown."""

    own: list[str] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    picked: list[str] = field(default_factory=list)

    def known(self) -> dict[str, str]:
        """Return argument → its source."""
        found = dict.fromkeys(self.typed, "typed")
        found |= dict.fromkeys(self.own, "suite")
        return found | {one: "store" for one in self.stored if one not in found}

    def seen(self, specifications: Iterable[AgentSpec]) -> None:
        """Return agents that were measured before."""
        self.stored = [argument_of(one) for one in specifications]

    def of_suite(self, own: list[str]) -> None:
        """Use another suite's agents, and pick them if it has any."""
        kept = [one for one in self.picked if one not in self.own]
        self.own = own
        self.picked = list(own) if own else kept

    def add(self, text: str, *, only: bool) -> None:
        """Add and pick a typed agent. Raises UsageError."""
        argument = argument_of(parse_agent(text, base_dir=str(Path.cwd())))
        if argument not in self.known():
            self.typed.insert(0, argument)
        self.pick({*(() if only else self.picked), argument}, only=only)

    def pick(self, keys: Iterable[str], *, only: bool) -> None:
        """Pick only these; if only one is allowed, the new one."""
        wanted = set(keys)
        new = [one for one in self.known() if one in wanted and one not in self.picked]
        self.picked = [one for one in self.picked if one in wanted] + new
        if only:
            self.picked = self.picked[-1:]

    def is_free(self, argument: str) -> bool:
        """Return whether it is simulated or recorded, so that calling it costs nothing."""
        spec = _spec_of(argument)
        return spec is not None and (spec.simulated or spec.recorded)

    def table(self, is_run: bool) -> GridData:
        """Return the table for the screen."""
        rows = []
        for argument, origin in self.known().items():
            spec = _spec_of(argument)
            name = argument if spec is None else spec.id
            rows.append(
                GridRow(
                    argument,
                    (
                        name + (" (simulated)" if spec is not None and spec.simulated else ""),
                        Cell(origin, role="dim"),
                        Cell("" if spec is None else redact(spec.target), role="dim"),
                    ),
                )
            )
        what = "run" if is_run else "ask"
        return GridData(_COLUMNS, rows, reason=f"no agent to {what} yet: type one below")


def _spec_of(argument: str) -> AgentSpec | None:
    try:
        return parse_agent(argument, base_dir=str(Path.cwd()))
    except UsageError:
        return None
