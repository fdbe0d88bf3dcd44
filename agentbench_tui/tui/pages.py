"""The pages of the session: one table, of which keys, breadcrumbs, palette and help are made."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen


class PageEntry(NamedTuple):
    """One page."""

    key: str
    """That leads there from everywhere."""
    name: str
    title: str
    what: str
    """It answers, in a few words: for the palette and for help."""
    place: str
    """`module:class`; imported when the page is first shown."""

    def make(self) -> Screen[None]:
        """A new screen of it."""
        module, _, name = self.place.partition(":")
        screen: Screen[None] = getattr(import_module(module), name)()
        return screen


_SCREENS = "agentbench_tui.tui.screens"
PAGES = (
    PageEntry("1", "home", "Home", "recent runs, suites, agents, health", f"{_SCREENS}.home:Home"),
    PageEntry(
        "2", "new", "New run", "choose a suite and agents, start", f"{_SCREENS}.new_run:NewRun"
    ),
    PageEntry("3", "live", "Live", "a run as it goes on, or again", f"{_SCREENS}.live:Live"),
    PageEntry(
        "4",
        "leaders",
        "Leaderboard",
        "who is best, and how sure",
        f"{_SCREENS}.leaderboard:Leaderboard",
    ),
    PageEntry(
        "5", "compare", "Compare", "two or more, metric by metric", f"{_SCREENS}.compare:Compare"
    ),
    PageEntry(
        "6", "history", "History", "better or worse than before", f"{_SCREENS}.history:History"
    ),
    PageEntry(
        "7", "stress", "Stress", "where it breaks, how it recovers", f"{_SCREENS}.stress:Stress"
    ),
    PageEntry("8", "cost", "Cost", "what quality costs", f"{_SCREENS}.cost:Cost"),
    PageEntry("9", "cases", "Cases", "single answers, with transcripts", f"{_SCREENS}.cases:Cases"),
    PageEntry("0", "profile", "Profile", "where the time goes", f"{_SCREENS}.profile:Profile"),
    PageEntry("m", "market", "Market", "a market world, replayed", f"{_SCREENS}.market:Market"),
    PageEntry("l", "training", "Training", "learning curves", f"{_SCREENS}.training:Training"),
)


def page_of(name: str) -> PageEntry:
    """The page of that name. KeyError for none."""
    return {page.name: page for page in PAGES}[name]


def modes() -> dict[str, Callable[[], Screen[None]]]:
    """What `App.MODES` wants."""
    return {page.name: page.make for page in PAGES}
