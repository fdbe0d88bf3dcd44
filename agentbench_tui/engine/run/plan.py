"""The plan of a run: everything needed to carry it out, to repeat it and to resume it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.agents.secret_names import command_lines
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import derive_seed
from agentbench_tui.model.text.secrets import MASK, redactor_now

if TYPE_CHECKING:
    from agentbench_tui.model.suite import Benchmark, Suite


class Continued(msgspec.Struct, frozen=True):
    """What an execution of a rerun has of an execution of an earlier run, and asks again."""

    execution_id: str
    """The execution of the earlier run."""
    asked: tuple[tuple[str, int, int], ...] = ()
    """(case id, repeat, iteration) of each observation that is asked."""
    attempt: int = 1
    """1: the earlier execution as a whole, whose other answers are kept. From 2 on: only further
    attempts at its answers that were not right."""
    asks_rest: bool = False
    """Whether it also asks what the earlier execution never came to ask."""


class ExecutionPlan(msgspec.Struct, frozen=True):
    """One agent on one benchmark at one parameter point with one seed."""

    id: str
    ordinal: int
    """Place in the run, from 0."""
    agent: AgentSpec
    continued: Continued | None = None
    """In a rerun: the execution that this one continues."""


class Group(msgspec.Struct, frozen=True):
    """One benchmark at one parameter point and seed; its agents take turns."""

    suite_id: str
    suite_hash: str
    benchmark: dict[str, Any]
    """The benchmark after parameters and command-line overrides, as JSON of model.suite."""
    parameters: dict[str, Any]
    """The benchmark's own parameters at this point of its sweep: part of its identity."""
    values: dict[str, Any]
    """Every parameter that applies here, including the suite's: what agents and datasets
    receive.
    """
    seed: int
    base_dir: str
    """Folder that the suite's relative paths are relative to."""
    case_ids: tuple[str, ...] = ()
    """Only these cases; all when empty."""
    executions: tuple[ExecutionPlan, ...] = ()

    @property
    def seed_of_turns(self) -> int:
        """Seed for `turns.in_turn`: different at each point of a sweep, so that no order favors
        an agent at all of them.
        """
        return derive_seed(self.seed, "turns", self.executions[0].ordinal)

    def resolved(self) -> Benchmark:
        """The benchmark as a model."""
        from agentbench_tui.model.kind_sections import benchmark_model

        model = benchmark_model(self.benchmark.get("kind"))
        return model.model_validate_json(msgspec.json.encode(self.benchmark))


class SuiteInPlan(msgspec.Struct, frozen=True):
    """A suite as it was when the run was planned."""

    hash: str
    suite_id: str
    document: dict[str, Any]
    """The suite as JSON of model.suite."""
    source: str
    """The text of its file."""

    def resolved(self) -> Suite:
        """Return the suite. Raises ValueError if the document is not one."""
        from agentbench_tui.model.kind_sections import read_suite

        return read_suite(msgspec.json.encode(self.document))


class Plan(msgspec.Struct, frozen=True):
    """One invocation: suites × agents × parameter points × seeds."""

    run_id: str
    suites: tuple[SuiteInPlan, ...]
    groups: tuple[Group, ...]
    repeats: int
    seed: int
    cost_limit_usd: float | None = None
    token_limit: int | None = None
    prices: tuple[dict[str, Any], ...] = ()
    """Price overrides of the command line, as JSON of model.suite.Price."""
    prices_file: str = ""
    """The file that they were read from."""
    gates: tuple[str, ...] = ()
    """Gates of the command line, for every execution; a suite's own are in its document."""
    tags: tuple[str, ...] = ()
    notes: str = ""
    command: str = ""
    """The command line that created it, with secrets masked."""
    remarks: tuple[str, ...] = ()
    """Remarks on the suites, such as a parameter that has no effect."""
    rerun_of: str = ""
    """Id of the run that this one continues by asking part of it again."""

    def executions(self) -> list[tuple[Group, ExecutionPlan]]:
        """Every execution with its group, in order."""
        return [(group, execution) for group in self.groups for execution in group.executions]


def masked(plan: Plan) -> Plan:
    """The plan as it is stored: every secret in it is masked, also in targets.

    A plan whose targets held one cannot be resumed; see `check_unmasked`.
    """
    text = encode_plan(plan)
    masked_text = redactor_now().of_json(text)
    return plan if masked_text == text else decode_plan(masked_text)


def check_unmasked(plan: Plan) -> None:
    """Raise UsageError for a stored plan without a secret that a command line in it held."""
    for _, execution in plan.executions():
        agent = execution.agent
        if MASK in agent.target or MASK in msgspec.json.encode(agent.options).decode():
            raise UsageError(
                f"agent {agent.id}: its target contained a secret, which is not stored, so the "
                "run cannot be resumed; put the secret into an environment variable, name the "
                "variable with the option `env`, and start a new run"
            )
    for group in plan.groups:
        if any(MASK in line for line in command_lines(group.benchmark)):
            raise UsageError(
                f"benchmark {group.benchmark['benchmark_id']}: a command in it contained a "
                "secret, which is not stored, so the run cannot be resumed; let the command "
                "read the secret from an environment variable or a file, and start a new run"
            )


def encode_plan(plan: Plan) -> str:
    """JSON of a plan, as the store keeps it."""
    return msgspec.json.encode(plan).decode()


def decode_plan(text: str) -> Plan:
    """The plan that `encode_plan` wrote."""
    return msgspec.json.decode(text, type=Plan)
