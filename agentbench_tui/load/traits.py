"""Traits of the kind `load`."""

from agentbench_tui.model.kinds import Kind

KIND = Kind(
    name="load",
    summary="put a target under load and measure how fast it answers",
    runner="agentbench_tui.load.kind",
    sends_load=True,
    runs_by_schedule=True,
    compares_repeats=True,
    judges_tail=True,
    evidence="agentbench_tui.verdicts.evidence.load_evidence:LoadEvidence",
    result="agentbench_tui.cli.load.result:print_in_run",
    plan_words="agentbench_tui.load.schedule.schedule_words:plan_words",
)
