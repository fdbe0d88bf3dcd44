"""Pages on episodes of a market world: self-contained HTML, every word of an agent escaped."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.figures.market_metrics import MARKET_METRICS
from agentbench_tui.reports.market.page_parts import Link, Links, document, lines, table

if TYPE_CHECKING:
    from agentbench_tui.contracts.market import MarketAgentSummary
    from agentbench_tui.reports.market.tables import Played

_MOST_ROWS = 2_000
"""Maximum rows of a table of events; the files next to the page have all of them."""
_OF_EPISODES = ("total_pnl", "optimality_fair", "optimality", "prediction_accuracy", "brier")
_OF_AGENTS = (*_OF_EPISODES, "perp_win_rate", "max_drawdown")
_ABOUT_MEANS = (
    "Means over episodes, by optimality_fair: the share of what was attainable, in which luck"
    " counts neither way. * simulated: the oracle knows the truth."
)
PAGES = {"summary.html": "Summary", "detailed.html": "Every call", "timeline.html": "Timeline"}
"""Of an episode: file and what it is called."""


def index_page(
    rows: Sequence[MarketAgentSummary],
    episodes: Sequence[Played],
    files: Sequence[str],
    notes: Sequence[str] = (),
) -> str:
    """Return the results of the agents, the best first; the worlds; every episode and its pages."""
    means = [
        (
            row.agent_id + (" *" if row.simulated else ""),
            row.episodes,
            *(row.mean(name) for name in _OF_AGENTS),
        )
        for row in sorted(rows, key=_rank)
    ]
    worlds = {one.world: one.record for one in episodes}
    played = [(name, one.get("title"), one["world"].get("id")) for name, one in worlds.items()]
    is_alone = len(episodes) == 1
    body = [
        *_notes(notes),
        table(("agent", "episodes", *_OF_AGENTS), means),
        f"<p class=quiet>{_ABOUT_MEANS}</p>",
        "<h2>Worlds</h2>",
        table(("world", "made of", "id"), played),
        "<h2>Episodes</h2>",
        _episodes(episodes, is_alone=is_alone),
        "<h2>Files</h2>",
        _listed(Link(name, name) for name in files),
    ]
    return document("Market", "\n".join(body), (Link("comparison.html", "Comparison"),))


def _notes(notes: Iterable[str]) -> Iterable[str]:
    return (f"<p><strong>Note:</strong> {escape(note)}</p>" for note in notes)


def episode_index_page(played: Played, files: Sequence[str]) -> str:
    """The pages and files of one episode, and how it ended."""
    rows = [(name, played.metrics.get(name), unit_of(name)) for name in _OF_AGENTS]
    body = table(("metric", "value", "unit"), rows) + _listed(Link(name, name) for name in files)
    return document(_title(played), body, links_of(played))


def links_of(played: Played, *, is_alone: bool = False) -> tuple[Link, ...]:
    """From one page of an episode to the others, and to the index of all."""
    up = "" if is_alone else "../" * len(played.folder.split("/"))
    return (Link(f"{up}index.html", "Index"), *(Link(to, title) for to, title in PAGES.items()))


def _episodes(episodes: Sequence[Played], *, is_alone: bool) -> str:
    rows = []
    for one in episodes[:_MOST_ROWS]:
        place = "" if is_alone else f"{one.folder}/"
        pages = Links(tuple(Link(place + name, title) for name, title in PAGES.items()))
        figures = (one.metrics.get(name) for name in _OF_EPISODES)
        rows.append((one.agent_id, one.world, one.repeat + 1, *figures, pages))
    head = ("agent", "world", "repeat", *_OF_EPISODES, "pages")
    return table(head, rows) + _cut(len(episodes), "episodes", "comparison.csv")


def _rank(row: MarketAgentSummary) -> tuple[bool, float]:
    fair = row.mean("optimality_fair")
    return row.simulated, math.inf if fair is None else -fair


def _title(played: Played) -> str:
    return f"{played.agent_id} in {played.world}, run {played.repeat + 1}"


def _listed(links: Iterable[Link]) -> str:
    return (
        "<ul>"
        + "".join(f'<li><a href="{escape(one.to)}">{escape(one.text)}</a></li>\n' for one in links)
        + "</ul>"
    )


def summary_page(played: Played, links: Iterable[Link] = ()) -> str:
    """Return the agent, the world, the result, and every metric of the episode."""
    record = played.record
    facts = [
        ("agent", played.agent_id + (" (simulated)" if played.simulated else "")),
        ("world", record.get("title", played.world)),
        ("repeat", played.repeat + 1),
        ("equity at the end, USD", record["equity"][-1] if record["equity"] else None),
        *(("note", notice) for notice in record.get("notices", ())),
    ]
    missing = record.get("missing") or {}
    rows = [
        (name, value, unit_of(name), missing.get(name, ""))
        for name, value in played.metrics.items()
    ]
    body = [
        table(("", ""), facts),
        lines("Equity, USD", [("equity", record["equity"])]),
        "<h2>Metrics</h2>",
        table(("metric", "value", "unit", ""), rows),
    ]
    return document(_title(played), "\n".join(body), links)


def detailed_page(played: Played, links: Iterable[Link] = ()) -> str:
    """Return every call in order, including refused ones; at most a readable number for a long
    game.
    """
    acts = played.record["acts"]
    shown, cut = _spread(acts, "calls", "actions.csv")
    rows = [
        (tick_of(act), act["method"], _json(act["arguments"]), act["ok"], act["result"])
        for act in shown
    ]
    head = ("tick", "method", "arguments", "accepted", "result")
    kept = _kept(len(acts), played.record.get("calls", 0), "calls, evenly over the game,")
    body = [cut, kept, table(head, rows)]
    return document(f"Calls of {_title(played)}", "\n".join(filter(None, body)), links)


def tick_of(event: Mapping[str, Any]) -> int:
    """Return the world's tick of an action or post, at least the mark at which it is listed."""
    return int(event.get("world_tick", event["tick"]))


def _kept(kept: int, of: int, what: str) -> str:
    """That the record has not all of them, as HTML; empty where it has."""
    return f"<p class=quiet>{kept:,} of {of:,} {what} are kept.</p>" if of > kept else ""


def timeline_page(played: Played, links: Iterable[Link] = ()) -> str:
    """Return prices and equity over time, with posts and actions tick by tick."""
    record = played.record
    markets = _named(record["instruments"], "market")
    perpetuals = [
        (name, [price / prices[0] * 100 for price in prices])
        for name, prices in _named(record["instruments"], "perpetual")
        if prices and prices[0]
    ]
    events: list[tuple[Any, ...]] = [
        (tick_of(said), said["where"], said["who"], said["text"]) for said in record["said"]
    ]
    events += [
        (tick_of(act), "call", played.agent_id, f"{act['method']} {_json(act['arguments'])}")
        for act in record["acts"]
        if act.get("changes", True)
    ]
    events.sort(key=lambda event: event[0])
    shown, cut = _spread(events, "events", "result.json")
    body = [
        lines("Equity, USD", [("equity", record["equity"])]),
        lines("Price of YES", markets),
        lines("Perpetuals, start = 100", perpetuals),
        cut,
        _kept(len(record["said"]), record.get("heard", 0), "posts and messages, the newest,"),
        table(("tick", "where", "who", "what"), shown),
    ]
    return document(f"Timeline of {_title(played)}", "\n".join(body), links)


def comparison_page(
    rows: Sequence[MarketAgentSummary], episodes: Sequence[Played], notes: Sequence[str] = ()
) -> str:
    """Means of every agent over its episodes, a metric a row; then every episode."""
    names = [name for name in MARKET_METRICS if any(name in row.metrics for row in rows)]
    agents = [row.agent_id + (" *" if row.simulated else "") for row in rows]
    means: list[tuple[Any, ...]] = [("episodes", "", *(row.episodes for row in rows))]
    means += [(name, unit_of(name), *(row.mean(name) for row in rows)) for name in names]
    body = [
        *_notes(notes),
        table(("metric", "unit", *agents), means),
        "<p class=quiet>Means over episodes. * simulated: the oracle knows the truth.</p>",
        "<h2>Episodes</h2>",
        _episodes(episodes, is_alone=len(episodes) == 1),
    ]
    return document("Comparison", "\n".join(body), (Link("index.html", "Index"),))


def unit_of(name: str) -> str:
    """Return the unit of a metric, or of a part of one; empty without a unit."""
    base, _, _ = name.partition(".")
    if base in MARKET_METRICS:
        return MARKET_METRICS[base].unit
    if base.endswith(("_pnl", "_usd")) or base == "funding":
        return "USD"
    if base.endswith("_tokens"):
        return "tokens"
    return "ms" if base.endswith("_ms") else ""


def _cut(count: int, what: str, file: str) -> str:
    if count <= _MOST_ROWS:
        return ""
    return f"<p class=quiet>The first {_MOST_ROWS:,} of {count:,} {what}; {file} has all.</p>"


def _spread(rows: Sequence[Any], what: str, file: str) -> tuple[Sequence[Any], str]:
    """At most `_MOST_ROWS` of them, evenly over the whole, and that it is so."""
    every = -(-len(rows) // _MOST_ROWS)
    if every <= 1:
        return rows, ""
    shown = rows[::every]
    told = f"{len(shown):,} of {len(rows):,} {what}, one in {every}; {file} has all of them."
    return shown, f"<p class=quiet>{told}</p>"


def _json(value: Any) -> str:
    """As JSON, numbers as far as one reads them; the tables beside the page have them whole."""
    return json.dumps(_short(value), ensure_ascii=False)


def _short(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _short(inner) for name, inner in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _named(
    instruments: Iterable[Mapping[str, Any]], kind: str
) -> list[tuple[str, Sequence[float]]]:
    return [(one["name"], one["prices"]) for one in instruments if one["kind"] == kind]
