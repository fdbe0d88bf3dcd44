"""What a rerun would ask and cost, in words."""

from agentbench_tui.contracts.plan import RerunExecution, RerunPlanDocument
from agentbench_tui.presentation.rerun_plan import rerun_plan_report


def execution(agent: str, cost_usd: float | None) -> RerunExecution:
    return RerunExecution(
        execution_id=agent, suite_id="s", benchmark_id="b", agent_id=agent, agent_version="1",
        parameters={}, seed=1, attempt=2, requests=2, never_asked=0, kept=0, cost_usd=cost_usd,
        asked=(),
    )  # fmt: skip


def test_the_agent_without_a_price_is_named() -> None:
    plan = RerunPlanDocument(
        run_id="r", requests=4, cost_usd=None, cost_limit_usd=None,
        executions=(execution("priced", 0.5), execution("free", None)),
    )  # fmt: skip
    said = rerun_plan_report(plan).sentences
    assert "The cost is unknown: the earlier answers of free have no known price." in said
