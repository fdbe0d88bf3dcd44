"""The growing report of a scenario, stored after each window."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.store.queries.stress import report_document
from agentbench_tui.store.writes.stress import keep_report
from agentbench_tui.stress.report import ScenarioReport, WindowFacts

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.analysis.load.level_verdict import LevelVerdict
    from agentbench_tui.store.writer import Writer
    from agentbench_tui.stress.stand.measured import Measured


class Reporter:
    """Fills and stores the report of one execution."""

    def __init__(self, writer: Writer, execution_key: int, report: ScenarioReport) -> None:
        self.report = report
        """Anybody may fill it; it is kept with the next window, or by `save`."""
        self._writer = writer
        self._key = execution_key

    async def window(self, facts: WindowFacts) -> None:
        """Add a window, and store the current report."""
        self.report.windows.append(facts)
        await self.save()

    async def save(self) -> None:
        """Store and commit the current report. Numbers that are not finite are omitted, because
        JSON has none and no rule can use them.
        """
        report = self.report
        for facts in (report.observations, *(one.evidence for one in report.advice)):
            for name in [name for name, fact in facts.items() if not _is_told(fact)]:
                del facts[name]
        document = msgspec.json.encode(self.report).decode()
        await self._writer.apply(lambda c: keep_report(c, self._key, document))


def _is_told(fact: float | str | bool) -> bool:
    return not isinstance(fact, float) or math.isfinite(fact)


def read_report(connection: sqlite3.Connection, execution_key: int) -> ScenarioReport | None:
    """Return the last stored report of an execution; None if there is none."""
    document = report_document(connection, execution_key)
    return None if document is None else msgspec.json.decode(document, type=ScenarioReport)


def facts_of(
    measured: Measured,
    *,
    verdict: LevelVerdict | None = None,
    input_tokens: int | None = None,
    reason: str = "",
) -> WindowFacts:
    """Return a window's figures, with the verdict on its level if it was judged."""
    low_ms, high_ms = measured.median_interval_ms()
    return WindowFacts(
        phase=measured.phase,
        repeat=measured.repeat,
        length_s=measured.length_s,
        asked_per_s=measured.asked_per_s,
        users=measured.users,
        input_tokens=input_tokens,
        requests=len(measured),
        answered_per_s=measured.answered_per_s,
        error_share=measured.error_share,
        p50_ms=measured.quantile_ms(0.5),
        p50_low_ms=low_ms,
        p50_high_ms=high_ms,
        p95_ms=measured.quantile_ms(0.95),
        failures=dict(measured.failures),
        memory_mb=measured.memory_mb[-1][1] if measured.memory_mb else None,
        cpu_cores=measured.cpu_share,
        applied=dict(measured.applied),
        verdict=None if verdict is None else verdict.outcome,
        reason=reason or ("" if verdict is None else verdict.reason),
        sender_limit=measured.sender_limit,
    )
