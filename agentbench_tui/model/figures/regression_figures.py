"""Figures of a regressions document other than its verdicts, named and explained like metrics."""

from __future__ import annotations

from agentbench_tui.model.figures.metric import Metric

REGRESSION: dict[str, Metric] = {
    figure.name: figure
    for figure in (
        Metric(
            "overall_health",
            "0..100",
            "higher",
            "100 × (1 - mean loss of the benchmarks). Loss of a benchmark: Σ weight × loss ÷ "
            "Σ weight over its judged dimensions, weights as in the suite's overall score (all "
            "alike where none of them has any). Loss of a dimension: that of its worst metric, "
            "min(1, at_least ÷ what makes a regression critical): 25% for times, tokens, cost and "
            "rates, 10 points for shares. Only regressions lose anything; what could not be judged "
            "does not count.",
        ),
        Metric(
            "at_least",
            "share",
            "lower",
            "Size of a regression at the confidence bound: the end of the 95% interval of its "
            "change that is closest to no change. It decides between minor (below 10%, or 5 "
            "percentage points for shares), major (below 25%, 10 points) and critical.",
        ),
        Metric(
            "smallest_seen",
            "share",
            "lower",
            "The worsening that would have been found in 80% of such comparisons: without it "
            "“no regression” says nothing. Of a history within 8 runs.",
        ),
        Metric(
            "impact_weight",
            "share",
            "none",
            "Weight of the metric's dimension in the suite's overall score ÷ sum of the weights ÷ "
            "judged benchmarks of the suite: the share of the overall score that rests on it.",
        ),
        Metric(
            "share_of_cases",
            "share",
            "lower",
            "Cases that became worse - cases that became better, at least 0, over the cases that "
            "both sides answered. For times, tokens and cost: cases whose median is worse, or "
            "better, by the margin ÷ cases. For shares: Σ of the decrease, or increase, in the "
            "mean credit of cases ÷ cases, which is the share of the answers. Random changes go "
            "both ways and cancel out. If the cases represent what users ask, this is the share "
            "of affected users.",
        ),
        Metric(
            "per_day",
            "",
            "lower",
            "(Level now - level before, the worse way) × requests a day (--per-day): dollars, "
            "hours of waiting, answers that are wrong or fail, tokens.",
        ),
        Metric(
            "severity",
            "word",
            "none",
            "How bad a regression is, by at_least: minor below 10% (of shares 5 points), major "
            "below 25% (10 points), critical above, or when nothing is left.",
        ),
        Metric(
            "threshold",
            "share",
            "none",
            "The smallest change that matters (--threshold): 5% for times, tokens, cost and rates "
            "and 2 points for shares, unless you say otherwise. Between versions half of it "
            "counts; otherwise half of the changes of just that size would be missed.",
        ),
        Metric(
            "suspect",
            "word",
            "none",
            "Worse, but not proved: the newest run of a history, which further runs decide "
            "(--confirm); one run a version, which share no hour; or a newest run that says "
            "something else than the others of its version. Ends with exit status 3.",
        ),
    )
}
"""Figure → its meaning."""
SAID_OF_REGRESSIONS: dict[str, tuple[str, ...]] = {
    "at least": ("at_least",),
    "critical": ("severity",),
    "health": ("overall_health",),
    "impact": ("impact_weight", "share_of_cases", "per_day"),
    "major": ("severity",),
    "margin": ("threshold",),
    "minor": ("severity",),
    "touches": ("impact_weight", "share_of_cases", "per_day"),
    "would see": ("smallest_seen",),
}
"""Words of its tables and sentences → the figures that are meant."""
