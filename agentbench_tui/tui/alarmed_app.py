"""The part of the session that watches runs in progress for alarms, on whatever page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.app import App, ScreenStackError

from agentbench_tui.tui.alarm_watch import AlarmWatch, Notifier
from agentbench_tui.tui.pages.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentbench_tui.tui.shared import Shared
    from agentbench_tui.verdicts.runs.run_alarms import Alarm


class AlarmedApp(App[None]):
    """An app whose pages show the alarms of all runs in progress."""

    def __init__(
        self, shared: Shared, notifications: Iterable[str] = (), *, ansi_color: bool | None = None
    ) -> None:
        """`notifications`: how the terminal reports new alarms, of `look.NOTIFICATIONS`."""
        super().__init__(ansi_color=ansi_color)
        self.shared = shared
        self._alarms = AlarmWatch(shared.database)
        self._notifier = Notifier(notifications, self._write_to_terminal)
        self._alarm_shown = 0

    @property
    def page(self) -> Page[object] | None:
        """Return the page in front; None for a dialog, between two pages, and for a page that has
        no panels yet or no longer: it reads by itself when it is mounted.
        """
        try:
            screen = self.screen
        except ScreenStackError:
            return None
        return screen if isinstance(screen, Page) and screen.has_panels else None

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms of runs in progress, as read last."""
        return self._alarms.alarms

    def watch_run(self, run_id: str, *, replay: bool = False) -> None:
        """Show a run on the page Live."""
        raise NotImplementedError

    def on_unmount(self) -> None:
        self._notifier.close()

    def action_show_alarm(self) -> None:
        """Show the evidence of the most urgent alarm; pressed again, of the next one."""
        from agentbench_tui.presentation.alarms import alarm_words

        if self.alarms:
            alarm = self.alarms[self._alarm_shown % len(self.alarms)]
            self._alarm_shown += 1
            self.shared.evidence = alarm
            self.notify(alarm_words(alarm), severity="warning")
            self.watch_run(alarm.run_id)
            if self.page is not None:
                self.page.show_evidence()
        else:
            self.notify("no alarm: nothing is wrong with a run in progress", timeout=3)

    def look_for_alarms(self, *, changed: bool) -> None:
        """Read the alarms if it is time to; `changed`: whether the store has."""
        if self._alarms.is_due(changed=changed):
            self.read_alarms()

    @work(thread=True, group="alarms", exclusive=True)
    def read_alarms(self) -> None:
        """Read the alarms now, in a thread."""
        found = self._alarms.read()
        self.call_from_thread(self._take_alarms, found)

    def _take_alarms(self, found: tuple[Alarm, ...]) -> None:
        if not found:
            self._alarm_shown = 0
        self._alarms.alarms = found
        self._notifier.report(found)
        if self.page is not None:
            self.page.show_alarms(found)

    def _write_to_terminal(self, sequence: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
            self._driver.flush()
