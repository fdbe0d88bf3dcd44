"""An episode at one tick as plots, tables and sentences, for the page Market."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.presentation.numbers import MISSING, percent, quantity
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.drawing.plot_data import Line, Mark, PlotData
from agentbench_tui.tui.widgets.scrubber import ScrubberData
from agentbench_tui.tui.widgets.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.tui.pages.market.state import EpisodeView, Holding, Instrument

_MOST_POINTS = 400
"""Maximum points of a line; a longer one is thinned."""
_MOST_SAID, _MOST_ACTS = 60, 200
_NO_WORLD = "no world is shown yet"
_POSITIONS = (
    Column("name", "instrument", 14, flex=2),
    Column("side", "side", 5, priority=2),
    Column("amount", "held", 7, align="right"),
    Column("entry", "entry", 8, align="right", priority=3),
    Column("price", "price now", 9, align="right"),
)
_ACTS = (
    Column("tick", "tick", 6, align="right"),
    Column("method", "call", 18, flex=1),
    Column("arguments", "with", 16, flex=2, priority=3),
    Column("result", "result", 16, flex=2, priority=2),
)


def prices_plot(view: EpisodeView, tick: int, kind: str) -> PlotData:
    """Return the plot of prediction markets in %, or of perpetuals relative to their first price
    (100%).
    """
    shown = [one for one in view.instruments if one.kind == kind]
    lines = [_line(one, tick, at, kind == "perpetual") for at, one in enumerate(shown)]
    return PlotData(
        lines,
        x_label="tick",
        y_unit="%",
        x_range=(0.0, float(max(1, view.ticks - 1))),
        y_range=(0.0, 100.0) if kind == "market" else None,
        reason=f"this world has no {kind}s" if view.instruments else _NO_WORLD,
    )


def _line(one: Instrument, tick: int, series: int, relative: bool) -> Line:
    first = one.prices[0] if relative and one.prices and one.prices[0] else 1.0
    x, y = _thinned(one.prices, tick)
    now = y[-1] if y else None
    named = one.name
    if now is not None:
        shown = quantity(now, "$") if relative else percent(now)
        named += f" {shown}"
    if one.resolved_tick is not None and one.resolved_tick <= tick:
        named += f" ({one.outcome})"
    return Line(named, x, [100 * value / first for value in y], series=series)


def _thinned(values: Sequence[float], tick: int) -> tuple[list[float], list[float]]:
    """Return the values up to this tick, thinned to what a terminal can show; including the last
    one.
    """
    known = values[: tick + 1]
    every = max(1, len(known) // _MOST_POINTS)
    places = [*range(0, len(known), every)]
    if known and places[-1] != len(known) - 1:
        places.append(len(known) - 1)
    return [*map(float, places)], [known[place] for place in places]


def equity_plot(view: EpisodeView, tick: int) -> PlotData:
    """Return the plot of the agent's equity."""
    x, y = _thinned(view.equity, tick)
    return PlotData(
        (Line("", x, y, series=2),),
        marks=(Mark(float(tick)),) if y else (),
        x_label="tick",
        y_unit="$",
        x_range=(0.0, float(max(1, view.ticks - 1))),
        reason="no equity was recorded" if view.instruments else _NO_WORLD,
    )


def positions_table(view: EpisodeView, tick: int) -> GridData:
    """Return the positions at the end of a tick."""
    rows = [_position(view, tick, one) for one in view.positions(tick)]
    reason = "nothing is held at this tick" if view.instruments else _NO_WORLD
    return GridData(_POSITIONS, rows, reason=reason)


def _position(view: EpisodeView, tick: int, one: Holding) -> GridRow:
    instrument = view.ids.get(one.instrument)
    is_market = instrument is not None and instrument.kind == "market"

    def price(value: float | None) -> str:
        if value is None:
            return MISSING
        return percent(value) if is_market else quantity(value, "$")

    now = view.price(one.instrument, tick)
    falls = one.side in {"no", "short"}
    role: Role | None = None
    if now is not None and one.entry is not None and now != one.entry:
        role = "good" if (now > one.entry) is not falls else "bad"
    return GridRow(
        f"{one.instrument}/{one.side}",
        (
            one.instrument if instrument is None else instrument.name,
            one.side,
            quantity(one.amount),
            price(one.entry),
            Cell(price(now), role=role),
        ),
    )


def acts_table(view: EpisodeView, tick: int) -> GridData:
    """Return the agent's actions up to a tick, the newest first; those of the tick itself are
    highlighted.
    """
    rows = [
        GridRow(
            f"{one.tick}/{at}",
            (
                f"{one.tick:,}",
                one.method,
                Cell(one.arguments, role="dim"),
                Cell(one.result if one.ok else f"! {one.result}", role=None if one.ok else "bad"),
            ),
            "title" if one.tick == tick else "text",
        )
        for at, one in enumerate(view.acts_until(tick, _MOST_ACTS))
    ]
    reason = "the agent has done nothing yet" if view.instruments else _NO_WORLD
    return GridData(_ACTS, rows, reason=reason)


def said_sentences(view: EpisodeView, tick: int) -> list[Sentence]:
    """Return feed and chats up to a tick, newest first."""
    return [
        Sentence(f"{one.who}: {one.text}", f"{one.tick:,} {one.where}",
                 "title" if one.tick == tick else "text")
        for one in view.said_until(tick, _MOST_SAID)
    ]  # fmt: skip


def scrubber_of(view: EpisodeView, tick: int, per_s: float, playing: bool) -> ScrubberData:
    """Return the position in the world's time; calls are marked, refused ones as failures."""
    return ScrubberData(
        at_s=tick * view.tick_s,
        length_s=(view.ticks - 1) * view.tick_s,
        speed=per_s * view.tick_s,
        playing=playing,
        failures_s=[one.tick * view.tick_s for one in view.acts if not one.ok],
        marks_s=[one.tick * view.tick_s for one in view.acts if one.ok],
    )
