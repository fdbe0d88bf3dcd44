"""Live text view of a load: rates, in-flight requests, and the distribution of times so far."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.engine.run.interval_precision import USUAL_HALF_WIDTH, time_outlook
from agentbench_tui.load.schedule.schedule_words import schedule_words
from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import MISSING, amount, duration
from agentbench_tui.tui.pages.live.silence import silence
from agentbench_tui.tui.pages.live.warming_up import warming_up
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from agentbench_tui.store.viewer import Row, Update

_BUSY = frozenset({"starting", "window", "draining"})
"""Phases of an execution (`load.results.live.Phase`) whose requests are under way or about to
be."""
_BLOCKS = "▁▂▃▄▅▆▇█"
_SHOWN = ((0.5, "p50", 1), (0.95, "p95", 59), (0.99, "p99", 299))
"""Share, name, and how many answers a percentile needs."""


@dataclass(slots=True)
class _Seen:
    """Ticks of one execution so far."""

    e2e: Histogram = field(default_factory=Histogram)
    ttft: Histogram = field(default_factory=Histogram)
    sent: int = 0
    failed: int = 0
    kinds: list[str] = field(default_factory=list)
    """Kinds of failures, in order of appearance."""
    repeat: int = 0
    of_repeats: dict[int, Histogram] = field(default_factory=dict)
    """End-to-end times of each repeat."""
    began_at: float | None = None

    def take(self, tick: Row) -> None:
        """Add the tick."""
        times = Histogram.from_bytes(tick["e2e_histogram"])
        self.e2e.merge(times)
        self.of_repeats.setdefault(tick["repeat"], Histogram()).merge(times)
        if tick.get("ttft_histogram"):
            self.ttft.merge(Histogram.from_bytes(tick["ttft_histogram"]))
        self.sent += tick["sent"]
        self.failed += tick["failed"]
        if self.began_at is None:
            self.began_at = tick["at"]
        self.repeat = tick["repeat"]

    def outlook(self) -> str:
        """Return the current precision of the median by finished repeats, and what more would
        require.
        """
        over = [one for repeat, one in self.of_repeats.items() if repeat != self.repeat]
        medians = [one.percentile(0.5) for one in over if len(one)]
        return time_outlook([one for one in medians if one is not None], USUAL_HALF_WIDTH)


@dataclass(frozen=True, slots=True)
class Shape:
    """A histogram as a line of blocks, with named ends, as wide as possible."""

    histogram: Histogram
    most: int = 60
    """Columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        buckets = self.histogram.buckets()
        low, high = buckets[0][0], buckets[-1][1]
        left, right = f"{duration(low)} ", f" {duration(high)}"
        room = min(self.most, options.max_width - len(left) - len(right))
        line = blocks(buckets, max(1, room))
        yield Text(left, style="dim") + Text(line) + Text(right, style="dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(30, options.max_width), options.max_width)


def blocks(buckets: list[tuple[float, float, int]], width: int) -> str:
    """Return counts of `Histogram.buckets` as `width` block characters, evenly spaced from the
    lowest value to the highest.

    Every nonzero count is visible: the smallest block stands for at least 1. A bucket wider than a
    character is spread over those that it covers.
    """
    low, high = buckets[0][0], buckets[-1][1]
    each = (high - low) / width
    columns = [0.0] * width
    for start, end, count in buckets:
        first = min(width - 1, int((start - low) / each)) if each else 0
        last = min(width - 1, max(first, math.ceil((end - low) / each) - 1)) if each else 0
        for place in range(first, last + 1):
            columns[place] += count / (last + 1 - first)
    most = max(columns)
    return "".join(
        " " if not count else _BLOCKS[max(0, math.ceil(count / most * len(_BLOCKS)) - 1)]
        for count in columns
    )


class LoadPicture:
    """The executions of kind load of one run."""

    def __init__(self, benchmarks: Mapping[str, dict[str, Any]], command: str | None) -> None:
        """`benchmarks`: execution id → its benchmark, from the plan.

        `command`: the command of the run.
        """
        self._benchmarks = benchmarks
        self._command = command
        self._seen: dict[int, _Seen] = {}

    def has(self, row: Row) -> bool:
        """Return whether it includes an execution."""
        return row["id"] in self._benchmarks

    def take(self, tick: Row) -> None:
        """Add a tick of one of these executions."""
        self._seen.setdefault(tick["execution_key"], _Seen()).take(tick)

    def fail(self, failure: Row) -> None:
        """Record the failure kind of an execution. Only the first few of each kind are stored, so
        they cannot be counted here.
        """
        kinds = self._seen.setdefault(failure["execution_key"], _Seen()).kinds
        if failure["stage"] == "answer" and failure["kind"] not in kinds:
            kinds.append(failure["kind"])

    def draw(self, update: Update) -> list[RenderableType]:
        """Draw one line per execution if there are several, and running ones in full."""
        rows = [row for row in update.executions if self.has(row)]
        parts: list[RenderableType] = []
        if len(rows) > 1:
            parts.append(self._table(rows, update))
        row = self._current(update)
        if row is not None and row["key"] in update.live:
            parts += self._detail(row, update)
        return parts

    def line(self, update: Update) -> str:
        """Return the current state in one line, without a terminal; empty if nothing is running."""
        row = self._current(update)
        if row is None:
            return ""
        seen, state = self._seen.get(row["key"], _Seen()), _state(row, update)
        e2e = f"e2e {_percentiles(seen.e2e)}" if len(seen.e2e) else "nothing answered yet"
        outlook = seen.outlook()
        e2e += f"; {outlook}" if outlook else ""
        phase = [state["phase"]] if state.get("phase", "window") != "window" else []
        if warming := warming_up(self._benchmarks[row["id"]], state, self._command):
            return f"{_name(row)}: {warming}"
        return (
            f"{_name(row)}: {', '.join([*phase, *_rates(seen, state), *_counts(seen, state), e2e])}"
        )

    def _current(self, update: Update) -> Row | None:
        """Return the execution under load, else one that waits or is calibrated."""
        running = [row for row in update.executions if self.has(row) and row["status"] == "running"]
        busy = [row for row in running if _state(row, update).get("phase") in _BUSY]
        found = busy or running
        return found[-1] if found else None

    def _table(self, rows: list[Row], update: Update) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column("load", no_wrap=True, overflow="ellipsis")
        for title in ("sent", "failed", "e2e p50", "p95", "ttft p50"):
            table.add_column(title, justify="right", no_wrap=True)
        table.add_column("status")
        for row in rows:
            seen = self._seen.get(row["key"], _Seen())
            cells = [
                f"{seen.sent:,}" if seen.sent else MISSING,
                f"{seen.failed:,}" if seen.sent else MISSING,
                _percentile(seen.e2e, 0.5, 1),
                _percentile(seen.e2e, 0.95, 59),
                _percentile(seen.ttft, 0.5, 1),
                row["status"],
            ]
            style = "bold" if row["key"] in update.live else ""
            table.add_row(_name(row), *map(Text, cells), style=style)
        return table

    def _detail(self, row: Row, update: Update) -> list[RenderableType]:
        seen = self._seen.get(row["key"], _Seen())
        block, state = self._benchmarks[row["id"]]["load"], _state(row, update)
        parts: list[RenderableType] = [
            Text(f"{_name(row)} · {schedule_words(block)}", style="bold"),
        ]
        if warming := warming_up(self._benchmarks[row["id"]], state, self._command):
            return [*parts, Text(warming)]
        parts += [
            Text(" · ".join([*_elapsed(seen, block, state), *_rates(seen, state)])),
            Text(" · ".join(_counts(seen, state))),
        ]
        for name, histogram in (("e2e ", seen.e2e), ("ttft", seen.ttft)):
            if len(histogram):
                parts.append(Text(f"{name} {_percentiles(histogram)}, how many took how long:"))
                parts.append(Shape(histogram))
        if outlook := seen.outlook():
            parts.append(Text(f"e2e p50: {outlook}", style="dim"))
        return parts


def _state(row: Row, update: Update) -> dict[str, Any]:
    live = update.live.get(row["key"])
    state: dict[str, Any] = json.loads(live["state"]) if live else {}
    return state


def _rates(seen: _Seen, state: dict[str, Any]) -> list[str]:
    """Return the recent offered, sent and answered rates, as far as known."""
    asked, sent_per_s, tokens_per_s = map(state.get, ("asked_per_s", "sent_per_s", "tokens_per_s"))
    parts = [f"offered {amount(asked)}/s"] if asked is not None else []
    parts.append(
        f"sent {seen.sent:,}" + ("" if sent_per_s is None else f" ({amount(sent_per_s)}/s)")
    )
    if tokens_per_s:
        parts.append(f"{amount(tokens_per_s)} tokens/s")
    return parts


def _counts(seen: _Seen, state: dict[str, Any]) -> list[str]:
    """Return in-flight, waiting and failed requests, as far as known."""
    parts = []
    if "in_flight" in state:
        parts.append(f"{state['in_flight']:,} in flight")
    if state.get("waiting"):
        parts.append(f"{state['waiting']:,} waiting for a place")
    oldest_s = state.get("oldest_s")
    if oldest_s is not None and oldest_s >= 1:
        parts.append(f"the oldest for {oldest_s:.0f} s")
    if told := silence(state, nothing_yet=not seen.failed and not len(seen.e2e)):
        parts.append(told)
    kinds = f" ({', '.join(seen.kinds)})" if seen.kinds and seen.failed else ""
    parts.append(f"{seen.failed:,} failed{kinds}")
    return parts


def _elapsed(seen: _Seen, block: Mapping[str, Any], state: Mapping[str, Any]) -> list[str]:
    """Return the current repeat, the elapsed share of its window, and what follows."""
    began_at, ends_at = state.get("began_at") or seen.began_at, state.get("ends_at")
    # What comes after the window, the drain and the calibration, is no part of it.
    now = time.time() if ends_at is None else min(time.time(), ends_at)
    gone = 0.0 if began_at is None else max(0.0, now - began_at)
    whole = block.get("duration_s")
    parts = [f"repeat {state['repeat'] + 1}"] if state.get("repeat") else []
    parts.append(
        f"{gone:.0f} s" if whole is None else f"{min(gone, whole):.0f} s of {plain(whole)} s"
    )
    if state.get("phase", "window") != "window":
        parts.append(state["phase"])
    return parts


def _percentiles(histogram: Histogram) -> str:
    return "  ".join(
        f"{name} {_percentile(histogram, share, needed)}" for share, name, needed in _SHOWN
    )


def _percentile(histogram: Histogram, share: float, needed: int) -> str:
    return duration(histogram.percentile(share)) if len(histogram) >= needed else MISSING


def _name(row: Row) -> str:
    parameters = row["parameters"]
    given = json.loads(parameters) if isinstance(parameters, str) else parameters
    words = [row["benchmark_id"], row["agent_id"] + (" (simulated)" if row["simulated"] else "")]
    words.append(point_words(given))
    return one_line(" ".join(filter(None, words)), 80)
