"""Cost of a load's requests, at the prices of its run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.agents.target import named_model
from agentbench_tui.engine.run.plan import decode_plan
from agentbench_tui.store.queries.runs import plan_of_execution

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Usage
    from agentbench_tui.scoring.prices import UsedPrice


@dataclass(frozen=True, slots=True)
class RunPrice:
    """Cost of one agent's requests in a run."""

    run_key: int
    used: tuple[UsedPrice, ...]
    """To be kept with the run, so that costs can be checked later."""
    of_request: Callable[[Usage], float | None]
    """USD of one request by its tokens; None if too little is known."""


def price_against_cap(
    context: RunContext, agent: AgentSpec
) -> Callable[[Usage], float | None] | None:
    """Return a function from token usage to the USD of one request; None if its price is unknown,
    or if the run has no cost budget.
    """
    from agentbench_tui.model.answer import Usage

    if agent.simulated or context.budget.cost_limit_usd is None:
        return None

    def price(usage: Usage) -> float | None:
        return context.prices.cost(named_model(agent), None, usage).usd

    return None if price(Usage(1, 1)) is None else price


def price_of(
    connection: sqlite3.Connection, execution_key: int, agent: AgentSpec
) -> RunPrice | None:
    """Return the price of an agent's requests, by the name of the model in its target; None if it
    is unknown.
    """
    from agentbench_tui.model.suite import Price
    from agentbench_tui.scoring.prices import PriceTable

    if agent.simulated:
        return None
    model = named_model(agent)
    run_key, text = plan_of_execution(connection, execution_key)
    plan = decode_plan(text)
    table = PriceTable(map(Price.model_validate, plan.prices), source=plan.prices_file)
    for suite in plan.suites:
        table.add(suite.resolved().prices, "suite")

    from agentbench_tui.model.answer import Usage

    if table.cost(model, None, Usage(1, 1)).usd is None:
        return None
    used = tuple(table.used_prices())
    return RunPrice(run_key, used, lambda usage: table.cost(model, None, usage).usd)
