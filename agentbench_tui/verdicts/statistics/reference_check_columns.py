"""Checks reference results about two columns: figures, intervals, tests, effect sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from agentbench_tui.analysis.differences import effect_size
from agentbench_tui.analysis.differences.alternative import Alternative
from agentbench_tui.analysis.differences.assumption_checks import (
    GoodnessTest,
    ks_2samp,
    levene,
    shapiro,
)
from agentbench_tui.analysis.differences.rank import RankMethod, brunner_munzel, mann_whitney
from agentbench_tui.analysis.differences.signed_rank import SignedRankTest, wilcoxon
from agentbench_tui.analysis.differences.student import TTest, paired_t, student_t, welch
from agentbench_tui.analysis.distribution import binomial_cdf
from agentbench_tui.analysis.intervals.interval import Interval, order_ranks, t_log_interval, t_mean
from agentbench_tui.analysis.resampling import bootstrap as resampled
from agentbench_tui.analysis.resampling.permutation import permutation_test, sign_flip_test
from agentbench_tui.analysis.resampling.resampling import (
    Bootstrap,
    Method,
    Resampling,
    bias_correction,
    ends,
)
from agentbench_tui.analysis.sample import Floats
from agentbench_tui.analysis.summary import MAD_TO_SD, iqm, quantile, summarize
from agentbench_tui.verdicts.statistics.reference_sheet import (
    APPROXIMATED,
    EXACT,
    Missing,
    Rule,
    Sheet,
)

_COLUMNS = {"A": "A_control", "B": "B_candidate"}
_METHODS: dict[str, Method] = {"BCa": "bca", "percentile": "percentile"}
_WIDTHS = re.compile(r"within (\d+(?:\.\d+)?) ?%.*?for means, (\d+(?:\.\d+)?) ?% for medians")
_USUAL_WIDTHS = (3.0, 10.0)
"""Default tolerance in percent of the interval's width, for means and for medians."""


def descriptive(sheet: Sheet, inputs: Mapping[str, Any]) -> None:
    """Check the figures of each column."""
    for name, part in sheet.parts():
        x = _column(inputs, name)
        figures = summarize(x)
        if figures is None:
            raise Missing(f"inputs.{_COLUMNS.get(name, name)} is empty")
        for key, value in {
            "n": figures.n,
            "mean": figures.mean,
            "sd_ddof1": figures.sd,
            "cv": figures.cv,
            "median": figures.median,
            "mad_raw": figures.mad / MAD_TO_SD,
            "mad_normal_scaled": figures.mad,
            "geomean": figures.geometric_mean,
            "iqm_scipy_trim25": iqm(x),
            "iqm": iqm(x),
            "min": figures.min,
            "max": figures.max,
        }.items():
            part.same(key, value)
        shares = part.part("quantiles_numpy_linear")
        for share in shares.names() if shares else []:
            assert shares is not None
            shares.check(share, quantile, x, float(share))
        for key in part.names():
            if match := re.fullmatch(r"t(\d+)_ci_(mean|log.*|geomean)", key):
                found = t_mean if match[2] == "mean" else t_log_interval
                part.same(key, _ends(found(x, _level(match[1]))))


def median_interval(sheet: Sheet, inputs: Mapping[str, Any]) -> None:
    """Check the order statistics around the median, and their coverage."""
    for name in sheet.names():
        if name in _COLUMNS:
            sheet.check(name, _median_interval, np.sort(_column(inputs, name)))


def _median_interval(x: Floats) -> list[float]:
    ranks = order_ranks(x.size, 0.5, 0.95)
    if ranks is None:
        raise ValueError(f"{x.size} values are too few for an interval of the median")
    low, high = ranks
    covered = binomial_cdf(high - 1, x.size, 0.5) - binomial_cdf(low - 1, x.size, 0.5)
    return [float(x[low - 1]), float(x[high - 1]), covered]


def bootstrap(sheet: Sheet, inputs: Mapping[str, Any]) -> None:
    """Check the ends of bootstrap intervals, within what chance leaves open."""
    match = _WIDTHS.search(sheet.words("_method"))
    means, medians = map(float, match.groups()) if match else _USUAL_WIDTHS
    unsteady = sheet.words("_warning")
    for name in sheet.names():
        kind = name.rpartition("_")[2]
        if kind not in _METHODS:
            continue
        if re.fullmatch(r"median_[AB]_.*", name):
            reason = "the file says not to test it" if name in unsteady else "not offered"
            sheet.skip(name, f"{reason}: bootstrap ends of a median are unstable")
            continue
        part = sheet.part(name)
        if part is None:
            continue
        is_median = "median" in name
        share = (medians if is_median else means) / 100
        note = "BCa of medians is for this check alone: commands give percentile ends"
        for key in part.names():
            if found := re.fullmatch(r"ci(\d+).*", key):
                theirs = part.given(key)
                width = float(theirs[1]) - float(theirs[0])
                part.check(
                    key,
                    _ends_of,
                    name,
                    inputs,
                    Resampling(level=_level(found[1]), method=_METHODS[kind], at_least=2),
                    rule=Rule("monte carlo", share * width, relative=False),
                    note=note if is_median and kind == "BCa" else "",
                )


def _ends_of(name: str, inputs: Mapping[str, Any], how: Resampling) -> list[float]:
    found: Bootstrap | None
    if match := re.fullmatch(r"mean_([AB])_.*", name):
        return _ends_found(resampled.bootstrap_mean(_column(inputs, match[1]), how))
    if match := re.fullmatch(r"geo(?:metric_)?mean_([AB])_.*", name):
        logs = resampled.bootstrap_mean(resampled.logs(_column(inputs, match[1])), how)
        return [math.exp(end) for end in _ends_found(logs)]
    a, b = _column(inputs, "A"), _column(inputs, "B")
    words = set(name.split("_"))
    paired = "paired" in words
    if not paired and "unpaired" not in words:
        raise ValueError("a statistic that is not offered")
    if "difference" in words and "mean" in words:
        of = resampled.bootstrap_paired_difference if paired else resampled.bootstrap_difference
        found = of(a, b, how)
    elif "ratio" not in words:
        raise ValueError("a statistic that is not offered")
    elif "median" in words and not paired:
        found = resampled.bootstrap_median_ratio(a, b, how)
        if how.method == "bca" and found is not None:
            return _bca_ends(found, a, b, how)
    elif words & {"geometric", "geomean"}:
        found = (resampled.bootstrap_paired_ratio if paired else resampled.bootstrap_ratio)(
            a, b, how
        )
    elif words & {"mean", "means", "sums", "totals"}:
        found = resampled.bootstrap_ratio_of_means(a, b, how, paired=paired)
    else:
        raise ValueError("a statistic that is not offered")
    return _ends_found(found)


def _ends_found(found: Bootstrap | None) -> list[float]:
    return _ends(None if found is None else found.interval)


def _bca_ends(found: Bootstrap, a: Floats, b: Floats, how: Resampling) -> list[float]:
    """Return BCa ends of the ratio of medians, for which commands use percentile ends, since BCa is
    unstable there; z0 and the ends as for means, with the jackknife's acceleration over both
    columns.
    """
    closeness = resampled.CLOSENESS * abs(found.estimate)
    bias = bias_correction(found.resampled, found.estimate, closeness)
    left_out = [
        np.array([np.median(b) / np.median(np.delete(a, at)) for at in range(a.size)]),
        np.array([np.median(np.delete(b, at)) / np.median(a) for at in range(b.size)]),
    ]
    influences = [(one.size - 1) * (one.mean() - one) / one.size for one in left_out]
    cubes = sum(float((one**3).sum()) for one in influences)
    squares = sum(float((one**2).sum()) for one in influences)
    acceleration = cubes / (6 * squares**1.5) if squares else 0.0
    return list(ends(found.resampled, how, bias, acceleration))


def tests(sheet: Sheet, inputs: Mapping[str, Any]) -> None:
    """Check tests of B against A; differences are B - A."""
    a, b = _column(inputs, "A"), _column(inputs, "B")
    for name, part in sheet.parts():
        if name.startswith("permutation_exact_signflip"):
            _sign_flips(part, name, b[: a.size] - a[: b.size])
            continue
        answers = _test_answers(name, a, b)
        for key in part.names():
            if key in answers:
                is_fitted = name.startswith("shapiro_") and key == "p"
                part.same(key, answers[key], rule=APPROXIMATED if is_fitted else EXACT)


def _test_answers(name: str, a: Floats, b: Floats) -> dict[str, Any]:
    """Return results by entry name; empty for an unknown test."""
    if name in {"welch_raw", "welch"}:
        return _t_answers(welch(b, a))
    if name == "welch_log":
        return _t_answers(welch(np.log(b), np.log(a)))
    if name == "student":
        return _t_answers(student_t(b, a))
    if name == "paired_t":
        return _t_answers(paired_t(b - a))
    if name == "mann_whitney_B_vs_A":
        return _mann_whitney_answers(a, b)
    if name.startswith("wilcoxon"):
        return _wilcoxon_answers(wilcoxon(b - a))
    if name == "brunner_munzel":
        shifted = brunner_munzel(b, a)
        return {} if shifted is None else {"statistic": shifted.statistic, "p": shifted.p}
    if name == "permutation_exact":
        shuffled = permutation_test(b, a)
        return {} if shuffled is None else {"p_two_sided": shuffled.p}
    fit = _fit(name, a, b)
    return {} if fit is None else {"D": fit.statistic, "statistic": fit.statistic, "p": fit.p}


def _fit(name: str, a: Floats, b: Floats) -> GoodnessTest | None:
    if name == "ks_2samp":
        return ks_2samp(a, b)
    if name == "levene":
        return levene(a, b)
    match = re.fullmatch("shapiro_([AB])", name)
    return shapiro(a if match[1] == "A" else b) if match else None


def _t_answers(test: TTest | None) -> dict[str, Any]:
    if test is None:
        return {}
    both = [test.interval.low, test.interval.high]
    return {
        "t": test.t,
        "df": test.df,
        "p_two_sided": test.p,
        "p": test.p,
        "ci95": both,
        "ci95_diff_B_minus_A": both,
        "mean_difference": test.difference,
    }


def _wilcoxon_answers(test: SignedRankTest | None) -> dict[str, Any]:
    """Return W as in scipy, the smaller of both sums of ranks."""
    if test is None:
        return {}
    smaller = min(test.w, test.n * (test.n + 1) / 2 - test.w)
    answers: dict[str, Any] = {"W": smaller, "statistic": smaller, "W_plus": test.w}
    return answers | dict.fromkeys(("p", "p_two_sided", "p_exact_two_sided"), test.p)


def _mann_whitney_answers(a: Floats, b: Floats) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    alternatives: dict[str, Alternative] = {
        "two_sided": "two-sided",
        "B_greater": "greater",
        "B_less": "less",
    }
    methods: dict[str, RankMethod] = {
        "p_exact": "exact",
        "p_asymptotic_continuity": "asymptotic",
    }
    for (method, how), (name, alternative) in product(methods.items(), alternatives.items()):
        test = mann_whitney(b, a, alternative, how)
        if test is not None:
            answers |= {f"{method}_{name}": test.p, "U_B": test.u, "U_A": a.size * b.size - test.u}
    return answers


def _sign_flips(part: Sheet, name: str, differences: Floats) -> None:
    """Check all 2^k sign patterns of the first k differences."""
    match = re.search(r"(\d+)$", name)
    d = differences[: int(match[1])] if match else differences
    test = sign_flip_test(d)
    if test is None:
        return
    part.same("observed_mean_difference", test.statistic)
    part.same("n", test.permutations)
    part.same("count_as_extreme", round(test.p * test.permutations))
    part.same("p_two_sided", test.p)


def effect_sizes(sheet: Sheet, inputs: Mapping[str, Any]) -> None:
    """Check sizes of B against A; entries are recognized by the beginning of their names."""
    a, b = _column(inputs, "A"), _column(inputs, "B")
    known: dict[str, float | None] = {
        "cohen_d": effect_size.cohens_d(b, a),
        "hedges_g_exact": effect_size.hedges_g(b, a, exact=True),
        "hedges_g": effect_size.hedges_g(b, a),
        "cliffs_delta": effect_size.cliffs_delta(b, a),
        "prob_superiority": effect_size.probability_of_superiority(b, a),
    }
    if a.size == b.size:
        d = effect_size.dz(b - a)
        known |= {"pearson_r": effect_size.pearson(a, b), "dz": d, "cohen_dz": d}
    if min(a.min(), b.min()) > 0:
        ratio = effect_size.geometric_ratio(b, a)
        known |= {"geo": ratio, "ratio_geo": ratio}
    for name in sheet.names():
        fits = [start for start in known if name.startswith(start)]
        if fits:
            sheet.same(name, known[max(fits, key=len)])


def _column(inputs: Mapping[str, Any], letter: str) -> Floats:
    name = _COLUMNS.get(letter, letter)
    if name not in inputs:
        raise Missing(f"inputs.{name} is not in the file")
    return np.asarray(inputs[name], dtype=np.float64)


def _ends(interval: Interval | None) -> list[float]:
    if interval is None:
        raise ValueError("too few values for an interval")
    return [interval.low, interval.high]


def _level(digits: str) -> float:
    """Convert `95` and `995` to 0.95 and 0.995."""
    return float(f"0.{digits}")
