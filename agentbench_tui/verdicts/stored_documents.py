"""Checks of the documents in the store that packages above it write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentbench_tui.store.soundness import Soundness


def stored_soundness() -> Soundness:
    """Return the checks of every stored column, with those of plans, suites, loads and stress."""
    from agentbench_tui.analysis.histogram import Histogram
    from agentbench_tui.engine.plan import Plan
    from agentbench_tui.load.sample import unpack_gaps, unpack_rows
    from agentbench_tui.load.summary import LoadSummary
    from agentbench_tui.load.window import Calibration, Window
    from agentbench_tui.model.suite import Suite
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
            ("benchmark_suites", "document"): Suite.model_validate_json,
            ("load_windows", "document"): json_of(Window),
            ("load_summaries", "document"): json_of(LoadSummary),
            ("calibrations", "document"): json_of(Calibration),
            ("stress_reports", "document"): json_of(ScenarioReport),
            ("sample_chunks", "samples"): samples,
            ("sample_chunks", "gaps"): gaps,
            **{("ticks", name): Histogram.from_bytes for name in histograms},
        }
    )
