"""Computes `Measured` from the stored samples of one window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.load.calibration.verdict import SENT_SHARE, Facts, judge
from agentbench_tui.load.results.columns import columns_of
from agentbench_tui.load.schedule.arrivals import offsets_ns
from agentbench_tui.load.sending.protocol import OpenLoop
from agentbench_tui.load.sending.sample import CANCELLED, STATUSES, UNFINISHED
from agentbench_tui.model.answer import FailureKind
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.load import chunks_of_repeat
from agentbench_tui.stress.stand.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.load.results.columns import Columns
    from agentbench_tui.load.results.window import Window
    from agentbench_tui.load.sending.protocol import WorkerPlan

UNSENT = "unsent"
"""Kind of failure of what became due and never got a place in flight."""
_NS = 1e9


def read_window(database: Path, execution_key: int, repeat: int) -> Columns:
    """Read the committed samples of one window."""
    with reading(database) as connection:
        chunks = chunks_of_repeat(connection, execution_key, repeat)
    return columns_of(chunk[:4] for chunk in chunks)


def measured_of(
    columns: Columns,
    window: Window,
    plans: Sequence[WorkerPlan],
    *,
    phase: str,
    repeat: int,
    users: int | None,
) -> Measured:
    """Return the window with requests in due order.

    Excludes failures of the harness, and unfinished requests of a window that was cut short. Due
    requests that were never sent are included as unanswered, by the schedule, since senders send in
    due order.
    """
    ours = columns.has_status(FailureKind.HARNESS)
    unfinished = columns.has_status(UNFINISHED)
    left_out = ours | unfinished if window.stopped else ours
    ok = columns.ok | columns.has_status(CANCELLED)
    end_s = np.where(unfinished, np.nan, columns.end_s)
    e2e_ms = np.where(ok, columns.lag_ms + columns.e2e_from_send_ms, np.nan)
    scheduled_s = _scheduled(plans)
    unsent_s = _unsent(scheduled_s, window, len(columns))
    due_s = np.concatenate([columns.due_s[~left_out], unsent_s])
    never = np.full(len(unsent_s), np.nan)
    order = np.argsort(due_s, kind="stable")
    return Measured(
        phase=phase,
        repeat=repeat,
        asked_per_s=window.asked_per_s,
        users=users,
        length_s=window.window_s,
        due_s=due_s[order],
        ok=np.concatenate([ok[~left_out], np.zeros(len(unsent_s), np.bool_)])[order],
        e2e_ms=np.concatenate([e2e_ms[~left_out], never])[order],
        end_s=np.concatenate([end_s[~left_out], never])[order],
        failures=_failures(columns, window, len(unsent_s)),
        kinds=np.concatenate([_kinds(columns)[~left_out], np.full(len(unsent_s), UNSENT)])[order],
        sender_limit=_sender_limit(columns, window, scheduled_s, int(np.count_nonzero(ours))),
    )


def _scheduled(plans: Sequence[WorkerPlan]) -> Floats | None:
    """Return the due times of an open loop in seconds, of all workers together."""
    plan = plans[0]
    if not isinstance(plan.schedule, OpenLoop):
        return None
    duration_ns = None if plan.duration_s is None else int(plan.duration_s * _NS)
    offsets = offsets_ns(
        plan.schedule.arrivals, plan.seed, duration_ns=duration_ns, count=plan.requests
    )
    return np.fromiter(offsets, np.float64) / _NS


def _unsent(scheduled_s: Floats | None, window: Window, rows: int) -> Floats:
    if scheduled_s is None or window.stopped:
        return np.empty(0)
    begun = min(sum(worker.offered for worker in window.workers), len(scheduled_s))
    return scheduled_s[min(rows, begun) : begun]


def _kinds(columns: Columns) -> NDArray[np.str_]:
    names = np.array(["" if name in {"ok", CANCELLED} else name for name in STATUSES])
    found: NDArray[np.str_] = names[columns.table["status"]]
    return found


def _failures(columns: Columns, window: Window, unsent: int) -> dict[str, int]:
    counts = np.bincount(columns.table["status"], minlength=len(STATUSES))
    found = {name: int(n) for name, n in zip(STATUSES, counts, strict=True) if n}
    for name in ("ok", CANCELLED, FailureKind.HARNESS, *[UNFINISHED] * window.stopped):
        found.pop(name, None)
    return found | ({UNSENT: unsent} if unsent else {})


def _sender_limit(
    columns: Columns, window: Window, scheduled_s: Floats | None, ours: int
) -> str | None:
    """Return why the load generator may have been the limit; None without such evidence."""
    if ours:
        return f"{ours:,} requests failed here, not at the target"
    offered = sum(worker.offered for worker in window.workers)
    if scheduled_s is not None and not window.stopped and offered < SENT_SHARE * len(scheduled_s):
        return f"the sender began only {offered:,} of {len(scheduled_s):,} requests in time"
    median_ms = np.median(columns.e2e_from_send_ms[columns.ok]) if columns.ok.any() else None
    length_s = window.window_s
    facts = Facts(
        sent_per_s=window.sent / length_s if length_s else None,
        due_per_s=offered / length_s if length_s else None,
        e2e_p50_ms=None if median_ms is None else float(median_ms),
    )
    judgment = judge(window, facts)
    if window.agent_inside:
        return None
    if judgment.verdict == "generator-limited":
        return judgment.reasons[0]
    return judgment.warnings[0] if judgment.limit == "client" else None
