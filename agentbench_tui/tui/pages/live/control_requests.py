"""Control requests of a user to a run: written into the store; the answer is shown when it
arrives.
"""

from __future__ import annotations

import math
import sqlite3
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.clock import unix_time
from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.transaction import write_once
from agentbench_tui.store.writes.control_requests import add_control_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.store.viewer import Row
    from agentbench_tui.tui.pages.live.state import LiveState
    from agentbench_tui.tui.pages.page import Page

ANSWER_WAIT_S = 5.0
"""A request without an answer by then was not received."""
_QUARTER = 1.25
"""Factor of one key."""
_APPLIED_S = 0.5
"""Time in which a run applies a control request: it polls more often."""


class ControlRequests:
    """Control requests made on one page."""

    def __init__(self, page: Page[Any]) -> None:
        self._page = page
        self._open: set[int] = set()
        """Their numbers, until their answers are shown."""
        self._rows: Sequence[Row] = ()
        self._wanted: dict[int, tuple[float, float]] = {}
        """Execution key → requested rate or concurrency, and when it was requested."""

    def pushed(self, execution: int, state: LiveState, direction: int) -> tuple[str, str] | None:
        """Return the request, with its argument, that changes an execution's rate or concurrency
        by a quarter; None if it has neither.

        It starts from the last requested value until the run has had the time to report it, so
        that a key pressed twice counts twice.
        """
        live = state.live.get(execution, {})
        reported = live.get("pace") or live.get("users") or live.get("limit")
        if not reported:
            return None
        wanted, since = self._wanted.get(execution, (reported, -math.inf))
        now = wanted if state.live_at < since + _APPLIED_S else reported
        value = now * (_QUARTER if direction > 0 else 1 / _QUARTER)
        is_rate = live.get("pace") is not None
        if not is_rate:
            by_one = now + direction
            value = max(by_one, round(value)) if direction > 0 else min(by_one, round(value))
            value = max(1, value)
        self._wanted[execution] = value, unix_time()
        return ("rate", f"{value:.6g}") if is_rate else ("concurrency", f"{value:.0f}")

    def make(self, run_key: int, wish: str, argument: str | None) -> None:
        """Send the control request."""
        self._page.run_worker(
            lambda: self._write(run_key, wish, argument), thread=True, group="wish"
        )

    def hear(self, rows: Sequence[Row]) -> None:
        """Read control requests from the store, and show the answers to this session's."""
        self._rows = rows
        for row in rows:
            if row["seq"] in self._open and row["answer"]:
                self._open.discard(row["seq"])
                refused = row["answer"].startswith(("refused", "ignored"))
                self._page.notify(
                    one_line(f"{row['wish']}: {row['answer']}", 200),
                    severity="warning" if refused else "information",
                    markup=False,
                )

    def _write(self, run_key: int, wish: str, argument: str | None) -> None:
        """Write the request in a thread, because another process may hold the write lock."""
        app = self._page.app
        found: list[int] = []
        try:
            write_once(
                self._page.shared.database,
                [lambda c: found.append(add_control_request(c, run_key, wish, argument))],
            )
        except (AgentbenchError, sqlite3.Error) as error:
            words = one_line(str(error))
            app.call_from_thread(self._page.notify, words, severity="error", markup=False)
        else:
            app.call_from_thread(self._made, found[0])

    def _made(self, seq: int) -> None:
        self._open.add(seq)
        self._page.set_timer(ANSWER_WAIT_S, lambda: self._give_up(seq))
        self.hear(self._rows)

    def _give_up(self, seq: int) -> None:
        if seq in self._open:
            self._open.discard(seq)
            self._page.notify("the run has not answered: its process hangs, or is gone")
