"""Charts on market worlds: equity and prices over the ticks of a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.presentation.charts import Axis, Line, LineChart
from agentbench_tui.presentation.numbers import count, decimals, money

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode

_MOST_LINES = 8
_TICKS = Axis("tick", count)


def equity_chart(episodes: Sequence[PlayedEpisode]) -> LineChart | None:
    """Draw the equity of agents in one world; None if none was recorded."""
    lines = [
        Line(one.agent_id, one.world_ticks(len(one.equity)), one.equity)
        for one in episodes[:_MOST_LINES]
        if len(one.equity) > 1
    ]
    ends = "; ".join(
        f"{one.name}: {money(one.y[0])} at the start, {money(one.y[-1])} at the end"
        for one in lines
    )
    if not lines:
        return None
    return LineChart("Equity", ends, _TICKS, Axis("equity, USD", decimals(0)), lines)


def price_charts(episode: PlayedEpisode) -> list[LineChart]:
    """Draw the prices of an episode: of YES for markets, and of perpetuals from 100 on."""
    charts = []
    markets = [_price_line(episode, one.name, one.prices)
               for one in episode.instruments if one.kind == "market"]  # fmt: skip
    if markets := [one for one in markets if len(one.x) > 1][:_MOST_LINES]:
        axis = Axis("price of YES, USD", decimals(2), low=0.0, high=1.0)
        charts.append(
            LineChart("Prices of prediction markets", _ends(markets, axis), _TICKS, axis, markets)
        )
    perpetuals = [
        _price_line(episode, one.name, [price / one.prices[0] * 100 for price in one.prices])
        for one in episode.instruments
        if one.kind == "perpetual" and one.prices and one.prices[0]
    ]
    if perpetuals := [one for one in perpetuals if len(one.x) > 1][:_MOST_LINES]:
        axis = Axis("mark price, start = 100", decimals(2))
        charts.append(
            LineChart("Prices of perpetuals", _ends(perpetuals, axis), _TICKS, axis, perpetuals)
        )
    return charts


def _price_line(episode: PlayedEpisode, name: str, prices: Sequence[float]) -> Line:
    return Line(name, episode.world_ticks(len(prices)), prices)


def _ends(lines: Sequence[Line], axis: Axis) -> str:
    return "; ".join(
        f"{one.name}: from {axis.show(one.y[0])} to {axis.show(one.y[-1])}" for one in lines
    )
