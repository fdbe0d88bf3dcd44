"""Pages on episodes of a market world: self-contained HTML, every word of an agent escaped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.market_metrics import MARKET_METRICS
from agentbench_tui.model.plain_number import plain

if TYPE_CHECKING:
    from agentbench_tui.report.market_tables import Played

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem;
  color: #1b1f24; background: #fff }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d8dee4;
  overflow-wrap: anywhere }
th { white-space: nowrap }
td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
.no { color: #b42318 } .quiet { color: #57606a }
svg { width: 100%; height: auto; border: 1px solid #d8dee4 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } }
"""
_COLOURS = ("#0969da", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#57606a", "#0598bc")
_MOST_ROWS = 2_000
"""Rows of a table of what happened; the files beside the page hold all of them."""
_WIDTH, _HEIGHT = 900, 240
_OF_EPISODES = ("total_pnl", "optimality_fair", "optimality", "prediction_accuracy", "brier")

Page = Callable[["Played"], str]


def document(title: str, body: str) -> str:
    """A page; `title` is text, `body` is HTML."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of text and numbers; numbers stand at the right."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead>\n<tbody>\n{lines}</tbody></table>"


def number(value: object) -> str:
    """A number as tables print it; – where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    return f"{value:,.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def index_page(title: str, links: Iterable[tuple[str, str]]) -> str:
    """Links to the other pages: (address, text)."""
    lines = "".join(f'<li><a href="{escape(to)}">{escape(text)}</a></li>\n' for to, text in links)
    return document(title, f"<ul>\n{lines}</ul>")


def summary_page(played: Played) -> str:
    """Who played where, how it ended, and every metric of the episode."""
    record = played.record
    facts = [
        ("agent", played.agent_id + (" (simulated)" if played.simulated else "")),
        ("world", record.get("title", played.world)),
        ("repeat", played.repeat + 1),
        ("equity at the end, USD", record["equity"][-1] if record["equity"] else None),
        *(("note", notice) for notice in record.get("notices", ())),
    ]
    rows = [
        (name, value, unit_of(name))
        for name, value in played.metrics.items()
    ]  # fmt: skip
    body = [
        table(("", ""), facts),
        _lines("Equity, USD", [("equity", record["equity"])]),
        "<h2>Metrics</h2>",
        table(("metric", "value", "unit"), rows),
    ]
    return document(f"{played.agent_id} in {played.world}", "\n".join(body))


def detailed_page(played: Played) -> str:
    """Every call in order, refused ones too."""
    acts = played.record["acts"]
    rows = [
        (act["tick"], act["method"], _json(act["arguments"]), act["ok"], act["result"])
        for act in acts[:_MOST_ROWS]
    ]
    more = _cut(len(acts), "calls", "actions.csv")
    head = ("tick", "method", "arguments", "accepted", "result")
    return document(f"Calls of {played.agent_id} in {played.world}", table(head, rows) + more)


def timeline_page(played: Played) -> str:
    """Prices and equity over time, and what was said and done, tick by tick."""
    record = played.record
    markets = _named(record["instruments"], "market")
    perpetuals = [
        (name, [price / prices[0] * 100 for price in prices])
        for name, prices in _named(record["instruments"], "perpetual")
        if prices and prices[0]
    ]
    events: list[tuple[Any, ...]] = [
        (said["tick"], said["where"], said["who"], said["text"]) for said in record["said"]
    ]
    events += [
        (act["tick"], "call", played.agent_id, f"{act['method']} {_json(act['arguments'])}")
        for act in record["acts"]
        if act.get("changes", True)
    ]
    events.sort(key=lambda event: event[0])
    body = [
        _lines("Equity, USD", [("equity", record["equity"])]),
        _lines("Price of YES", markets),
        _lines("Perpetuals, start = 100", perpetuals),
        table(("tick", "where", "who", "what"), events[:_MOST_ROWS]),
        _cut(len(events), "events", "result.json"),
    ]
    return document(f"Timeline of {played.agent_id} in {played.world}", "\n".join(body))


def comparison_page(rows: Sequence[Mapping[str, Any]], episodes: Sequence[Played]) -> str:
    """Means of every agent over its episodes, a metric a row; then every episode."""
    names = [name for name in MARKET_METRICS if any(row["metrics"].get(name) for row in rows)]
    agents = [row["agent_id"] + (" *" if row["simulated"] else "") for row in rows]
    means: list[tuple[Any, ...]] = [("episodes", "", *(row["episodes"] for row in rows))]
    means += [
        (
            name,
            unit_of(name),
            *((row["metrics"].get(name) or {}).get("mean") for row in rows),
        )
        for name in names
    ]
    each = [
        (one.agent_id, one.world, one.repeat + 1, *(one.metrics.get(name) for name in _OF_EPISODES))
        for one in episodes[:_MOST_ROWS]
    ]
    body = [
        table(("metric", "unit", *agents), means),
        "<p class=quiet>Means over episodes. * simulated: the oracle knows the truth.</p>",
        "<h2>Episodes</h2>",
        table(("agent", "world", "repeat", *_OF_EPISODES), each),
        _cut(len(episodes), "episodes", "comparison.csv"),
    ]
    return document("Comparison", "\n".join(body))


def unit_of(name: str) -> str:
    """The unit of a metric, or of a part of one; empty where it has none of its own."""
    base, _, _ = name.partition(".")
    if base in MARKET_METRICS:
        return MARKET_METRICS[base].unit
    return "ms" if base.endswith("_ms") else ""


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "<td>yes</td>" if value else '<td class="no">no</td>'
    if isinstance(value, int | float):
        return f'<td class="n">{escape(number(value))}</td>'
    if value is None:
        return '<td class="n">–</td>'
    return f"<td>{escape(str(value))}</td>"


def _cut(count: int, what: str, file: str) -> str:
    if count <= _MOST_ROWS:
        return ""
    return f"<p class=quiet>The first {_MOST_ROWS:,} of {count:,} {what}; {file} has all.</p>"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _named(
    instruments: Iterable[Mapping[str, Any]], kind: str
) -> list[tuple[str, Sequence[float]]]:
    return [(one["name"], one["prices"]) for one in instruments if one["kind"] == kind]


def _lines(title: str, lines: Sequence[tuple[str, Sequence[float]]]) -> str:
    """Lines over the ticks, as SVG; nothing where there is nothing to draw."""
    values = [value for _, line in lines for value in line]
    if not values:
        return ""
    low, high = min(values), max(values)
    height = (high - low) or 1.0
    paths = []
    for place, (name, line) in enumerate(lines):
        step = _WIDTH / max(1, len(line) - 1)
        points = " ".join(
            f"{nth * step:.1f},{_HEIGHT - 10 - (value - low) / height * (_HEIGHT - 20):.1f}"
            for nth, value in enumerate(line)
        )
        paths.append(
            f'<polyline fill="none" stroke="{_COLOURS[place % len(_COLOURS)]}" stroke-width="1.5"'
            f' points="{points}"><title>{escape(name)}</title></polyline>'
        )
    names = " · ".join(
        f'<span style="color:{_COLOURS[place % len(_COLOURS)]}">{escape(name)}</span>'
        for place, (name, _) in enumerate(lines)
    )
    return (
        f"<h2>{escape(title)}</h2>\n"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(paths)}</svg>\n<p class=quiet>{escape(plain(round(low, 4)))} to"
        f" {escape(plain(round(high, 4)))}; {names}</p>"
    )
