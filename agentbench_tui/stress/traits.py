"""Traits of the kind `stress`."""

from agentbench_tui.model.kinds import Kind

KIND = Kind(
    name="stress",
    summary="find out where a target breaks and how it recovers",
    runner="agentbench_tui.stress.kind",
    sends_load=True,
    evidence="agentbench_tui.verdicts.evidence.stress_evidence:StressEvidence",
    document="agentbench_tui.verdicts.stress.stress_document:scenario_document",
    check_plan="agentbench_tui.cli.stress.plan:check_plan",
    plan_words="agentbench_tui.cli.stress.plan:plan_words",
    live_facts="agentbench_tui.tui.pages.live.tables:stress_facts",
    result="agentbench_tui.cli.stress.result:print_in_run",
    progress="agentbench_tui.cli.stress.progress:say_windows",
)
