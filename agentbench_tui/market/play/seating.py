"""Chooses the seat from which an agent plays, by the scheme of its target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.agents.model_apis.model_call import ModelAgent
from agentbench_tui.agents.target import parse_target
from agentbench_tui.market.outside.program import ProcessSeat
from agentbench_tui.market.play.functions import ModelSeat
from agentbench_tui.market.play.seats import InvitedSeat, NoSeat, Seat
from agentbench_tui.process.environment import child_environment, python_module

if TYPE_CHECKING:
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Agent

_HOST = "agentbench_tui.market.outside.python_host"
_CANNOT = frozenset({"reference", "replay"})


def seat_of(agent: Agent, spec: AgentSpec, memory_limit_mb: float | None) -> Seat:
    """Return the seat of an agent.

    `agent` is used by seats that call it; programs are started again for each game.
    """
    scheme = parse_target(spec.target).scheme
    if scheme in _CANNOT:
        return NoSeat(scheme)
    if isinstance(agent, Seat):
        return agent
    if scheme == "python":
        module, _, name = parse_target(spec.target).rest.rpartition(":")
        command = python_module(_HOST, module, name, spec.base_dir)
        return ProcessSeat(command, child_environment(), None, memory_limit_mb)
    if scheme in {"command", "worker"}:
        return _program(spec, memory_limit_mb)
    return ModelSeat(agent) if isinstance(agent, ModelAgent) else InvitedSeat(agent)


def _program(spec: AgentSpec, memory_limit_mb: float | None) -> Seat:
    from agentbench_tui.agents.programs.command import Options, command_of, folder_of

    options = Options.model_validate(spec.options)
    environment = child_environment(options.env)
    folder = str(folder_of(spec, options))
    return ProcessSeat(command_of(spec), environment, folder, memory_limit_mb)
