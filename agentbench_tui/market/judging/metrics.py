"""All metrics of an episode: pure functions of what happened, the world, and its truth.

Money is in dollars. A metric that cannot be had is None, and `missing` says why.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agentbench_tui.analysis.intervals.interval import wilson
from agentbench_tui.market.judging.fair import fair_value, reference
from agentbench_tui.market.judging.forecasts import score, stated
from agentbench_tui.market.judging.foresight_evidence import foresight_log10
from agentbench_tui.market.judging.oracle import hindsight
from agentbench_tui.market.play.signals import followed
from agentbench_tui.market.world.world import DOLLAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.market.play.episode import Episode
    from agentbench_tui.market.world.truth import Truth
    from agentbench_tui.market.world.world import World

Values = dict[str, Any]
Missing = dict[str, str]


@dataclass(frozen=True, slots=True)
class Metrics:
    """Metrics of an episode, by name; see docs/market.md for each."""

    values: Values
    """A number, None, or an object of numbers (`response_ms`, `perp_win_rate_interval`)."""
    missing: Missing
    """Why a value is None, by name."""


@dataclass(frozen=True, slots=True)
class Attainable:
    """Attainable profit in a world: the same for all its episodes."""

    hindsight: float
    """Dollars, knowing everything."""
    fair: float
    """Dollars on average, knowing fair values."""


def attainable(world: World, truth: Truth) -> Attainable:
    """Return the attainable profit of both oracles of a world."""
    return Attainable(hindsight(world, truth.outcomes).gain, reference(world, truth).value)


def measure(
    episode: Episode, world: World, truth: Truth, could: Attainable | None = None
) -> Metrics:
    """Return every metric of an episode. Pass `could` to reuse the oracles of a world."""
    values: Values = {}
    missing: Missing = {}
    could = could or attainable(world, truth)
    for part in (
        _money(episode),
        _optimality(episode, world, truth, could),
        _accuracy(episode),
        _win_rate(episode),
        _forecasts(episode, world, truth),
        _foresight(episode, world, truth),
        _risk(episode),
        _social(episode, world, truth),
        _conduct(episode),
    ):
        found, reasons = part
        values |= found
        missing |= reasons
    return Metrics(values, missing)


def _money(episode: Episode) -> tuple[Values, Missing]:
    initial = episode.initial / DOLLAR
    shares = sum(abs(trade.money) for trade in episode.trades)
    notional = sum(_traded_notional(episode))
    fees = sum(trade.fee for trade in episode.trades)
    fees += sum(trade.fees for trade in episode.perp_trades)
    pnl = episode.pnl / DOLLAR
    perp_pnl = sum(trade.pnl for trade in episode.perp_trades) / DOLLAR
    return {
        "total_pnl": pnl,
        "pnl_percent": pnl / initial * 100.0,
        "prediction_pnl": pnl - perp_pnl,
        "perp_pnl": perp_pnl,
        "turnover": (shares + notional) / DOLLAR / initial,
        "fees": fees / DOLLAR,
        "funding": sum(trade.funding for trade in episode.perp_trades) / DOLLAR,
        "share_trades": len(episode.trades),
        "perp_trades": len(episode.perp_trades),
        "liquidations": sum(trade.ended == "liquidated" for trade in episode.perp_trades),
    }, {}


def _traded_notional(episode: Episode) -> list[int]:
    """Return micro-dollars of each opening and closing."""
    opened = [trade.size for trade in episode.perp_trades]
    closed = [trade.size * trade.exit // trade.entry for trade in episode.perp_trades]
    return opened + closed


def _optimality(
    episode: Episode, world: World, truth: Truth, could: Attainable
) -> tuple[Values, Missing]:
    """Return the shares of the attainable profit as plain ratios, since holding earns 0."""
    worth = fair_value(episode, world, truth)
    values: Values = {
        "fair_pnl": worth,
        "hindsight_pnl": could.hindsight,
        "reference_pnl": could.fair,
        "optimality": None,
        "optimality_fair": None,
    }
    missing = {}
    nothing = "nothing could be won in this world"
    if could.hindsight > 0.0:
        values["optimality"] = episode.pnl / DOLLAR / could.hindsight
    else:
        missing["optimality"] = nothing
    if could.fair > 0.0:
        values["optimality_fair"] = worth / could.fair
    else:
        missing["optimality_fair"] = nothing
    return values, missing


def _accuracy(episode: Episode) -> tuple[Values, Missing]:
    """Return the share of resolved markets whose outcome was the side with more shares."""
    sided = [each for each in episode.settlements if each.yes != each.no]
    right = sum((each.yes > each.no) == each.outcome for each in sided)
    values: Values = {
        "prediction_accuracy": right / len(sided) if sided else None,
        "positions_resolved": len(sided),
    }
    reasons = {} if sided else {"prediction_accuracy": "no shares were held at a resolution"}
    return values, reasons


def _win_rate(episode: Episode) -> tuple[Values, Missing]:
    """Return the share of perpetual positions that won after fees and funding, with Wilson's
    interval.
    """
    count = len(episode.perp_trades)
    wins = sum(trade.pnl > 0 for trade in episode.perp_trades)
    interval = wilson(wins, count)
    if interval is None:
        none = "no position in a perpetual was opened"
        names = ("perp_win_rate", "perp_win_rate_interval")
        return dict.fromkeys(names), dict.fromkeys(names, none)
    return {
        "perp_win_rate": wins / count,
        "perp_win_rate_interval": {"low": interval.low, "high": interval.high},
    }, {}


def _forecasts(episode: Episode, world: World, truth: Truth) -> tuple[Values, Missing]:
    said = stated(episode, world, truth.outcomes)
    names = (
        *("brier", "brier_reliability", "brier_resolution", "brier_uncertainty"),
        *("brier_within_bins", "log_score", "ece", "brier_market", "brier_skill"),
    )
    if said is None:
        values: Values = {**dict.fromkeys(names), "forecast_coverage": 0.0}
        return values, dict.fromkeys(names, "no forecast was submitted")
    own = asdict(score(said.probability, said.outcome, said.weight))
    market = score(said.price, said.outcome, said.weight).brier
    values = {
        "brier": own["brier"],
        **{f"brier_{part}": own[part] for part in ("reliability", "resolution", "uncertainty")},
        "brier_within_bins": own["within_bins"],
        "log_score": own["log_score"],
        "ece": own["ece"],
        "brier_market": market,
        "brier_skill": 1.0 - own["brier"] / market,
        "forecast_coverage": said.coverage,
    }
    return values, {}


def _foresight(episode: Episode, world: World, truth: Truth) -> tuple[Values, Missing]:
    markets, evidence = foresight_log10(episode, world, truth)
    return {"forecast_markets": markets, "foresight_log10": evidence}, {}


def _risk(episode: Episode) -> tuple[Values, Missing]:
    """Return the deepest drawdown of the equity curve, and the mean over the deviation of its
    changes.

    Sharpe is of the whole episode (mean over deviation of a tick's return, times the square root
    of their number), not of a year: a year of half-hours would be a number without meaning.
    """
    equity = np.array(episode.equity, dtype=np.float64) / DOLLAR
    peaks = np.maximum.accumulate(equity)
    falls = peaks - equity
    values: Values = {
        "max_drawdown": float((falls / peaks).max()),
        "max_drawdown_usd": float(falls.max()),
        "sharpe": None,
    }
    if equity.min() <= 0.0:
        return values, {"sharpe": "all money was lost"}
    returns = equity[1:] / equity[:-1] - 1.0
    deviation = float(returns.std(ddof=1)) if len(returns) > 1 else 0.0
    if deviation == 0.0:
        return values, {"sharpe": "equity never changed"}
    values["sharpe"] = float(returns.mean()) / deviation * math.sqrt(len(returns))
    return values, {}


def _social(episode: Episode, world: World, truth: Truth) -> tuple[Values, Missing]:
    """Return engagement (count of the agent's activity) and value (profit of positions on the
    side of signals).
    """
    counts = Counter(call.method for call in episode.calls if call.code == 0)
    acted = followed(episode, world, truth.outcomes)
    values: Values = {
        "posts_created": counts["a2a.createPost"],
        "groups_joined": len(episode.joined),
        "feed_reads": counts["a2a.getFeed"] + counts["a2a.getChats"],
        "signals_followed": acted.signals,
        "signal_precision": acted.right / acted.signals if acted.signals else None,
        "social_value": acted.gain if acted.signals else None,
    }
    values["social_engagement"] = sum(
        values[name] for name in ("posts_created", "groups_joined", "feed_reads")
    )
    if acted.signals:
        return values, {}
    none = "no position followed a post or message"
    return values, {"signal_precision": none, "social_value": none}


def _conduct(episode: Episode) -> tuple[Values, Missing]:
    """Return response times, and errors of the agent's calls."""
    invalid = sum(call.code != 0 for call in episode.calls)
    total = len(episode.calls) + episode.dropped_calls
    values: Values = {
        "response_ms": _percentiles(episode.waits_s),
        "turn_ms": _percentiles(episode.turns_s),
        "timeouts": len(episode.timeouts),
        "calls": total,
        "invalid_calls": invalid + episode.dropped_calls,
        "invalid_rate": (invalid + episode.dropped_calls) / total if total else None,
    }
    missing = {} if total else {"invalid_rate": "no call was made"}
    for name in ("response_ms", "turn_ms"):
        if values[name] is None:
            missing[name] = "no observation was handed to the agent"
    return values, missing


def _percentiles(seconds: Sequence[float]) -> dict[str, float] | None:
    if not seconds:
        return None
    p50, p95, p99 = np.quantile(np.array(seconds) * 1_000.0, (0.5, 0.95, 0.99)).tolist()
    return {"p50": p50, "p95": p95, "p99": p99}
