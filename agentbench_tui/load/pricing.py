"""What the requests of a load cost, by the prices in force in its run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.engine.closing import write_prices
from agentbench_tui.engine.plan import decode_plan

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Usage


def price_of(
    connection: sqlite3.Connection, execution_key: int, agent: AgentSpec
) -> Callable[[Usage], float | None] | None:
    """Dollars of one request by its tokens; None where the price is not known.

    By the name of the model in the agent's target. The price that is found is kept with the run.
    """
    from agentbench_tui.model.suite import Price
    from agentbench_tui.scoring.prices import PriceTable

    model = agent.target.partition("#")[2]
    if not model or agent.simulated:
        return None
    run_key, text = connection.execute(
        "SELECT r.key, r.plan FROM runs r JOIN benchmark_executions e ON e.run_key=r.key"
        " WHERE e.key=?",
        (execution_key,),
    ).fetchone()
    plan = decode_plan(text)
    table = PriceTable(map(Price.model_validate, plan.prices), source=plan.prices_file)
    for suite in plan.suites:
        table.add(map(Price.model_validate, suite.document["prices"]), "suite")

    from agentbench_tui.model.answer import Usage

    if table.cost(model, None, Usage(1, 1)).usd is None:
        return None
    write_prices(connection, run_key, table.used_prices())
    return lambda usage: table.cost(model, None, usage).usd
