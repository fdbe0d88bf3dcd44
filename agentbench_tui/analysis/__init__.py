"""Statistics as pure functions on arrays, independent of files, stores and agents.

    from agentbench_tui.analysis import bca_interval, holm, sign_flip_test

Every function below is imported, with numpy, when it is first asked for: importing the package
costs nothing. `docs/analysis.md` lists them. Columns are anything that numpy takes for float64[n];
NaN and infinity are refused by ValueError, and None means that the values cannot tell.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentbench_tui.analysis.boards.cost_efficiency import (
        CostFigures,
        configurations,
        cost_figures,
    )
    from agentbench_tui.analysis.boards.pareto import dominance, pareto_front
    from agentbench_tui.analysis.boards.rating import Ratings, bradley_terry, expected_score
    from agentbench_tui.analysis.boards.task_aggregate import (
        Profile,
        aggregate,
        bootstrap_aggregate,
        bootstrap_aggregate_difference,
        performance_profile,
        probability_of_improvement,
    )
    from agentbench_tui.analysis.differences.assumption_checks import (
        GoodnessTest,
        ks_2samp,
        levene,
        shapiro,
    )
    from agentbench_tui.analysis.differences.difference_verdict import verdict
    from agentbench_tui.analysis.differences.effect_size import (
        cliffs_delta,
        cohens_d,
        dz,
        geometric_ratio,
        hedges_g,
        pearson,
        probability_of_superiority,
    )
    from agentbench_tui.analysis.differences.equivalence import (
        Equivalence,
        power_equivalence,
        tost,
        tost_difference,
        tost_ratio,
        values_needed,
    )
    from agentbench_tui.analysis.differences.multiplicity import (
        benjamini_hochberg,
        benjamini_yekutieli,
        bonferroni,
        hochberg_simes,
        holm,
        weighted_holm,
    )
    from agentbench_tui.analysis.differences.paired_effect import (
        Effect,
        difference_effect,
        ratio_effect,
        unpaired_difference_effect,
        unpaired_ratio_effect,
    )
    from agentbench_tui.analysis.differences.rank import (
        BrunnerMunzelTest,
        RankTest,
        brunner_munzel,
        mann_whitney,
    )
    from agentbench_tui.analysis.differences.signed_rank import SignedRankTest, wilcoxon
    from agentbench_tui.analysis.differences.student import TTest, paired_t, student_t, welch
    from agentbench_tui.analysis.groups.components import (
        PairingGain,
        SeedSplit,
        TwoLevel,
        pairing_gain,
        seed_split,
        two_level,
    )
    from agentbench_tui.analysis.groups.main_effect import LevelEffect, SweepCell, main_effects
    from agentbench_tui.analysis.intervals.effective_number import bounded_mean
    from agentbench_tui.analysis.intervals.estimate import Estimate, quantile_estimate
    from agentbench_tui.analysis.intervals.interval import (
        Interval,
        clustered_mean,
        clustered_se,
        quantile_interval,
        ratio_of_sums,
        t_log_interval,
        t_mean,
        wilson,
        zero_event_upper,
    )
    from agentbench_tui.analysis.intervals.proportion import (
        agresti_coull,
        clopper_pearson,
        jeffreys,
        mcnemar_exact,
        newcombe,
        newcombe_paired,
        paired_shares,
    )
    from agentbench_tui.analysis.intervals.quantiles import quantile_estimates, weighted_quantiles
    from agentbench_tui.analysis.intervals.ratio_of_totals import group_totals, paired_totals
    from agentbench_tui.analysis.intervals.skewed_amount import skewed_mean
    from agentbench_tui.analysis.learning_curve import MeanCurve, auc, last_n, mean_curve, slope
    from agentbench_tui.analysis.load.level_verdict import (
        Check,
        LevelVerdict,
        Limits,
        design_effect,
        judge_level,
        requests_needed,
        windows_check,
    )
    from agentbench_tui.analysis.load.resilience import (
        Overall,
        Recovery,
        Resilience,
        overall,
        quality,
        recovery,
        resilience_score,
    )
    from agentbench_tui.analysis.load.scalability import Scaling, fit_usl
    from agentbench_tui.analysis.power import (
        RatioSize,
        SampleSize,
        power_mcnemar,
        power_paired,
        power_two_sample,
        sample_size_mcnemar,
        sample_size_paired,
        sample_size_proportions,
        sample_size_ratio,
        sample_size_two_sample,
        smallest_detectable_paired,
        smallest_detectable_two_sample,
    )
    from agentbench_tui.analysis.resampling.bootstrap import (
        bca_interval,
        bootstrap_difference,
        bootstrap_mean,
        bootstrap_median_ratio,
        bootstrap_paired_difference,
        bootstrap_paired_ratio,
        bootstrap_ratio,
        bootstrap_ratio_of_means,
    )
    from agentbench_tui.analysis.resampling.permutation import (
        PermutationTest,
        permutation_test,
        sign_flip_test,
    )
    from agentbench_tui.analysis.resampling.resampling import Bootstrap, Resampling
    from agentbench_tui.analysis.runs.change_point import Change, changes, e_divisive, locate
    from agentbench_tui.analysis.runs.history_gate import HistoryTest, judge_history
    from agentbench_tui.analysis.runs.severity import least_worsening
    from agentbench_tui.analysis.runs.trend import Trend, trend_line
    from agentbench_tui.analysis.runs.variance import (
        Precision,
        PrecisionCurve,
        RunsNeeded,
        half_width_curve,
        precision_n,
        runs_needed,
    )
    from agentbench_tui.analysis.runs.version_gate import VersionTest, compare_versions
    from agentbench_tui.analysis.scale import Scale
    from agentbench_tui.analysis.summary import (
        Drift,
        Summary,
        drift,
        effective_sample_size,
        iqm,
        lag1_autocorrelation,
        pass_at_k,
        pass_hat_k,
        precision_reached,
        quantile,
        summarize,
    )

_TABLE = """
resampling.bootstrap          bca_interval bootstrap_difference bootstrap_mean
resampling.bootstrap          bootstrap_median_ratio bootstrap_paired_difference
resampling.bootstrap          bootstrap_paired_ratio bootstrap_ratio bootstrap_ratio_of_means
runs.change_point             Change changes e_divisive locate
groups.components             PairingGain SeedSplit TwoLevel pairing_gain seed_split two_level
boards.cost_efficiency        CostFigures configurations cost_figures
differences.effect_size       cliffs_delta cohens_d dz geometric_ratio hedges_g pearson
differences.effect_size       probability_of_superiority
intervals.effective_number    bounded_mean
differences.equivalence       Equivalence power_equivalence tost tost_difference tost_ratio
differences.equivalence       values_needed
intervals.estimate            Estimate quantile_estimate
differences.difference_verdict verdict
differences.assumption_checks GoodnessTest ks_2samp levene shapiro
runs.history_gate             HistoryTest judge_history
intervals.interval            Interval clustered_mean clustered_se quantile_interval ratio_of_sums
intervals.interval            t_log_interval t_mean wilson zero_event_upper
learning_curve                MeanCurve auc last_n mean_curve slope
load.level_verdict            Check LevelVerdict Limits design_effect judge_level requests_needed
load.level_verdict            windows_check
groups.main_effect            LevelEffect SweepCell main_effects
differences.multiplicity      benjamini_hochberg benjamini_yekutieli bonferroni hochberg_simes holm
differences.multiplicity      weighted_holm
differences.paired_effect     Effect difference_effect ratio_effect unpaired_difference_effect
differences.paired_effect     unpaired_ratio_effect
boards.pareto                 dominance pareto_front
resampling.permutation        PermutationTest permutation_test sign_flip_test
power                         RatioSize SampleSize power_mcnemar power_paired power_two_sample
power                         sample_size_mcnemar sample_size_paired sample_size_proportions
power                         sample_size_ratio sample_size_two_sample smallest_detectable_paired
power                         smallest_detectable_two_sample
intervals.proportion          agresti_coull clopper_pearson jeffreys mcnemar_exact newcombe
intervals.proportion          newcombe_paired paired_shares
intervals.quantiles           quantile_estimates weighted_quantiles
differences.rank              BrunnerMunzelTest RankTest brunner_munzel mann_whitney
boards.rating                 Ratings bradley_terry expected_score
intervals.ratio_of_totals     group_totals paired_totals
resampling.resampling         Bootstrap Resampling
load.resilience               Overall Recovery Resilience overall quality recovery resilience_score
load.scalability              Scaling fit_usl
scale                         Scale
runs.severity                 least_worsening
differences.signed_rank       SignedRankTest wilcoxon
intervals.skewed_amount       skewed_mean
differences.student           TTest paired_t student_t welch
summary                       Drift Summary drift effective_sample_size iqm lag1_autocorrelation
summary                       pass_at_k pass_hat_k precision_reached quantile summarize
boards.task_aggregate         Profile aggregate bootstrap_aggregate bootstrap_aggregate_difference
boards.task_aggregate         performance_profile probability_of_improvement
runs.trend                    Trend trend_line
runs.variance                 Precision PrecisionCurve RunsNeeded half_width_curve precision_n
runs.variance                 runs_needed
runs.version_gate             VersionTest compare_versions
"""
_MODULES = {
    name: line.split()[0] for line in _TABLE.strip().splitlines() for name in line.split()[1:]
}
"""Name → the module that has it."""
_FORMER = {"summarise": "summarize"}
"""Former name → name: the former one still works."""

__all__ = [
    "Bootstrap", "BrunnerMunzelTest", "Change", "Check", "CostFigures", "Drift", "Effect",
    "Equivalence", "Estimate", "GoodnessTest", "HistoryTest", "Interval", "LevelEffect",
    "LevelVerdict", "Limits", "MeanCurve", "Overall", "PairingGain", "PermutationTest", "Precision",
    "PrecisionCurve", "Profile", "RankTest", "Ratings", "RatioSize", "Recovery", "Resampling",
    "Resilience", "RunsNeeded", "SampleSize", "Scale", "Scaling", "SeedSplit", "SignedRankTest",
    "Summary", "SweepCell", "TTest", "Trend", "TwoLevel", "VersionTest", "aggregate",
    "agresti_coull", "auc", "bca_interval", "benjamini_hochberg", "benjamini_yekutieli",
    "bonferroni", "bootstrap_aggregate", "bootstrap_aggregate_difference", "bootstrap_difference",
    "bootstrap_mean", "bootstrap_median_ratio", "bootstrap_paired_difference",
    "bootstrap_paired_ratio", "bootstrap_ratio", "bootstrap_ratio_of_means", "bounded_mean",
    "bradley_terry", "brunner_munzel", "changes", "cliffs_delta", "clopper_pearson",
    "clustered_mean", "clustered_se", "cohens_d", "compare_versions", "configurations",
    "cost_figures", "design_effect", "difference_effect", "dominance", "drift", "dz", "e_divisive",
    "effective_sample_size", "expected_score", "fit_usl", "geometric_ratio", "group_totals",
    "half_width_curve", "hedges_g", "hochberg_simes", "holm", "iqm", "jeffreys", "judge_history",
    "judge_level", "ks_2samp", "lag1_autocorrelation", "last_n", "least_worsening", "levene",
    "locate", "main_effects", "mann_whitney", "mcnemar_exact", "mean_curve", "newcombe",
    "newcombe_paired", "overall", "paired_shares", "paired_t", "paired_totals", "pairing_gain",
    "pareto_front", "pass_at_k", "pass_hat_k", "pearson", "performance_profile", "permutation_test",
    "power_equivalence", "power_mcnemar", "power_paired", "power_two_sample", "precision_n",
    "precision_reached", "probability_of_improvement", "probability_of_superiority", "quality",
    "quantile", "quantile_estimate", "quantile_estimates", "quantile_interval", "ratio_effect",
    "ratio_of_sums", "recovery", "requests_needed", "resilience_score", "runs_needed",
    "sample_size_mcnemar", "sample_size_paired", "sample_size_proportions", "sample_size_ratio",
    "sample_size_two_sample", "seed_split", "shapiro", "sign_flip_test", "skewed_mean", "slope",
    "smallest_detectable_paired", "smallest_detectable_two_sample", "student_t", "summarize",
    "t_log_interval", "t_mean", "tost", "tost_difference", "tost_ratio", "trend_line", "two_level",
    "unpaired_difference_effect", "unpaired_ratio_effect", "values_needed", "verdict",
    "weighted_holm", "weighted_quantiles", "welch", "wilcoxon", "wilson", "windows_check",
    "zero_event_upper",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    name = _FORMER.get(name, name)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found  # so that it is looked up once
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
