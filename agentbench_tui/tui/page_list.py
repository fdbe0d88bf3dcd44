"""The pages of the session: one table, for keys, breadcrumbs, palette and help."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen


class PageEntry(NamedTuple):
    """One page."""

    key: str
    """Key that opens it from everywhere."""
    name: str
    title: str
    what: str
    """It answers, in a few words: for the palette and for help."""
    place: str
    """`module:class`; imported when the page is first shown."""

    def make(self) -> Screen[None]:
        """Return a new screen of it."""
        module, _, name = self.place.partition(":")
        screen: Screen[None] = getattr(import_module(module), name)()
        return screen


_PAGES = "agentbench_tui.tui.pages"
PAGES = (
    PageEntry("1", "home", "Home", "recent runs, suites, agents, health", f"{_PAGES}.home:Home"),
    PageEntry(
        "2", "new", "New run", "choose a suite and agents, start", f"{_PAGES}.new_run.page:NewRun"
    ),
    PageEntry("3", "live", "Live", "a run in progress, or replayed", f"{_PAGES}.live.page:Live"),
    PageEntry(
        "4",
        "leaders",
        "Leaderboard",
        "who is best, and how sure",
        f"{_PAGES}.leaderboard.page:Leaderboard",
    ),
    PageEntry(
        "5", "compare", "Compare", "two or more, metric by metric", f"{_PAGES}.compare.page:Compare"
    ),
    PageEntry(
        "6", "history", "History", "better or worse than before", f"{_PAGES}.history.page:History"
    ),
    PageEntry(
        "7", "stress", "Stress", "where it breaks, how it recovers", f"{_PAGES}.stress.page:Stress"
    ),
    PageEntry("8", "cost", "Cost", "what quality costs", f"{_PAGES}.cost.page:Cost"),
    PageEntry(
        "9", "cases", "Cases", "single answers, with transcripts", f"{_PAGES}.cases.page:Cases"
    ),
    PageEntry("0", "profile", "Profile", "where the time goes", f"{_PAGES}.profile.page:Profile"),
    PageEntry("m", "market", "Market", "a market world, replayed", f"{_PAGES}.market.page:Market"),
    PageEntry("l", "training", "Training", "learning curves", f"{_PAGES}.training.page:Training"),
)


def page_of(name: str) -> PageEntry:
    """Return the page of that name. Raises KeyError if there is none."""
    return {page.name: page for page in PAGES}[name]


def modes() -> dict[str, Callable[[], Screen[None]]]:
    """Return the value for `App.MODES`."""
    return {page.name: page.make for page in PAGES}
