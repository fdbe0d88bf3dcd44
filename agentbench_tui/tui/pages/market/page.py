"""Market: replays an episode of a market world tick by tick."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Static

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.dialogs.run_choice import RunChoice
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.market.rows import (
    acts_table,
    equity_plot,
    positions_table,
    prices_plot,
    said_sentences,
    scrubber_of,
)
from agentbench_tui.tui.pages.market.state import EpisodeView, demo, episode_view
from agentbench_tui.tui.pages.page import Page
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.plot import Plot
from agentbench_tui.tui.widgets.scrubber import Scrubber
from agentbench_tui.tui.widgets.sentences import Sentences
from agentbench_tui.verdicts.runs.market_episode import (
    FoundEpisode,
    episode_of,
    newest_with_episodes,
)

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

SPEEDS = (1.0, 4.0, 16.0, 64.0, 256.0)
"""Ticks a second."""
FRAME_S = 0.125
VIEWS = ("prices", "account", "talk")
_JUMP = 0.05
"""Share of the episode."""
EXAMPLE = "example data, not measured"
_HOW = "press o for another run, or d for an example"


class Market(Page[tuple[FoundEpisode, EpisodeView | None]]):
    """Prices above, the account in the middle, actions and posts below."""

    DEFAULT_CSS: ClassVar[str] = """
    Market #banner { height: 1; background: $warning; color: $background; text-style: bold;
        text-align: center; display: none; }
    Market.-example #banner { display: block; }
    Market Scrubber { height: 1; }
    Market Horizontal { height: 1fr; }
    Market #prices-row { height: 4fr; } Market #account-row { height: 3fr; }
    Market #talk-row { height: 3fr; }
    Market #markets { width: 3fr; } Market #perpetuals { width: 2fr; }
    Market #equity { width: 3fr; } Market #positions { width: 2fr; }
    Market #said { width: 2fr; } Market #acts { width: 3fr; }
    Market.-narrow Horizontal, Market.-low Horizontal { display: none; }
    Market.-narrow.-at-prices #prices-row, Market.-low.-at-prices #prices-row,
    Market.-narrow.-at-account #account-row, Market.-low.-at-account #account-row,
    Market.-narrow.-at-talk #talk-row, Market.-low.-at-talk #talk-row { display: block; }
    Market.-narrow Horizontal { layout: vertical; }
    Market.-narrow #markets, Market.-narrow #perpetuals, Market.-narrow #equity,
    Market.-narrow #positions, Market.-narrow #said, Market.-narrow #acts { width: 100%; }
    """
    BINDINGS: ClassVar = [
        Binding("space", "play", "Play/hold", priority=True),
        Binding("full_stop", "step(1)", "Step", key_display=", .", tooltip="a tick on"),
        Binding("comma", "step(-1)", "Step back", show=False, key_display=","),
        Binding("greater_than_sign", "jump(1)", "Jump", key_display="< >",
                tooltip="a twentieth of the episode on"),
        Binding("less_than_sign", "jump(-1)", "Jump back", show=False, key_display="<"),
        Binding("plus,equals_sign", "speed(1)", "Faster", show=False, key_display="+"),
        Binding("minus", "speed(-1)", "Slower", show=False, key_display="-"),
        Binding("d", "demo", "Example", tooltip="an episode that is made up"),
        Binding("o", "pick_run", "Run", show=False, tooltip="choose which run is shown"),
        Binding("right_square_bracket", "episode(1)", "Episode", show=False, key_display="]",
                tooltip="the next episode of the run"),
        Binding("left_square_bracket", "episode(-1)", "Episode before", show=False,
                key_display="["),
        Binding("a", "act(1)", "Next act", show=False, tooltip="where the agent does something"),
        Binding("v", "view", "Panel", show=False, tooltip="prices, account, messages"),
        Binding("y", "copy", "Copy", show=False, tooltip="the call at the cursor"),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._view: EpisodeView | None = None
        self._number = 0
        """Index of the episode in its run."""
        self._episodes = 0
        self._chosen: str | None = None
        """Run that the user chose here."""
        self._shown: tuple[str, int] | None = None
        """Run and episode that are shown: reloading must not restart it."""
        self._tick = 0.0
        self._speed = 1
        self._playing = False
        self._stepped_at = 0.0
        self._panel = VIEWS[0]

    def crumbs(self) -> tuple[str, ...]:
        if self._view is None:
            return ("Market",)
        if self._view.example:
            return ("Market", "example")
        return ("Market", self._view.agent, f"episode {self._number + 1} of {self._episodes}")

    def content(self) -> ComposeResult:
        yield Static(Text(EXAMPLE), id="banner", markup=False)
        yield Scrubber()
        with Horizontal(id="prices-row"):
            yield panel(Plot(id="markets"), "prediction markets: price in %")
            yield panel(Plot(id="perpetuals"), "perpetuals: % of their first price")
        with Horizontal(id="account-row"):
            yield panel(Plot(id="equity"), "equity in $")
            yield panel(Grid(id="positions"), "positions")
        with Horizontal(id="talk-row"):
            yield panel(Sentences(id="said"), "feed and chats, the newest first")
            yield panel(Grid(id="acts"), "what the agent did, the newest first")

    def on_mount(self) -> None:
        self._number = self.shared.episode
        self.add_class(f"-at-{self._panel}")
        self.query_one("#acts", Grid).focus()
        self.set_interval(FRAME_S, self._play_on)
        self._draw()

    def read(self, connection: sqlite3.Connection) -> tuple[FoundEpisode, EpisodeView | None]:
        wanted = self.shared.run_id
        found = episode_of(connection, wanted, self._number)
        if found.document is None and (wanted is None or wanted != self._chosen):
            # What was looked at elsewhere is no market: the newest that is one.
            other = newest_with_episodes(connection)
            found = found if other is None else episode_of(connection, other, self._number)
        if found.document is None:
            return found, None
        return found, episode_view(found.document, found.agent, simulated=found.simulated)

    def show(self, found: tuple[FoundEpisode, EpisodeView | None]) -> None:
        if self._view is not None and self._view.example:
            return  # somebody looks at the example; o leads back
        episode, view = found
        if view is None:
            self.tell(f"{one_line(episode.reason)}; {_HOW}")
            return
        place = episode.run_id, episode.number
        if place != self._shown or self._view is None:
            self._shown = place
            self._number, self._episodes = episode.number, episode.episodes
            self._begin(view)

    def on_scrubber_sought(self, event: Scrubber.Sought) -> None:
        """Move to the clicked time."""
        event.stop()
        if self._view is not None:
            self._go(round(event.at_s / self._view.tick_s))

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Move to the tick of that call."""
        event.stop()
        if event.grid.id != "acts" or self._view is None:
            self.notify("enter on a call goes to its tick")
            return
        self._playing = False
        self._go(int(event.key.partition("/")[0]))

    def action_demo(self) -> None:
        """Show the example, labeled as one."""
        self.tell("")
        self._shown = None
        self._begin(demo())

    def action_play(self) -> None:
        """Play or pause; at the end, restart."""
        if self._missing():
            return
        assert self._view is not None
        if not self._playing and self._tick >= self._view.ticks - 1:
            self._tick = 0.0
        self._playing = not self._playing
        self._stepped_at = time.monotonic()
        self._draw()

    def action_step(self, ticks: int) -> None:
        """Move this many ticks, paused."""
        if not self._missing():
            self._playing = False
            self._go(int(self._tick) + ticks)

    def action_jump(self, way: int) -> None:
        """Move by a twentieth of the episode."""
        if not self._missing():
            assert self._view is not None
            self._go(int(self._tick) + way * max(1, round(_JUMP * self._view.ticks)))

    def action_act(self, way: int) -> None:
        """Move to the next tick with an action of the agent."""
        if self._missing():
            return
        assert self._view is not None
        later = [one.tick for one in self._view.acts if one.tick > int(self._tick)]
        if later and way > 0:
            self._playing = False
            self._go(later[0])
        else:
            self.notify("the agent does nothing after this tick")

    def action_speed(self, way: int) -> None:
        """Change the speed."""
        self._speed = min(len(SPEEDS) - 1, max(0, self._speed + way))
        self.notify(f"{SPEEDS[self._speed]:g} ticks a second", timeout=2)
        self._draw()

    def action_pick_run(self) -> None:
        """Choose another run."""
        self.app.push_screen(RunChoice(self.shared.database, self.shared.run_id), self._picked)

    def action_episode(self, by: int) -> None:
        """Show another episode of the run."""
        if self._view is None or self._view.example or self._episodes < 2:
            self.notify("there is no other episode in this run")
            return
        self._number = (self._number + by) % self._episodes
        self.reload()

    def action_view(self) -> None:
        """Focus the next panels if all fit, else show them."""
        self.remove_class(f"-at-{self._panel}")
        self._panel = VIEWS[(VIEWS.index(self._panel) + 1) % len(VIEWS)]
        self.add_class(f"-at-{self._panel}")
        focus = {"account": "positions", "talk": "said"}.get(self._panel, "acts")
        self.query_one(f"#{focus}").focus()

    def action_copy(self) -> None:
        """Copy the agent's call at the cursor."""
        key = self.query_one("#acts", Grid).cursor_key
        if self._view is None or key is None:
            self.notify("there is no call to copy")
            return
        place = int(key.partition("/")[2])
        act = self._view.acts_until(int(self._tick), place + 1)[place]
        self.app.copy_to_clipboard(one_line(f"{act.method}({act.arguments})", 2000))
        self.notify("copied the call")

    def _missing(self) -> bool:
        if self._view is None:
            self.notify(f"there is no episode to play: {_HOW}")
        return self._view is None

    def _picked(self, run_id: str | None) -> None:
        if run_id is not None:
            self.shared.run_id = self._chosen = run_id
            self._number = 0
            self._view = self._shown = None
            self._playing = False
            self.remove_class("-example")
            self._draw()
            self.reload()

    def _begin(self, view: EpisodeView) -> None:
        self._view, self._tick, self._playing = view, float(view.ticks - 1), False
        self.set_class(view.example, "-example")
        self._draw()
        self._tell_crumbs()

    def _tell_crumbs(self) -> None:
        from agentbench_tui.tui.widgets.crumbs import CrumbBar

        self.query_one(CrumbBar).show(("agentbench", *self.crumbs()))

    def _play_on(self) -> None:
        """Advance one frame, by as many ticks as the elapsed time."""
        now = time.monotonic()
        since, self._stepped_at = now - self._stepped_at, now
        if self._playing and self._view is not None and self.is_active:
            before = int(self._tick)
            self._tick = min(self._tick + since * SPEEDS[self._speed], self._view.ticks - 1.0)
            self._playing = self._tick < self._view.ticks - 1
            if int(self._tick) != before or not self._playing:
                self._draw()

    def _go(self, tick: int) -> None:
        assert self._view is not None
        self._tick = float(min(self._view.ticks - 1, max(0, tick)))
        self._draw()

    def _draw(self) -> None:
        """Draw everything at this tick."""
        view, tick = self._view, int(self._tick)
        if view is None:
            view = EpisodeView("", "", 1, 1.0, (), ())
        scrubber = self.query_one(Scrubber)
        scrubber.display = self._view is not None
        scrubber.show(scrubber_of(view, tick, SPEEDS[self._speed], self._playing))
        self.query_one("#markets", Plot).show(prices_plot(view, tick, "market"))
        self.query_one("#perpetuals", Plot).show(prices_plot(view, tick, "perpetual"))
        self.query_one("#equity", Plot).show(equity_plot(view, tick))
        self.query_one("#positions", Grid).show(positions_table(view, tick))
        self.query_one("#said", Sentences).show(said_sentences(view, tick))
        acts = self.query_one("#acts", Grid)
        acts.show(acts_table(view, tick))
        if self._view is not None:
            mark = " (simulated)" if view.simulated else ""
            mark = f" ({EXAMPLE})" if view.example else mark
            entitle(acts, f"tick {tick:,} of {view.ticks - 1:,}: what {view.agent}{mark} did")
