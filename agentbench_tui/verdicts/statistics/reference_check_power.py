"""Checks reference results about power, sample sizes, precision, and the scalability law."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from agentbench_tui.analysis import power as sizes
from agentbench_tui.analysis.load.scalability import Scaling, fit_usl
from agentbench_tui.analysis.power import SampleSize
from agentbench_tui.analysis.runs.variance import precision_n
from agentbench_tui.verdicts.statistics.reference_sheet import SOLVED, Rule, Sheet

_USUAL_FIT_TOLERANCE = 1e-4


def power(sheet: Sheet, _inputs: Mapping[str, Any]) -> None:
    """Check t tests: power, sample sizes, smallest effects, and runs for a half-width."""
    for name, part in sheet.parts():
        if name == "two_sample_t":
            _of_effects(part, sizes.sample_size_two_sample, sizes.power_two_sample)
        elif name == "paired_t":
            _of_effects(part, sizes.sample_size_paired, sizes.power_paired)
        elif match := re.fullmatch(r"mde_(two_sample|paired)\w*?_alpha(\d+)_power(\d+)", name):
            _smallest_effects(part, match[1], float(f"0.{match[2]}"), float(f"0.{match[3]}"))
        elif name == "precision_rule":
            for key in part.names():
                if rule := re.fullmatch(r"cv=([\d.]+),h=([\d.]+)", key):
                    part.check(key, precision_n, float(rule[1]), float(rule[2]))


def _of_effects(
    sheet: Sheet, size: Callable[..., SampleSize], chance: Callable[..., float]
) -> None:
    """Check parts `d=…` or `dz=…` with `n…_for_80pct` and `power_at_n15`."""
    for name, part in sheet.parts():
        match = re.fullmatch(r"dz?=([\d.]+)", name)
        if match is None:
            continue
        effect = float(match[1])
        for key in part.names():
            if found := re.fullmatch(r"n(?:_per_group|_pairs)?_for_(\d+)pct", key):
                part.same(key, size(effect, float(f"0.{found[1]}")).exact, rule=SOLVED)
            elif found := re.fullmatch(r"power_at_n(\d+)", key):
                part.check(key, chance, effect, float(found[1]))


def _smallest_effects(part: Sheet, design: str, alpha: float, wanted: float) -> None:
    smallest: Callable[..., float] = (
        sizes.smallest_detectable_paired
        if design == "paired"
        else sizes.smallest_detectable_two_sample
    )
    for key in part.names():
        if match := re.fullmatch(r"n=(\d+)", key):
            answer = smallest(float(match[1]), power=wanted, alpha=alpha)
            part.same(key, answer, rule=SOLVED)


def scalability(sheet: Sheet, _inputs: Mapping[str, Any]) -> None:
    """Check fits of the universal scalability law to `N` and `throughput`."""
    load = np.asarray(sheet.given("N"), dtype=np.float64)
    throughput = np.asarray(sheet.given("throughput"), dtype=np.float64)
    match = re.search(r"relative ([\d.]+(?:e-?\d+)?)", sheet.words("tolerance"))
    rule = Rule("solved", float(match[1]) if match else _USUAL_FIT_TOLERANCE)
    part = sheet.part("fit_nls_unweighted")
    if part is not None:
        answers = _fit_answers(fit_usl(load, throughput))
        for key in part.names():
            name = key.partition("=")[0]
            if name in answers:
                part.same(key, answers[name], rule=rule)
    fit = fit_usl(load, throughput, throughput**-2.0).usl
    sheet.same("fit_relative_weights", [fit.rate, fit.contention, fit.coherency], rule=rule)


def _fit_answers(found: Scaling) -> dict[str, Any]:
    fit = found.usl
    peak = found.peak_load
    if peak is None and fit.coherency > 0:  # the fit's own, wherever it lies
        peak = math.sqrt((1 - fit.contention) / fit.coherency)
    return {
        "lambda": fit.rate,
        "sigma": fit.contention,
        "kappa": fit.coherency,
        "se": found.standard_errors,
        "r2": found.r2,
        "N_peak": peak,
        "X_peak": None if peak is None else fit.throughput(peak),
        "amdahl_ceiling": found.ceiling,
    }
