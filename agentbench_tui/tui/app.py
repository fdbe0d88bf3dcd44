"""The terminal session: pages on the store, with keys and a command palette.

Nothing is measured or computed here. Runs are separate processes that write into the store; pages
show its content, so a run that another session started looks the same here.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import screen as textual_screen
from textual.app import SystemCommand
from textual.binding import Binding
from textual.worker import WorkerFailed

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.untrusted import one_line, visible
from agentbench_tui.store.database import reading
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.store.transaction import write_once
from agentbench_tui.store.writes.control_requests import add_control_request
from agentbench_tui.tui.alarmed_app import AlarmedApp
from agentbench_tui.tui.dialogs.help import MOVES, Help
from agentbench_tui.tui.dialogs.leaving import Choice, Leaving
from agentbench_tui.tui.drawing.glyphs import Glyphs, glyphs
from agentbench_tui.tui.look import USUAL_RATE_HZ
from agentbench_tui.tui.page_list import PAGES, modes, page_of
from agentbench_tui.tui.run_start import start_detached
from agentbench_tui.tui.shared import MOST_MARKED, Shared
from agentbench_tui.tui.store_watch import StoreWatch
from agentbench_tui.tui.terminal import has_shell, stop_foreground_job
from agentbench_tui.tui.terminal_sanitizer import TerminalSanitizer
from agentbench_tui.tui.theme import ANSI_DARK, DARK, THEMES, themes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.filter import LineFilter
    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from agentbench_tui.tui.shared import Lead

_TERMINAL_S = 2.0
"""Seconds between two looks at whether the terminal is still there."""
_NOT_IN_PALETTE = MOVES | {"Commands"}
"""Commands already available in the session."""
# Half of Textual's own wait between a change, such as a key makes, and its picture. The variable of
# the environment that it has for that would be inherited by runs.
textual_screen.UPDATE_PERIOD = 1 / 120  # type: ignore[misc]  # which calls it final


class AgentbenchApp(AlarmedApp):
    """The agentbench terminal session."""

    TITLE = "agentbench"
    CSS_PATH = "session.tcss"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-huge")]  # noqa: RUF012  # as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (34, "-tall")]  # noqa: RUF012  # as Textual declares it
    MODES: ClassVar[dict[str, str | Callable[..., Screen[None]]]] = dict(modes())
    BINDINGS: ClassVar = [
        *(
            Binding(page.key, f"go('{page.name}')", page.title, show=False, tooltip=page.what)
            for page in PAGES
        ),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("ctrl+p", "command_palette", "Commands", show=False, priority=True),
        Binding(
            "exclamation_mark",
            "show_alarm",
            "Alarms",
            show=False,
            key_display="!",
            tooltip="of runs in progress: what is wrong, and where it shows",
        ),
        Binding("t", "next_theme", "Theme", show=False),
        Binding("ctrl+s", "picture", "Screenshot (SVG)", show=False),
        Binding("f5", "read_again", "Read again", show=False),
        Binding("ctrl+z", "suspend_process", "To the shell", show=False, tooltip="fg comes back"),
        Binding("q", "leave", "Quit"),
        Binding("ctrl+c,ctrl+q", "leave", "Quit", show=False, priority=True, system=True),
    ]

    def __init__(
        self,
        shared: Shared,
        *,
        first: str = "home",
        theme: str | None = None,
        ascii_only: bool = False,
        rate_hz: float = USUAL_RATE_HZ,
        screenshots: Path = Path(),
        own_run: str | None = None,
        keep_theme: Callable[[str], None] | None = None,
        notifications: Iterable[str] = (),
    ) -> None:
        """`first`: name of the first page.

        `rate_hz`: how often changing content is drawn; 0 leaves it to keys. `own_run`: the run that
        leaving asks about while it is running. `keep_theme` is called with the name of each chosen
        theme. `notifications`: how the terminal reports new alarms, of `NOTIFICATIONS`.
        """
        # Said before Textual chooses its filter: the other one for NO_COLOR makes grays.
        ansi_color = True if "NO_COLOR" in os.environ else None
        super().__init__(shared, notifications, ansi_color=ansi_color)
        if "SSH_CONNECTION" in os.environ:
            self.animation_level = "none"
        self.glyphs: Glyphs = glyphs(only_ascii=True if ascii_only else None)
        self._last_filter = TerminalSanitizer(only_ascii=not self.glyphs.braille)
        self._first = first
        self._chosen_theme = theme
        self._keep_theme = keep_theme
        self.draw_every_s = 1 / rate_hz if rate_hz > 0 else None
        """Seconds between two checks for new data; None: no automatic checks."""
        self._screenshots = screenshots
        self._own = [own_run] if own_run is not None else []
        self.fault: Exception | None = None
        """Bug in agentbench that ended the session."""
        self.choice: Choice | None = None
        """Choice about the running runs, once the user was asked."""
        self._watch = StoreWatch(shared.database)

    def on_mount(self) -> None:
        for theme in themes():
            self.register_theme(theme)
        self.theme = self._chosen_theme or (ANSI_DARK if self.no_color else DARK)
        self._watch.changed()  # what is committed from here on: the page reads what is there now
        self.switch_mode(self._first)
        if self.draw_every_s is not None:
            self.set_interval(self.draw_every_s, self._look)
        if not self.is_headless:
            self.set_interval(_TERMINAL_S, self._look_at_terminal)
        # Textual does not draw again what a shell has written over.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        # Left by itself the signal would leave the terminal as it is drawn on.
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._terminated)

    def on_unmount(self) -> None:
        self._watch.close()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters of printed lines, agentbench's last."""
        return [*super().get_line_filters(), self._last_filter]

    def get_key_display(self, binding: Binding) -> str:
        """Return the name of a key in the footer and in help."""
        shown = super().get_key_display(binding)
        return shown if self.glyphs.braille or shown.isascii() else binding.key

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return the commands of the palette: every page and theme, and the keys of the current
        page.
        """
        for page in PAGES:
            yield SystemCommand(f"Go to {page.title}", page.what, self._going(page.name))
        for active in screen.active_bindings.values():
            binding = active.binding
            is_here = binding.description and binding.description not in _NOT_IN_PALETTE
            if is_here and not binding.action.startswith(("go(", "app.go(")):
                yield SystemCommand(
                    binding.description,
                    binding.tooltip or f"key {self.get_key_display(binding)}",
                    self._doing(active.node, binding.action),
                )
        for name in THEMES:
            yield SystemCommand(f"Theme {name}", "colors", self._choosing(name))

    def action_go(self, name: str) -> None:
        """Show a page in its previous state."""
        page_of(name)
        self.switch_mode(name)

    def action_help(self) -> None:
        """Show which keys do what on this page."""
        if not isinstance(self.screen, Help):
            self.push_screen(Help(self.screen))

    def action_next_theme(self) -> None:
        """Switch to the next of agentbench's themes."""
        place = THEMES.index(self.theme) if self.theme in THEMES else -1
        self._choose_theme(THEMES[(place + 1) % len(THEMES)])
        self.notify(f"theme {self.theme}", timeout=2)

    def action_picture(self) -> None:
        """Write the screen as SVG into the folder for pictures."""
        try:
            self._screenshots.mkdir(parents=True, exist_ok=True)
            path = self.save_screenshot(path=str(self._screenshots))
        except OSError as error:
            words = f"no picture: {self._screenshots}: {(error.strerror or str(error)).lower()}"
            self.notify(one_line(words, 200), severity="error", markup=False)
        else:
            self.notify(f"written: {one_line(path, 200)}", markup=False)

    def action_read_again(self) -> None:
        """Reload the current page, for sessions without automatic updates."""
        if self.page is not None:
            self.page.reload()
        self.read_alarms()

    def copy_to_clipboard(self, text: str) -> None:
        """Copy to the terminal's clipboard by OSC 52, without anything that could control a
        terminal that it is pasted into.
        """
        super().copy_to_clipboard(visible(text))

    def action_leave(self) -> None:
        """End the session.

        Asks first about a run that it started and that is running; asked again, it leaves, and the
        run continues.
        """
        if isinstance(self.screen, Leaving):
            self.exit()
            return
        going = [run for run in self._own if is_leased(self.shared.database, run)]
        if going:
            self.push_screen(Leaving(len(going)), lambda choice: self._leave(choice, going))
        else:
            self.exit()

    def action_suspend_process(self) -> None:
        """Stop the foreground job, so that its shell gets the terminal until `fg`."""
        if self._driver is None or not self._driver.can_suspend:
            return
        if not has_shell():
            words = "no shell is behind this session that could continue it"
            self.notify(words, severity="warning")
            return
        # The terminal is restored before a wrapper stops: its shell takes the terminal at once.
        with self.suspend():
            stop_foreground_job()

    def show_answers(self, lead: Lead) -> None:
        """Show Cases at an execution of the most recently viewed run, or at one of its answers."""
        self.shared.lead = lead
        self.switch_mode("cases")
        while len(self.screen_stack) > 1:  # an answer that was read earlier
            self.pop_screen()

    def action_run_quickstart(self) -> None:
        """Start a first run of ten seconds and show it."""
        self.start_run(["run", "quickstart"])

    def start_run(self, arguments: Sequence[str]) -> None:
        """Start `agentbench ARGUMENTS` (a run, a load or a stress) in its own process and show it;
        a notice says why if it does not start.
        """
        self.notify("starting …", timeout=3)
        self.run_worker(lambda: self._start(arguments), thread=True, group="start", exclusive=True)

    def mark(self, selector: str) -> None:
        """Mark a selector for a comparison or unmark it, and report it."""
        marked = self.shared.toggle_mark(selector)
        if marked is None:
            self.notify(f"{MOST_MARKED} are marked: press c to compare them", severity="warning")
        elif marked:
            control = " (the control)" if len(self.shared.marked) == 1 else ""
            self.notify(f"marked {one_line(selector, 60)}{control}; c compares")
        else:
            self.notify(f"no longer marked: {one_line(selector, 60)}")

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,  # noqa: ARG002  # Textual's signature
    ) -> None:
        """Notify like Textual, but never as markup: names of agents and runs are untrusted."""
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=False)

    def watch_run(self, run_id: str, *, replay: bool = False) -> None:
        """Show a run on the page Live."""
        self.shared.run_id, self.shared.replay = run_id, replay
        self.switch_mode("live")

    def _start(self, arguments: Sequence[str]) -> None:
        try:
            run_id = start_detached(self.shared.database, arguments)
        except AgentbenchError as error:
            self.call_from_thread(self.notify, str(error), severity="error", timeout=15)
        else:
            self._own.append(run_id)
            self.call_from_thread(self.watch_run, run_id)

    def _leave(self, choice: Choice | None, going: list[str]) -> None:
        self.choice = choice
        if choice == "stop":
            self.run_worker(lambda: self._stop(going), thread=True, group="stop")
        elif choice == "detach":
            self.exit()

    def _stop(self, runs: list[str]) -> None:
        """Stop runs in a thread, since others may hold the lock."""
        try:
            with reading(self.shared.database) as connection:
                keys = [find_run(connection, run)["key"] for run in runs]
            asking = [partial(add_control_request, run_key=key, wish="stop") for key in keys]
            write_once(self.shared.database, asking)
        except (AgentbenchError, sqlite3.Error) as error:
            self.call_from_thread(self.notify, one_line(str(error)), severity="error", markup=False)
        else:
            self.call_from_thread(self.exit)

    def _handle_exception(self, error: Exception) -> None:
        """Suppress Textual's pages of source and local variables; the session's caller prints
        one line instead. Tests see the exception as usual.
        """
        if self.is_headless:
            super()._handle_exception(error)
        elif self.fault is None:
            self.fault = error
            if isinstance(error, WorkerFailed) and isinstance(error.error, Exception):
                self.fault = error.error  # which has the traceback
            self.exit(return_code=1)

    def _look_at_terminal(self) -> None:
        """Leave when the terminal is gone, also if SIGHUP is ignored, as below `nohup`.

        Textual would read its end forever, with a whole core.
        """
        if not sys.__stdin__ or not sys.__stdin__.isatty():
            self.exit(return_code=128 + signal.SIGHUP)

    def _terminated(self) -> None:
        self.exit(return_code=128 + signal.SIGTERM)

    def store_was_gone(self) -> None:
        """Remember that a page found no database, so that it reads again as soon as there
        is one.
        """
        self._watch.forget()

    def _look(self) -> None:
        changed = self._watch.changed()
        if changed and self.page is not None:
            self.page.store_changed()
        self.look_for_alarms(changed=changed)

    def _going(self, name: str) -> Callable[[], None]:
        return lambda: self.action_go(name)

    def _choosing(self, theme: str) -> Callable[[], None]:
        return lambda: self._choose_theme(theme)

    def _choose_theme(self, theme: str) -> None:
        self.theme = theme
        if self._keep_theme is not None:
            self._keep_theme(theme)

    def _doing(self, node: object, action: str) -> Callable[[], None]:
        async def do() -> None:
            await self.run_action(action, node)  # type: ignore[arg-type]  # a DOM node

        return do  # type: ignore[return-value]  # the palette awaits what is awaitable
