"""Live text view of a run: its rows so far, drawn as a table with rich."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.model.kinds import Kind, kind_named
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import MISSING, duration, money, percent, short_percent
from agentbench_tui.tui.pages.live.load_picture import LoadPicture
from agentbench_tui.tui.pages.live.silence import silence

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.store.viewer import Row, Update
_FAILURES_SHOWN = 3
_OUTLOOKS_SHOWN = 2
_LONGEST_NAME = 28
"""Cells of a name, so that one long name leaves room for the figures."""


@dataclass(frozen=True, slots=True)
class _Bar:
    """A bar as wide as possible within bounds."""

    share: float

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        filled = round(options.max_width * self.share)
        yield Text("█" * filled + "░" * (options.max_width - filled))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(4, 24)


def _style(row: Row, update: Update) -> str:
    if row["key"] in update.live:
        return "bold"
    return "dim" if row["status"] == "planned" else ""


def _benchmarks(plan: str, of: Callable[[Kind], bool]) -> dict[str, dict[str, Any]]:
    """Return the benchmark of each execution of such a kind in a run's stored plan, by execution
    id.
    """
    return {
        execution["id"]: group["benchmark"]
        for group in json.loads(plan)["groups"]
        if of(kind_named(group["benchmark"]["kind"]))
        for execution in group["executions"]
    }


class RunPicture:
    """State of a run so far, and its display."""

    def __init__(self, hint: str = "") -> None:
        """`hint`: what the user can do, shown on a separate line."""
        self._hint = hint
        self._histograms: dict[int, Histogram] = {}
        self._counts: dict[int, Counter[str]] = {}
        self._cost: Counter[int] = Counter()
        self._failures: list[tuple[int, str]] = []
        """Execution key and message, each once, the last few."""
        self._gauges: dict[str, dict[str, Any]] = {}
        self._began = time.monotonic()
        self._load: LoadPicture | None = None
        self._stress: frozenset[str] = frozenset()
        """Executions with an unknown number of requests."""

    def take(self, update: Update) -> None:
        """Add new rows."""
        load = self._load_of(update)
        of_load = {row["key"] for row in update.executions if load.has(row)}
        for tick in update.new["ticks"]:
            key = tick["execution_key"]
            if key in of_load:
                load.take(tick)
                continue
            self._histograms.setdefault(key, Histogram()).merge(
                Histogram.from_bytes(tick["e2e_histogram"])
            )
            counts = self._counts.setdefault(key, Counter())
            counts.update({name: tick[name] for name in ("observed", "answered", "correct")})
            self._cost[key] += tick["cost_usd"]
        for failure in update.new["failures"]:
            said = f"{failure['stage']}: {failure['kind']}: {failure['detail']}"
            told = failure["execution_key"], said
            if failure["execution_key"] in of_load:
                load.fail(failure)
            others = [one for one in self._failures if one != told]
            self._failures = [*others, told][-_FAILURES_SHOWN:]
        for gauge in update.new["gauges"]:
            self._gauges[gauge["scope"]] = json.loads(gauge["reading"])

    def _load_of(self, update: Update) -> LoadPicture:
        """Return the run's executions of kind load, from its plan, which is read once."""
        if self._load is None:
            plan = update.run["plan"]
            loads = _benchmarks(plan, lambda kind: kind.runs_by_schedule)
            self._load = LoadPicture(loads, update.run["command"])
            self._stress = frozenset(_benchmarks(plan, lambda kind: kind.sends_load)) - loads.keys()
        return self._load

    def progress(self, update: Update) -> str:
        """Return the current state in one line, without a terminal."""
        load = self._load_of(update)
        running = load.line(update)
        tasks = [row for row in update.executions if not load.has(row)]
        if running or not tasks:
            return running
        said = self._outlooks(tasks, update)
        stress = [row for row in tasks if row["id"] in self._stress]
        tasks = [row for row in tasks if row not in stress]
        if stress:
            counts = self._counted(stress)
            said.insert(0, f"stress: {counts['observed']} asked, {counts['answered']} answered")
        if tasks:
            counts = self._counted(tasks)
            planned = sum(row["planned"] for row in tasks)
            asked = f"{counts['observed']} of {planned} asked, {counts['answered']} answered"
            said.insert(0, f"{asked}, {counts['correct']} right")
        return "; ".join(said)

    def _counted(self, rows: list[Row]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for row in rows:
            counts.update(self._counts.get(row["key"], Counter()))
        return counts

    def _outlooks(self, tasks: list[Row], update: Update) -> list[str]:
        """Return the precision of running executions, if known, or those that report nothing."""
        found = []
        for row in tasks:
            live = update.live.get(row["key"])
            state = json.loads(live["state"]) if live else {}
            nothing_yet = not self._counted([row])["observed"]
            said = state.get("outlook") or silence(state, nothing_yet=nothing_yet)
            if said and row["status"] == "running":
                found.append(one_line(f"{row['agent_id']} {row['benchmark_id']}: {said}"))
        return found[:_OUTLOOKS_SHOWN]

    def draw(self, update: Update) -> Group:
        """Draw the current state."""
        load = self._load_of(update)
        tasks = [row for row in update.executions if not load.has(row)]
        parts: list[RenderableType] = [self._table(tasks, update)] if tasks else []
        parts += [Text(line, style="dim") for line in self._outlooks(tasks, update)]
        parts += load.draw(update)
        for about_run in (self._run_line(update), self._host_line(), self._hint):
            if about_run:
                parts.append(Text(about_run, style="dim"))
        executions = {row["key"]: row for row in update.executions}
        for key, said in self._failures:
            about = executions.get(key)
            place = f"{about['agent_id']} {about['benchmark_id']} " if about else ""
            line = one_line(f"{place}{said}", 110)
            parts.append(Text(line, style="yellow", no_wrap=True, overflow="ellipsis"))
        return Group(*parts)

    def _table(self, rows: list[Row], update: Update) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for title in ("benchmark", "agent"):
            table.add_column(title, no_wrap=True, max_width=_LONGEST_NAME)
        table.add_column("")
        for title in ("now", "asked", "right", "reliable", "p50", "p95", "USD"):
            table.add_column(title, justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*self._cells(row, update), style=_style(row, update))
        return table

    def _cells(self, row: Row, update: Update) -> list[Text | _Bar]:
        counts = self._counts.get(row["key"], Counter())
        histogram = self._histograms.get(row["key"], Histogram())
        observed = counts["observed"]
        planned = None if row["id"] in self._stress else row["planned"]
        share = observed / planned if planned else 0.0
        live = update.live.get(row["key"])
        in_flight = json.loads(live["state"])["in_flight"] if live else 0
        name = one_line(row["agent_id"]) + (" (simulated)" if row["simulated"] else "")
        cells = [
            str(in_flight or ""),
            f"{observed}" if planned is None else f"{observed}/{planned}",
            percent(counts["correct"] / observed) if observed else MISSING,
            percent(counts["answered"] / observed) if observed else MISSING,
            duration(histogram.percentile(0.5)),
            duration(histogram.percentile(0.95)),
            money(self._cost[row["key"]] or None),
        ]
        return [
            Text(one_line(row["benchmark_id"])),
            Text(name),
            _Bar(min(1.0, share)),
            *map(Text, cells),
        ]

    def _run_line(self, update: Update) -> str:
        line = f"run {update.run['id']}: {update.run['status']}"
        if update.run["status"] == "running":
            return f"{time.monotonic() - self._began:.0f} s · {line}"
        return line

    def _host_line(self) -> str:
        parts = []
        host = self._gauges.get("host", {})
        if "cpu_percent" in host:
            parts.append(f"CPU {short_percent(host['cpu_percent'] / 100)}")
        if "memory_used_mb" in host and "memory_total_mb" in host:
            used, total = host["memory_used_mb"] / 1000, host["memory_total_mb"] / 1000
            parts.append(f"memory {used:.1f}/{total:.0f} GB")
        for scope, reading in self._gauges.items():
            if scope.startswith("gpu:") and "utilisation_percent" in reading:
                number = scope.removeprefix("gpu:")
                parts.append(f"GPU {number} {short_percent(reading['utilisation_percent'] / 100)}")
        return " · ".join(parts)
