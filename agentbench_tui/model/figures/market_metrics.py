"""Metrics of episodes of a market world, averaged over the episodes; see docs/market.md."""

from __future__ import annotations

from agentbench_tui.model.figures.figure import Direction, Metric

_MEAN = " Mean over the episodes of market worlds; interval clustered by world."


def _metric(name: str, unit: str, direction: Direction, formula: str) -> Metric:
    return Metric(name, unit, direction, formula + _MEAN)


_ALL = (
    _metric(
        "total_pnl",
        "USD",
        "higher",
        "Equity at the end − money at the start. Winning shares pay 1 dollar, perpetuals are closed"
        " at the last mark; fees and funding are paid.",
    ),
    _metric("pnl_percent", "%", "higher", "total_pnl ÷ money at the start × 100."),
    _metric(
        "prediction_pnl", "USD", "higher", "The part of total_pnl that is of prediction markets."
    ),
    _metric("perp_pnl", "USD", "higher", "The part of total_pnl that is of perpetuals."),
    _metric(
        "optimality",
        "ratio",
        "higher",
        "total_pnl ÷ the profit of the exact oracle, which knows everything that will happen. "
        "Holding has 0; a loss is below 0. No agent can reach 1.",
    ),
    _metric(
        "optimality_fair",
        "ratio",
        "higher",
        "What the trades were worth when they were made, by fair values and after fees and funding"
        " ÷ what the policy is worth that knows fair values but no outcome. So luck counts"
        " neither way. The credit of an episode is this, cut to 0..1.",
    ),
    _metric(
        "prediction_accuracy",
        "share",
        "higher",
        "Share of the resolved markets that the side won of which the agent held more shares.",
    ),
    _metric(
        "perp_win_rate",
        "share",
        "higher",
        "Of the positions in perpetuals, those that won money after fees and funding.",
    ),
    _metric(
        "brier",
        "score",
        "lower",
        "Mean of (stated probability − outcome)² while a forecast was in force; 0.25 for always "
        "stating 0.5.",
    ),
    _metric("brier_skill", "ratio", "higher", "1 − brier ÷ that of the prices of the same time."),
    _metric(
        "log_score",
        "nats",
        "lower",
        "Mean of −ln of the probability that was stated for what happened.",
    ),
    _metric(
        "ece",
        "share",
        "lower",
        "Expected calibration error: |mean forecast − share of YES| by bins of the forecast, "
        "weighted by the number of forecasts in each.",
    ),
    _metric("max_drawdown", "share", "lower", "Deepest fall of equity from a peak ÷ that peak."),
    _metric(
        "sharpe",
        "ratio",
        "higher",
        "Mean ÷ standard deviation of a tick's return × √ticks: of the episode, not of a year.",
    ),
    _metric("turnover", "ratio", "none", "Money of all trades, both ways ÷ money at the start."),
    _metric("fees", "USD", "lower", "Fees paid."),
    _metric("liquidations", "positions", "lower", "Positions in perpetuals that were liquidated."),
    _metric(
        "social_value",
        "USD",
        "higher",
        "Gain of positions over those held before, tick by tick and without fees, for changes "
        "toward a recent post or message that the agent could see.",
    ),
    _metric(
        "signal_precision",
        "share",
        "higher",
        "Of the posts and messages that were followed so, the share with which money was gained.",
    ),
    _metric(
        "social_engagement",
        "calls",
        "none",
        "Posts written, groups joined, and looks at feed and chats: activity, not value.",
    ),
    _metric(
        "response_p50_ms", "ms", "lower", "Median time of an answer at the boundary, per episode."
    ),
    _metric("response_p95_ms", "ms", "lower", "95th percentile of the same."),
    _metric("response_p99_ms", "ms", "lower", "99th percentile of the same."),
    _metric("timeouts", "turns", "lower", "Turns that were lost by being late."),
    _metric("invalid_calls", "calls", "lower", "Calls that the market refused."),
)

MARKET_METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
"""Metrics of the game `market`, in addition to those of a task."""

FORESIGHT = Metric(
    "foresight_evidence",
    "log10",
    "none",
    "log10 of the wealth of a gambler who starts with 1 dollar and bets according to the "
    "forecasts, at fair odds, on every move of the fair probabilities: product over ticks of 0.01"
    " + 0.99 × (q p′ ÷ p + (1 − q) (1 − p′) ÷ (1 − p)) for forecast q and fair probabilities p "
    "now and p′ next; the first episode of each seed and salt. Without knowledge of outcomes it "
    "reaches x with probability 10^−x at most; from 6 on the agent is flagged.",
)
"""Metric of a whole execution: evidence accumulates, so a mean over episodes would be
meaningless.
"""
