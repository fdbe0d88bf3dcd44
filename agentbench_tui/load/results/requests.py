"""Derives latencies, queueing and goodput of each request from the samples of a load execution.

Pure functions of columns and windows. Open loops count from the due time: a request that had to
wait for a place behind a stall has waited (MLPerf's rule for its server scenario; the coordinated
omission of others).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agentbench_tui.load.results.columns import Columns, Flags, Floats
from agentbench_tui.load.results.window import Window
from agentbench_tui.load.sending.sample import CANCELLED, UNFINISHED
from agentbench_tui.load.slo import metric_of
from agentbench_tui.model.answer import UNMEASURED

FIRST_TOKEN = ("ttft_ms", "ttfo_ms")
"""Limits that an answer keeps or not before the plan breaks it off."""


@dataclass(frozen=True)
class Requests:
    """The measured requests of an execution: one value per row, NaN if missing."""

    columns: Columns
    windows: Mapping[int, Window]
    """By repeat."""

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def is_open(self) -> bool:
        return any(window.is_open for window in self.windows.values())

    @cached_property
    def answered(self) -> Flags:
        return self.columns.ok

    @cached_property
    def begun(self) -> Flags:
        """Return the requests that were answered, or canceled by the plan after the answer had
        started in time.
        """
        return self.answered | self.cancelled

    @cached_property
    def cancelled(self) -> Flags:
        """Return the requests canceled by the plan."""
        return self.columns.has_status(CANCELLED)

    @cached_property
    def counted(self) -> Flags:
        """Return the requests that count for the target's reliability.

        Excludes requests canceled by the plan, cut off by a stop, or failed because of the
        harness.
        """
        left_out = self.cancelled.copy()
        for kind in UNMEASURED:
            left_out |= self.columns.has_status(kind.value)
        stopped = [repeat for repeat, window in self.windows.items() if window.stopped]
        left_out |= self.columns.has_status(UNFINISHED) & np.isin(self.columns.repeat, stopped)
        return ~left_out

    @cached_property
    def _from_due(self) -> Floats | float:
        return self.columns.lag_ms if self.is_open else 0.0

    @cached_property
    def e2e_from_send_ms(self) -> Floats:
        return _where(self.answered, self.columns.e2e_from_send_ms)

    @cached_property
    def e2e_ms(self) -> Floats:
        return self.e2e_from_send_ms + self._from_due

    @cached_property
    def taken_ms(self) -> Floats:
        """Return the time until each sent request ended, successfully or not; `e2e_ms` covers
        answered ones only.
        """
        return self.columns.e2e_from_send_ms + self._from_due

    @cached_property
    def ttft_from_send_ms(self) -> Floats:
        return _where(self.begun, self.columns.ttft_from_send_ms)

    @cached_property
    def ttft_ms(self) -> Floats:
        return self.ttft_from_send_ms + self._from_due

    @property
    def ttfo_ms(self) -> Floats:
        return _where(self.begun, self.columns.ttfo_from_send_ms) + self._from_due

    @cached_property
    def output_tokens(self) -> Floats:
        """Return the server's token count, else the number of chunks."""
        return _where(self.answered, self.columns.output_tokens)

    @cached_property
    def received_tokens(self) -> Floats:
        """Return the tokens received, including those of canceled requests."""
        return _where(self.begun, self.columns.output_tokens)

    @cached_property
    def answers_estimated(self) -> bool:
        """Return whether the tokens of some answer are estimated from chunks."""
        return self._estimated(self.output_tokens)

    @cached_property
    def tokens_estimated(self) -> bool:
        """Return whether the tokens of some answer, including canceled ones, are estimated from
        chunks.
        """
        return self._estimated(self.received_tokens)

    def _estimated(self, tokens: Floats) -> bool:
        return bool((~self.columns.counted & ~np.isnan(tokens)).any())

    @cached_property
    def _streaming_ms(self) -> Floats:
        """Return the time from the first token to the end."""
        return self.e2e_from_send_ms - self.ttft_from_send_ms

    @property
    def came_at_once(self) -> Flags:
        """Return the answers that arrived in one chunk or packet, so that times between tokens
        cannot be measured.
        """
        found: Flags = (self.columns.table["chunks"] == 1) | (self._streaming_ms <= 0)
        return found

    @cached_property
    def tpot_ms(self) -> Floats:
        later = self.output_tokens - 1
        known = (later > 0) & ~self.came_at_once
        none = np.full(len(self), np.nan)
        tpot: Floats = np.divide(self._streaming_ms, later, out=none, where=known)
        return tpot

    @cached_property
    def send_lag_ms(self) -> Floats:
        """Return the send lag of all requests that were sent."""
        return self.columns.lag_ms

    @property
    def queue_ms(self) -> Floats:
        """Return the part of the send lag in which the in-flight limit was reached.

        Senders send in the order in which requests are due, so the i-th (from 0) of a sender with
        m places had one when i - m + 1 of its requests had ended. Those are the earliest ends of
        all its requests: what is sent later ends later than that.
        """
        waited = _where(~np.isnan(self.columns.lag_ms), np.zeros(len(self)))
        for repeat, window in self.windows.items():
            for worker, done in enumerate(window.workers):
                if done.blocked:
                    own = (self.columns.repeat == repeat) & (self.columns.worker == worker)
                    rows = np.flatnonzero(own & ~np.isnan(waited))
                    waited[rows] = self._queued(rows, done.most_in_flight)
        return waited

    def _queued(self, rows: np.ndarray[tuple[int], np.dtype[np.int64]], places: int) -> Floats:
        columns = self.columns
        by_sending = np.argsort(columns.sent_s[rows], kind="stable")
        freed = np.full(len(rows), -np.inf)
        freed[by_sending[places:]] = np.sort(columns.end_s[rows])[: max(len(rows) - places, 0)]
        waited = (freed - columns.due_s[rows]) * 1e3
        clipped: Floats = np.clip(waited, 0.0, columns.lag_ms[rows])
        return clipped

    def good(self, slo: Mapping[str, float]) -> Flags:
        """Return the requests that were answered within every limit of the SLO.

        A latency that an answer has not is not kept; but one token keeps any time per token, and so
        does what came at once. What the plan broke off is good where it kept the limits on its
        first token, if there are any: by others it cannot be judged.
        """
        good = self.begun & self.judged(slo)
        for name, limit in slo.items():
            metric = metric_of(name)
            values: Floats = getattr(self, metric)
            kept = values <= limit
            if metric == "tpot_ms":
                kept |= np.isnan(values) & ((self.output_tokens < 2) | self.came_at_once)
            if metric not in FIRST_TOKEN:
                kept |= self.cancelled
            good &= kept
        return good

    def judged(self, slo: Mapping[str, float]) -> Flags:
        """Requests that the SLO applies to."""
        return ~self.cancelled | any(metric_of(name) in FIRST_TOKEN for name in slo)

    def lacking(self, slo: Mapping[str, float]) -> list[str]:
        """Return the SLO's metrics that no answer has, so that goodput is unknown."""
        return [
            name
            for name in slo
            for rows in (self.begun if metric_of(name) in FIRST_TOKEN else self.answered,)
            if rows.any() and np.isnan(getattr(self, metric_of(name))[rows]).all()
        ]


def _where(rows: Flags, values: Floats) -> Floats:
    return np.where(rows, values, np.nan)
