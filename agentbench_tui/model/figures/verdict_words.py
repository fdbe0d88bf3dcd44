"""The words of comparisons, regressions and leaderboards, explained like metrics."""

from __future__ import annotations

from agentbench_tui.model.figures.metric import Metric

VERDICT_WORDS: dict[str, Metric] = {
    name: Metric(name, "word", "none", meaning)
    for name, meaning in {
        "better": "Of a comparison, about B: p below 5% after the adjustment for all tests, and a "
        "difference in the good direction of at least half the margin (5% of times, tokens and "
        "cost, 2 points of shares; --margin). `worse` is the same in the bad direction.",
        "equivalent": "The 90% interval of the difference lies within the margin (two one-sided "
        "tests at 5%): the data exclude any difference that matters.",
        "inconclusive": "Neither better, worse nor equivalent: the data leave room for both. "
        "`needs` is the number of cases, repeats or runs that would settle it.",
        "trade-off": "B is better in at least one metric and worse in at least one.",
        "tie": "Nothing better and nothing worse, or only gains while B seems to be less right by "
        "the margin and that is open. `tie, open` where a metric is inconclusive.",
        "regression": (
            "The newest runs are worse than the baseline or the history, by the rules of "
            "`agentbench regressions`: p below 1% after the adjustment, and by half the threshold"
            " between versions; in a history a run outside the prediction interval of the 20 "
            "before it, confirmed by the next two. Ends with exit status 1. `improvement` is the "
            "opposite."
        ),
        "no_change_seen": "Neither a regression nor an improvement was found; `would see` is the "
        "smallest one that would have been noticed with 80% probability.",
        "not_enough_data": "Too few runs or repeats, or a value is missing: the sentence below the "
        "table says what is needed. Ends with exit status 3.",
        "not_comparable": "What was measured differs in more than the version: cases, scorers, "
        "limits, load or, for times, the machine. Ends with exit status 3.",
        "no-regression": (
            "The gate `--fail-on no-regression`: the execution is not a regression by the rules "
            "of `agentbench regressions`; `no-regression(accuracy,e2e_ms.p50)` judges only these "
            "metrics. Without data it ends with exit status 3."
        ),
        "p": "The chance of a difference at least as large if both were equal. `p` of a table is "
        "adjusted for all that was tested together: by Holm for the main metrics of a benchmark, "
        "by Benjamini and Hochberg for a scan.",
        "iqm": "Interquartile mean: the mean of the middle half of the values.",
    }.items()
}
"""Term → its meaning."""
SAID_OF_VERDICTS: dict[str, tuple[str, ...]] = {
    "improvement": ("regression",),
    "no regression": ("no_change_seen", "no-regression"),
    "tie, open": ("tie",),
    "worse": ("better",),
}
"""Other terms → those that explain them."""
