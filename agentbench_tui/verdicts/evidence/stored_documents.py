"""Checks of stored documents that packages above the store write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentbench_tui.store.soundness import Soundness


def stored_soundness() -> Soundness:
    """Return the checks of every stored column, with those of plans, suites, loads and stress."""
    from agentbench_tui.analysis.histogram import Histogram
    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.load.results.summary import LoadSummary
    from agentbench_tui.load.results.window import Calibration, Window
    from agentbench_tui.load.sending.sample import unpack_gaps, unpack_rows
    from agentbench_tui.model.kind_sections import read_suite
    from agentbench_tui.store.soundness import Soundness, json_of
    from agentbench_tui.stress.report import ScenarioReport

    def gaps(chunk: Any) -> None:
        unpack_gaps([chunk])

    def samples(chunk: Any) -> None:
        unpack_rows([chunk])

    histograms = ("e2e_histogram", "ttft_histogram", "itl_histogram", "queue_histogram")
    return Soundness(
        {
            ("runs", "plan"): json_of(Plan),
            ("benchmark_suites", "document"): read_suite,
            ("load_windows", "document"): json_of(Window),
            ("load_summaries", "document"): json_of(LoadSummary),
            ("calibrations", "document"): json_of(Calibration),
            ("stress_reports", "document"): json_of(ScenarioReport),
            ("sample_chunks", "samples"): samples,
            ("sample_chunks", "gaps"): gaps,
            **{("ticks", name): Histogram.from_bytes for name in histograms},
        },
        _plan_problem,
    )


def _plan_problem(run_id: str, text: str, executions: Mapping[str, str]) -> str:
    """Say what is wrong with the stored plan of a run, given its executions' agents; else empty.

    A plan decides what is resumed and scored again, so it must be that of its own run.
    """
    import shlex

    from agentbench_tui.engine.run.plan import decode_plan
    from agentbench_tui.model.text.untrusted import one_line

    plan, held = decode_plan(text), set[tuple[str, str]]()
    if plan.run_id != run_id:
        return "is that of another run"
    try:
        shlex.split(plan.command)
        for suite in plan.suites:
            benchmarks = suite.resolved().benchmarks
            held |= {(suite.hash, benchmark.benchmark_id) for benchmark in benchmarks}
        named = {(one.suite_hash, one.resolved().benchmark_id) for one in plan.groups}
    except ValueError as error:
        return one_line(str(error), 160)
    if named - held:
        return "names a benchmark that its suite does not hold"
    if any(not group.executions for group in plan.groups):
        return "names a benchmark without executions"
    planned = {execution.id: execution.agent.id for _, execution in plan.executions()}
    if planned != dict(executions) or len(planned) != len(plan.executions()):
        return "names other executions than the run has"
    return ""
