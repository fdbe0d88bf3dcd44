"""`variant?name=value&…`: parameters of an experiment, in place of an agent.

Variants that a run compares need agent names in the store. A variant does not answer: benchmarks of
kind `experiment` read the options.
"""

from __future__ import annotations

from typing import NoReturn

from pydantic import ConfigDict

from agentbench_tui.agents.adapter import AgentOptions, OpenContext
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.errors import UsageError


class Options(AgentOptions):
    """Options of the experiment, which checks them itself."""

    model_config = ConfigDict(extra="allow", frozen=True)


def check(_spec: AgentSpec, _options: Options) -> list[str]:
    """Return nothing: the experiment checks its own options."""
    return []


def open(spec: AgentSpec, _options: Options, _context: OpenContext) -> NoReturn:  # noqa: A001
    """Raise UsageError: a variant cannot answer."""
    raise UsageError(f"{spec.id} is a variant of an experiment: only those can be run with it")
