"""An example of `delta_cell`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.delta_cell import Delta, DeltaCells


def demo() -> DeltaCells:
    """An example."""
    cells = DeltaCells()
    cells.show(
        (
            ("example accuracy", Delta(0.13, "better", 0.103, 0.157, "points")),
            ("example e2e_ms.p50", Delta(1.42, "worse", 1.10, 1.84)),
            ("example ttft_ms.p50", Delta(0.71, "better", 0.66, 0.78)),
            ("example cost_usd", Delta(1.0, "equivalent", 0.98, 1.02)),
            ("example itl_ms.p99", Delta(0.96, "inconclusive", 0.80, 1.15)),
            ("example e2e_ms.p95", Delta(1.06, "suspect", 1.01, 1.12)),
            ("example answers/s", Delta(2310, "better", 1800, 2950, "")),
            ("example tokens", Delta(None, "not enough data", reason="needs 5 runs (have 2)")),
        )
    )
    return cells
