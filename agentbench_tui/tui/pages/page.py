"""Base of pages that show data of the store.

A page reads in a thread, so that no query delays a key, and shows the result. It reads when it is
shown, and again after commits while it is visible.
"""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from rich.text import Text
from textual import work
from textual.screen import Screen
from textual.widgets import Static

from agentbench_tui.model.errors import AgentbenchError, StoreError
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.database import reading
from agentbench_tui.tui.widgets.alarm_strip import AlarmStrip
from agentbench_tui.tui.widgets.crumbs import CrumbBar
from agentbench_tui.tui.widgets.key_bar import KeyBar
from agentbench_tui.tui.widgets.painted import Painted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from agentbench_tui.tui.app import AgentbenchApp
    from agentbench_tui.tui.shared import Shared
    from agentbench_tui.verdicts.runs.run_alarms import Alarm

Found = TypeVar("Found")
READING = "reading the database"
UNREADABLE = "could not be read"
NOTHING_YET = "No run is stored yet. Press 2 to choose one, or 1 and then r for a first one."
GONE = (
    "{} was deleted or moved. This page shows data read earlier; a new run creates the file again."
)
_LONGEST_NOTICE = 400
_REST = 9
"""Pause between readings, as a multiple of the reading time: a large store takes a tenth of a
core.
"""


class Page(Screen[None], Generic[Found]):
    """Base of pages; subclasses define `content`, `read` and `show`."""

    EVERY_S: ClassVar[float] = 1.0
    """Shortest time between two readings that a commit causes."""
    READS_ALL: ClassVar[bool] = True
    """Whether every panel shows what `read` returns, so that none has data before or without it."""
    WITHOUT_STORE: ClassVar[str] = NOTHING_YET
    """Shown while there is no store; empty for pages that work without one."""

    def __init__(self) -> None:
        super().__init__()
        self._reading = False
        self._wanted = False
        """Whether to read again when the current reading ends."""
        self._read_at = 0.0
        self._shown_at = 0.0
        """When what is shown was read, on `time.monotonic`."""
        self._took_s = 0.0
        self.without_data = READING if self.READS_ALL else ""
        """Why panels have no data: the first reading is in progress or has failed; else empty."""
        self._in_front = False

    @property
    def session(self) -> AgentbenchApp:
        return cast("AgentbenchApp", self.app)

    @property
    def shared(self) -> Shared:
        """Return the shared state of the session's pages."""
        return self.session.shared

    @property
    def is_reading(self) -> bool:
        """Return whether the content may change soon, because not everything was read yet."""
        return self._reading or self._wanted or self._took_s == 0

    @property
    def read_age_s(self) -> float:
        """Return the age of what is shown: the seconds since it was read."""
        return time.monotonic() - self._shown_at

    def content(self) -> ComposeResult:
        """Yield the widgets between the breadcrumbs and the footer."""
        raise NotImplementedError

    def read(self, connection: sqlite3.Connection) -> Found:
        """Return the data to show.

        Runs in a thread, so it touches no widget. Raises AgentbenchError, whose message the page
        shows.
        """
        raise NotImplementedError

    def show(self, found: Found) -> None:
        """Show the data."""
        raise NotImplementedError

    def crumbs(self) -> tuple[str, ...]:
        """Return the path below the session itself, such as `("Compare", "a, b")`."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield CrumbBar()
        yield AlarmStrip()
        yield from self.content()
        notice = Static("", id="notice", markup=False)
        notice.display = False
        yield notice
        yield KeyBar()

    def on_screen_resume(self) -> None:
        self.query_one(CrumbBar).show(("agentbench", *self.crumbs()))
        self.show_alarms(self.session.alarms)
        # Textual tells the first page of a mode twice, and each class of a page that hears it.
        if not self._in_front:
            self._in_front = True
            self.reload()

    def on_screen_suspend(self) -> None:
        self._in_front = False

    @property
    def has_panels(self) -> bool:
        """Return whether the page is mounted and not being taken down."""
        return self.is_mounted and self.is_attached and bool(self.query("#notice"))

    def store_changed(self) -> None:
        """Read again after a commit, but not more often than `EVERY_S`, and less often if
        reading takes long.
        """
        every_s = max(self.EVERY_S, _REST * self._took_s)
        wait_s = every_s - (time.monotonic() - self._read_at)
        if self._reading or self._wanted:
            self._wanted = True
        elif wait_s > 0:
            self._wanted = True
            self.set_timer(wait_s, self._after_wait)
        else:
            self.reload()

    def reload(self) -> None:
        """Read now, or once more at the end of a running read."""
        if self._reading:
            self._wanted = True
            return
        self._wanted, self._reading, self._read_at = False, True, time.monotonic()
        self._read()

    def show_alarms(self, alarms: Sequence[Alarm]) -> None:
        """Show what is wrong with runs in progress, below the breadcrumbs."""
        self.query_one(AlarmStrip).show(alarms)

    def show_evidence(self) -> None:
        """Show what the alarm in `shared.evidence` is about; only Live has it."""

    def tell(self, words: str) -> None:
        """Show a line above the footer until the next one; an empty one removes it."""
        notice = self.query_one("#notice", Static)
        notice.display = bool(words)
        self.set_class(bool(words), "-told")  # messages that pass keep off it
        notice.update(Text(one_line(words, _LONGEST_NOTICE)))

    def tell_command(self, command: str) -> None:
        """Show the command that prints the same in a shell, long enough to read it."""
        self.notify(command, title="the same in a shell", timeout=8, markup=False)

    def _explain_panels(self, words: str) -> None:
        if words != self.without_data:
            self.without_data = words
            for panel in self.query(Painted):
                panel.redraw()

    def _after_wait(self) -> None:
        if self._wanted and not self._reading and self.is_active:
            self.reload()

    @work(thread=True, group="read")
    def _read(self) -> None:
        try:
            with reading(self.shared.database) as connection:
                found = self.read(connection)
        except (AgentbenchError, sqlite3.Error) as error:
            words = str(error)
            is_damaged = isinstance(error, StoreError | sqlite3.Error)
            if not self.shared.database.exists():
                gone = GONE.format(self.shared.database)
                words = gone if self.shared.was_read else self.WITHOUT_STORE
                self.app.call_from_thread(self.session.store_was_gone)
                is_damaged = False
            self.app.call_from_thread(self._done, None, words, is_damaged=is_damaged)
        else:
            self.shared.was_read = True
            self.app.call_from_thread(self._done, (found,), "")

    def _done(self, found: tuple[Found] | None, words: str, *, is_damaged: bool = False) -> None:
        """Handle the end of a read, with data or with an error."""
        self._reading = False
        self._took_s = time.monotonic() - self._read_at
        if not self.has_panels:  # it is being taken down
            return
        self.tell(words)
        if not is_damaged:
            self._explain_panels("")
        elif self.without_data:  # an error of a later read leaves what is shown
            self._explain_panels(UNREADABLE)
        if found is not None:
            self._shown_at = self._read_at
            self.show(found[0])
            self.query_one(CrumbBar).show(("agentbench", *self.crumbs()))
        if self._wanted:
            self._wanted = False
            self.store_changed()
