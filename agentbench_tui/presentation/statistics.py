"""The statistics of `agentbench stats` as reports: summaries, variance, power and checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.plain_number import plain as plain_number
from agentbench_tui.presentation.numbers import (
    MISSING,
    from_one,
    percent,
    points,
    precise,
    with_interval,
)
from agentbench_tui.presentation.report import Column, Report, Section, Table
from agentbench_tui.verdicts.clusters.cluster_words import side_words
from agentbench_tui.verdicts.statistics.column_summary import USUAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentbench_tui.contracts.stats import (
        MetricSpread,
        PairingGainResult,
        PowerAnswer,
        StatsCheckDocument,
        StatsPowerDocument,
        StatsSummaryDocument,
        StatsVarianceDocument,
    )
    from agentbench_tui.presentation.report import Row
    from agentbench_tui.verdicts.statistics.summary_of import ColumnSummary


_FIGURES = (
    Column("benchmark", "benchmark", names_row=True),
    Column("metric", "metric", names_row=True),
    Column("figure", "figure", names_row=True),
    Column("value", "value", right=True),
    Column("low", "low", right=True),
    Column("high", "high", right=True),
    Column("n", "n", right=True),
    Column("method", "method"),
    Column("reason", "reason"),
)
_OF_METRIC = (
    Column("figure", "figure", names_row=True),
    Column("value", "value", precise, right=True),
    Column("low", "95% from", precise, right=True),
    Column("high", "to", precise, right=True),
    Column("n", "n", right=True),
    Column("how", "how"),
)


def summary_report(
    found: Sequence[ColumnSummary], document: StatsSummaryDocument, *, every_figure: bool
) -> Report:
    """Return a section for each metric at each place, with all figures or the usual ones."""
    records = [
        {"benchmark": one.benchmark_id, "metric": one.metric, **plain(figure)}
        for one in document.metrics
        for figure in one.figures
    ]
    noted: set[str] = set()
    sections = []
    for one, metric in zip(found, document.metrics, strict=True):
        unit = f" ({metric.unit})" if metric.unit else ""
        rows = [
            {**plain(figure), "how": figure.reason or figure.method}
            for figure in metric.figures
            if every_figure or figure.figure in USUAL
        ]
        title = f"{one.measured.place} · {one.metric}{unit}"
        sentences = [*_dependence(one, noted), *_stability(one)]
        sections.append(Section(title, [Table(_OF_METRIC, rows)], sentences))
    more = [] if every_figure else ["--all shows the other statistics"]
    return Report(Table(_FIGURES, records), sections, more)


def _dependence(one: ColumnSummary, noted: set[str]) -> Iterator[str]:
    """Yield the note on clusters unless it is in `noted`: each names all metrics that it
    concerns.
    """
    words = "" if one.cluster is None else side_words(one.cluster)
    if words and (note := f"{one.measured.place}: {words}") not in noted:
        noted.add(note)
        yield words


def _stability(one: ColumnSummary) -> Iterator[str]:
    tested = [found for found in one.drifts.values() if found is not None]
    if one.drifted:
        repeats = ", ".join(from_one(repeat) for repeat in one.drifted[:10])
        yield f"drift: the first third differs from the last in repeat {repeats} (p < 0.01)"
    elif tested:
        yield f"steady: no drift in {len(tested)} of {len(one.drifts)} repeats"


_SPREADS = (
    Column("name", "metric", names_row=True),
    Column("n", "runs", right=True),
    Column("mean", "mean", precise, right=True),
    Column("unit", "unit"),
    Column("cv", "CV", percent, right=True),
    Column("cv_low", "CV from", percent, right=True),
    Column("cv_high", "CV to", percent, right=True),
    Column("cv_below_threshold", "below threshold"),
    Column("half_width", "half-width", percent, right=True),
    Column("n_needed", "runs needed", right=True),
    Column("n_needed_low", "at least", right=True),
    Column("n_needed_high", "at most", right=True),
    Column("more", "more", right=True),
)
_SPREADS_SHOWN = (  # a narrow terminal puts the last column below: the mean, which others show too
    *_SPREADS[:2],
    Column("cv_shown", "CV", right=True),
    Column("needed_shown", "runs needed", right=True),
    Column("half_width", "half-width", percent, right=True),
    Column("mean_shown", "mean", right=True),
)


def variance_report(document: StatsVarianceDocument, half_width: float) -> Report:
    """Return one row per metric; `half_width` is the precision that the runs needed give."""
    sentences = [words for one in document.metrics for words in _spread_sentences(one)]
    sentences.append(
        "half-width: of the mean's 95% interval; runs needed: for a half-width of "
        f"{percent(half_width)}. More runs do not lower the CV, which is a property of "
        "the runs."
    )
    rows = [_spread_row(one) for one in document.metrics]
    shown = Section(tables=[Table(_SPREADS_SHOWN, rows)], sentences=sentences)
    return Report(Table(_SPREADS, [plain(one) for one in document.metrics]), [shown])


def _spread_row(one: MetricSpread) -> Row:
    """Return a row with its intervals in the cells."""
    mean = MISSING if one.mean is None else f"{precise(one.mean)} {one.unit}".rstrip()
    shown = {"mean_shown": mean, "cv_shown": MISSING, "needed_shown": MISSING}
    if one.cv is not None:
        shown["cv_shown"] = with_interval(one.cv, one.cv_low, one.cv_high, percent)
    if one.n_needed is not None:
        shown["needed_shown"] = f"{one.n_needed} ({one.n_needed_low}-{one.n_needed_high})"
    return {"name": one.name, "n": one.n, "half_width": one.half_width, **shown}


def _spread_sentences(one: MetricSpread) -> Iterator[str]:
    if one.cv is None:
        yield f"{one.name}: {one.reason}"
    elif one.cv_below_threshold != "no":
        verdict = "is below" if one.cv_below_threshold == "yes" else "may be below"
        yield f"{one.name}: the CV {verdict} {percent(one.threshold)}"
    if one.seeds is not None:
        yield (
            f"{one.name}: seeds make {percent(one.seeds.seed_share)} of the variance "
            f"({percent(one.seeds.low)} to {percent(one.seeds.high)}); the rest is between runs of"
            f" one seed ({one.seeds.seeds} seeds, {one.seeds.runs} runs)"
        )
    levels = one.two_level
    if levels is not None and levels.design_effect and levels.iterations is not None:
        worth = levels.runs * levels.iterations / levels.design_effect
        icc = MISSING if levels.icc is None else f"{levels.icc:.3f}"
        yield (
            f"{one.name}: design effect {levels.design_effect:.2f} (ICC {icc}): "
            f"{levels.runs} {one.two_level_of}s of {levels.iterations:.0f} answers are worth"
            f" {worth:.0f} independent ones"
        )


_ANSWERS = (
    Column("name", "metric", names_row=True),
    Column("asked", "answer"),
    Column("design", "design"),
    Column("n", "n", right=True),
    Column("what", "of"),
    Column("effect", "effect", right=True),
    Column("unit", "unit"),
    Column("sd", "sd of logs", right=True),
    Column("power", "power", right=True),
)
_ANSWERS_SHOWN = (
    Column("name", "metric", names_row=True),
    Column("design", "design"),
    Column("sd", "spread", percent, right=True),
    Column("answer", "answer"),
)


def power_report(document: StatsPowerDocument) -> Report:
    """Return one row per answer, and what pairing gains."""
    answers = document.answers
    named = any(one.name for one in answers)
    rows = [{**plain(one), "answer": _answer_words(one)} for one in answers]
    table = Table(_ANSWERS_SHOWN if named else _ANSWERS_SHOWN[1:], rows)
    section = Section(tables=[table], sentences=[*_power_sentences(document)])
    return Report(Table(_ANSWERS, [plain(one) for one in answers]), [section])


def _power_sentences(document: StatsPowerDocument) -> Iterator[str]:
    answers = document.answers
    if any(one.design == "paired" and one.unit != "points" for one in answers):
        yield "paired: the spread is that of the differences within pairs"
    yield f"detected: with probability {percent(document.power)}, at p < {document.alpha:g}"
    if any(one.what == "repeats" for one in answers):
        yield (
            "repeats: the variance between repeats exceeds that between cases, so "
            "`compare` treats repeats as the unit"
        )
    yield from (f"{one.name}: {one.reason}" for one in answers if one.reason)
    yield from map(_gain_words, document.pairing)


def _answer_words(one: PowerAnswer) -> str:
    if one.reason:
        return MISSING
    effect = _effect_words(one)
    if one.asked == "n":
        return f"{effect} requires {one.n} {one.what}"
    detected = f"{one.n} {one.what} detect {effect}"
    return (
        detected if one.asked == "effect" else f"{detected} with probability {percent(one.power)}"
    )


def _effect_words(one: PowerAnswer) -> str:
    if one.effect is None:
        return MISSING
    if one.unit == "sd":
        return f"{one.effect:.2f} sd"
    if one.unit == "ratio":
        return percent(one.effect)
    return points(abs(one.effect)).removeprefix("+")


def _gain_words(gain: PairingGainResult) -> str:
    words = f"{gain.name}: {gain.pairs} pairs, "
    if gain.correlation is not None:
        words += f"correlation {gain.correlation:.2f}, "
    if gain.gain is not None and gain.gain < 0:
        return words + "pairing gained nothing: the differences vary more than both sides together"
    if gain.saved is None:
        return words + "pairing took away all of the variance: every pair differs alike"
    return (
        words + f"pairing took away {percent(gain.gain)} of the variance: unpaired it would take"
        f" {plain_number(gain.saved, 3)} times as many cases"
    )


def _exact(value: float | None) -> str:
    return MISSING if value is None else f"{value:.10g}"


_CHECKED = (
    Column("entry", "entry", names_row=True),
    Column("theirs", "theirs", _exact, right=True),
    Column("ours", "ours", _exact, right=True),
    Column("relative_difference", "rel. diff.", lambda value: f"{value:.1e}" if value else "0"),
    Column("rule", "rule"),
    Column("ok", "ok", lambda value: "yes" if value else "NO"),
)


def check_report(document: StatsCheckDocument) -> Report:
    """Return one row per checked entry, then what was not checked, and how many agree."""
    table = Table(_CHECKED, [plain(one) for one in document.entries])
    sentences = [
        *(f"{one.entry}: {one.note}" for one in document.entries if one.note),
        *(f"skipped {one.entry}: {one.reason}" for one in document.skipped),
        *(f"unknown {name}: not checked" for name in document.unknown),
        f"{document.n_ok} of {len(document.entries)} entries agree",
    ]
    return Report(table, [Section(tables=[table], sentences=sentences)])
