"""Metrics of episodes of a market world, averaged over the worlds; see docs/market.md."""

from __future__ import annotations

from agentbench_tui.model.figure import Metric

_MEAN = " Mean over the episodes; interval clustered by world."

MARKET_METRICS: dict[str, Metric] = {
    one.name: one
    for one in (
        Metric(
            "total_pnl",
            "USD",
            "higher",
            "Equity at the end minus equity at the start: markets pay 1 for a winning share, "
            "perpetuals are closed at the last mark; fees and funding are paid." + _MEAN,
        ),
        Metric("pnl_percent", "%", "higher", "total_pnl ÷ equity at the start × 100." + _MEAN),
        Metric(
            "optimality",
            "ratio",
            "higher",
            "(P&L − P&L of holding) ÷ (P&L of the oracle that knows the future − P&L of holding) "
            "in the same world. Negative for an agent that loses money." + _MEAN,
        ),
        Metric(
            "optimality_fair",
            "ratio",
            "higher",
            "The same against the Bayes agent, which knows fair probabilities but no outcome: what "
            "is attainable. The credit of an episode is this, cut to 0..1." + _MEAN,
        ),
        Metric(
            "prediction_accuracy",
            "share",
            "higher",
            "Markets whose outcome the agent's net shares were on ÷ resolved markets that it held "
            "shares of." + _MEAN,
        ),
        Metric(
            "perp_win_rate",
            "share",
            "higher",
            "Perpetual positions closed with a profit after fees and funding ÷ closed." + _MEAN,
        ),
        Metric(
            "brier",
            "score",
            "lower",
            "Mean of (stated probability − outcome)² over forecasts; saying 0.5 always gives "
            "0.25." + _MEAN,
        ),
        Metric(
            "log_score",
            "nats",
            "lower",
            "Mean of −ln of the probability that was given to what happened." + _MEAN,
        ),
        Metric(
            "ece",
            "share",
            "lower",
            "Expected calibration error: |mean forecast − share of YES| in ten bins, weighted by "
            "how many forecasts each has." + _MEAN,
        ),
        Metric(
            "max_drawdown",
            "share",
            "lower",
            "Largest fall of the equity curve from a peak ÷ that peak." + _MEAN,
        ),
        Metric(
            "sharpe",
            "ratio",
            "higher",
            "Mean ÷ standard deviation of the equity's change from tick to tick × √ticks." + _MEAN,
        ),
        Metric("turnover", "USD", "none", "Money of all trades, both ways." + _MEAN),
        Metric("fees", "USD", "lower", "Fees paid." + _MEAN),
        Metric("liquidations", "positions", "lower", "Positions liquidated." + _MEAN),
        Metric(
            "social_value",
            "USD",
            "higher",
            "P&L of trades in the direction of a post or message that the agent had read." + _MEAN,
        ),
        Metric("timeouts", "turns", "lower", "Turns that were lost by answering late." + _MEAN),
        Metric("invalid_calls", "calls", "lower", "Calls that the market refused." + _MEAN),
    )
}
"""What the game `market` adds to the metrics of a task."""
