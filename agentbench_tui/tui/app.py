"""The terminal session: pages on the store, keys and palette that lead between them.

Nothing is measured or computed here. Runs are processes of their own that write into the store;
what pages show comes out of it, so a run that another session started looks the same here.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding

from agentbench_tui.model.untrusted import one_line
from agentbench_tui.tui.glyphs import Glyphs, glyphs
from agentbench_tui.tui.pages import PAGES, modes, page_of
from agentbench_tui.tui.screens.help import Help
from agentbench_tui.tui.screens.page import Page
from agentbench_tui.tui.shared import MOST_MARKED, Shared
from agentbench_tui.tui.store_watch import StoreWatch
from agentbench_tui.tui.theme import ANSI_DARK, DARK, THEMES, themes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from textual.screen import Screen

WATCH_S = 0.25
"""Between two looks at whether something was committed."""
_START_LIMIT_S = 60.0


class AgentbenchApp(App[None]):
    """agentbench in a terminal."""

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
        Binding("t", "next_theme", "Theme", show=False),
        Binding("ctrl+s", "picture", "Screenshot (SVG)", show=False),
        Binding("q", "leave", "Quit"),
    ]

    def __init__(
        self,
        shared: Shared,
        *,
        first: str = "home",
        theme: str | None = None,
        ascii_only: bool = False,
    ) -> None:
        """`first`: name of the page to begin with."""
        super().__init__()
        self.shared = shared
        self.glyphs: Glyphs = glyphs(only_ascii=True if ascii_only else None)
        self._first = first
        self._chosen_theme = theme
        self._watch = StoreWatch(shared.database)

    def on_mount(self) -> None:
        for theme in themes():
            self.register_theme(theme)
        self.theme = self._chosen_theme or (ANSI_DARK if self.no_color else DARK)
        self.switch_mode(self._first)
        self.set_interval(WATCH_S, self._look)

    def on_unmount(self) -> None:
        self._watch.close()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: every page and theme, besides the keys of the page in front."""
        for page in PAGES:
            yield SystemCommand(f"Go to {page.title}", page.what, self._going(page.name))
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.description and not binding.action.startswith(("go(", "app.go(")):
                yield SystemCommand(
                    binding.description,
                    binding.tooltip or f"key {self.get_key_display(binding)}",
                    self._doing(active.node, binding.action),
                )
        for name in THEMES:
            yield SystemCommand(f"Theme {name}", "colours", self._choosing(name))

    def action_go(self, name: str) -> None:
        """Show a page, as it was left."""
        page_of(name)
        self.switch_mode(name)

    def action_help(self) -> None:
        """Say which keys do what here."""
        if not isinstance(self.screen, Help):
            self.push_screen(Help(self.screen))

    def action_next_theme(self) -> None:
        """The next of our themes."""
        place = THEMES.index(self.theme) if self.theme in THEMES else -1
        self.theme = THEMES[(place + 1) % len(THEMES)]
        self.notify(f"theme {self.theme}", timeout=2)

    def action_picture(self) -> None:
        """Write the screen into the current folder as SVG."""
        path = self.save_screenshot()
        self.notify(f"written: {one_line(path)}")

    def action_leave(self) -> None:
        """End the session. Runs that go on are processes of their own, and go on."""
        self.exit()

    def action_run_quickstart(self) -> None:
        """A first run of ten seconds, watched."""
        self.start_run(["run", "quickstart"])

    def start_run(self, arguments: Sequence[str]) -> None:
        """Start `agentbench ARGUMENTS` (a run, a load or a stress) in a process of its own and show
        it; a notice says why when it does not start."""
        self.run_worker(lambda: self._start(arguments), thread=True, group="start", exclusive=True)

    def mark(self, selector: str) -> None:
        """Mark for a comparison, or no longer, and say so."""
        marked = self.shared.toggle_mark(selector)
        if marked is None:
            self.notify(f"{MOST_MARKED} are marked: press c to compare them", severity="warning")
        elif marked:
            control = " (the control)" if len(self.shared.marked) == 1 else ""
            self.notify(f"marked {one_line(selector, 60)}{control}; c compares")
        else:
            self.notify(f"no longer marked: {one_line(selector, 60)}")

    def watch_run(self, run_id: str, *, replay: bool = False) -> None:
        """Show a run on the page Live."""
        self.shared.run_id, self.shared.replay = run_id, replay
        self.switch_mode("live")

    def _start(self, arguments: Sequence[str]) -> None:
        command = [sys.executable, "-m", "agentbench_tui", *arguments, "--detach"]
        try:
            done = subprocess.run(
                [*command, "--db", str(self.shared.database)],
                capture_output=True,
                text=True,
                check=False,
                timeout=_START_LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            reason = f"the run did not start within {_START_LIMIT_S:g} s"
        else:
            if done.returncode == 0:
                self.call_from_thread(self.watch_run, done.stdout.strip())
                return
            reason = one_line(done.stderr.strip().rpartition("\n")[2])
        self.call_from_thread(self.notify, reason, severity="error", timeout=15)

    def _look(self) -> None:
        if self._watch.changed() and isinstance(self.screen, Page):
            self.screen.store_changed()

    def _going(self, name: str) -> Callable[[], None]:
        return lambda: self.action_go(name)

    def _choosing(self, theme: str) -> Callable[[], None]:
        def choose() -> None:
            self.theme = theme

        return choose

    def _doing(self, node: object, action: str) -> Callable[[], None]:
        async def do() -> None:
            await self.run_action(action, node)  # type: ignore[arg-type]  # a DOM node

        return do  # type: ignore[return-value]  # the palette awaits what is awaitable


def open_session(database: Path) -> None:
    """Run the terminal session until the user leaves it."""
    AgentbenchApp(Shared(database)).run()
