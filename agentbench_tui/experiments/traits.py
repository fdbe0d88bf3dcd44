"""Traits of the kind `experiment`."""

from agentbench_tui.model.kinds import Kind

KIND = Kind(
    name="experiment",
    summary="time code, variant against variant",
    runner="agentbench_tui.experiments.kind",
    needs=("experiment",),
    needs_agents=False,
    returns_numbers=True,
    measures_code=True,
    variants="agentbench_tui.experiments.variants:run_with",
)
