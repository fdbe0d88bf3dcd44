"""Pages on one episode of a market world, and the page that compares all episodes of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.full_report.parts import Chapter, FullReport, PageLink, Verdict
from agentbench_tui.presentation.market.charts import equity_chart, price_charts
from agentbench_tui.presentation.market.tables import (
    agents_notes,
    agents_table,
    best_first,
    episodes_notes,
    episodes_table,
    metrics_of_agents,
    metrics_table,
)
from agentbench_tui.presentation.market.timeline import calls_section, events_section
from agentbench_tui.presentation.numbers import decimals, from_one, money
from agentbench_tui.presentation.report import Column, Row, Section, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.contracts.market import MarketAgentSummary
    from agentbench_tui.presentation.charts import Chart
    from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode

_OF_FAIR = "of what was attainable with fair values"
_FILES = (Column("file", "file", link="file"),)


def files_chapter(files: Sequence[str]) -> Chapter:
    """List the files next to a page, as links."""
    rows: list[Row] = [{"file": name} for name in files]
    return Chapter("files", "Files", [Section("", [Table(_FILES, rows)])])


def summary_page(
    episode: PlayedEpisode, links: Sequence[PageLink] = (), files: Sequence[str] = ()
) -> FullReport:
    """Return what the agent made of the world, and every metric of the episode."""
    chapters = [
        Chapter("equity", "Equity", _drawn(episode)),
        Chapter("metrics", "Metrics", [Section("", [metrics_table(episode)])]),
        *([files_chapter(files)] if files else []),
    ]
    return _page("Summary", episode, chapters, links)


def detailed_page(episode: PlayedEpisode, links: Sequence[PageLink] = ()) -> FullReport:
    """Return every call in order, including refused ones."""
    return _page("Calls", episode, [Chapter("calls", "Calls", [calls_section(episode)])], links)


def timeline_page(episode: PlayedEpisode, links: Sequence[PageLink] = ()) -> FullReport:
    """Return prices and equity over time, with posts and actions tick by tick."""
    charts = [*_charts(episode), *price_charts(episode)]
    chapters = [
        Chapter("prices", "Equity and prices", [Section("", charts=charts)] if charts else ()),
        Chapter("events", "Events", [events_section(episode)]),
    ]
    return _page("Timeline", episode, chapters, links)


def _drawn(episode: PlayedEpisode) -> list[Section]:
    charts = _charts(episode)
    return [Section("", charts=charts)] if charts else []


def _charts(episode: PlayedEpisode) -> list[Chart]:
    chart = equity_chart([episode])
    return [] if chart is None else [chart]


def _page(
    what: str, episode: PlayedEpisode, chapters: Sequence[Chapter], links: Sequence[PageLink]
) -> FullReport:
    return FullReport(
        title=f"{what}: {episode.agent_id} in {episode.world}, repeat {from_one(episode.repeat)}",
        about=[
            ("agent", episode.agent_id),
            ("world", episode.title),
            ("repeat", from_one(episode.repeat)),
        ],
        verdict=_verdict(episode),
        chapters=[one for one in chapters if one.sections],
        document=None,
        contenders=[episode.agent_id],
        links=links,
    )


def _verdict(episode: PlayedEpisode) -> Verdict:
    """Say what the agent made, and what to know about it."""
    pnl, fair = episode.metric("total_pnl"), episode.metric("optimality_fair")
    made = "has no result"
    if pnl is not None:
        made = f"{'loses' if pnl < 0 else 'makes'} {money(abs(pnl))}"
    of_fair = "" if fair is None else f", {decimals(3)(fair)} {_OF_FAIR}"
    truth = ["It knows how the world ends, so its result is the best that hindsight allows."]
    reasons = [*(truth if episode.knows_outcomes else []), *episode.notices]
    return Verdict(f"{episode.agent_id} {made}{of_fair}.", "plain", reasons)


def comparison_page(
    agents: Sequence[MarketAgentSummary],
    episodes: Sequence[PlayedEpisode],
    notes: Sequence[str],
    links: Sequence[PageLink],
    place: Callable[[PlayedEpisode], str],
) -> FullReport:
    """Return the means of every agent over its episodes, then every episode.

    Nothing in it depends on the clock, so that equal runs have equal pages.
    """
    worlds = len({one.world for one in episodes})
    chapters = [
        Chapter("agents", "Agents", [Section("", [agents_table(agents)], agents_notes(agents))]),
        Chapter("metrics", "Means of all metrics", [Section("", [metrics_of_agents(agents)])]),
        Chapter(
            "episodes",
            "Episodes",
            [Section("", [episodes_table(episodes, place)], episodes_notes(episodes))],
        ),
    ]
    return FullReport(
        title=f"Comparison of {counted(len(agents), 'agent')} in {counted(worlds, 'world')}",
        about=[("episodes", f"{len(episodes):,}")],
        verdict=Verdict(_first_words(agents), "plain", notes),
        chapters=chapters,
        document=None,
        contenders=[one.agent_id for one in best_first(agents)],
        links=links,
    )


def _first_words(agents: Sequence[MarketAgentSummary]) -> str:
    known = [(one.mean("optimality_fair"), one.agent_id) for one in agents if not one.simulated]
    best = max(((fair, name) for fair, name in known if fair is not None), default=None)
    if best is None:
        return "No measured agent has a result."
    fair, name = best
    return (
        f"{name} has the highest mean, {decimals(3)(fair)} {_OF_FAIR}. "
        "The report of the run says whether that is more than chance."
    )
