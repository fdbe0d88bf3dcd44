"""Learning curves as a full report: the curves, every run as a number, and who learned better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.charts import Axis, Interval, IntervalChart, Line, LineChart, Mark
from agentbench_tui.presentation.full_report.parts import Chapter, FullReport, Verdict
from agentbench_tui.presentation.numbers import (
    MISSING,
    amount,
    count,
    estimate,
    p_value,
    precise,
    signed_amount,
)
from agentbench_tui.presentation.report import Column, Row, Section, Table, raw_columns
from agentbench_tui.presentation.run import filled
from agentbench_tui.verdicts.training.curve_document import curve_document
from agentbench_tui.verdicts.training.curve_question import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentbench_tui.presentation.charts import Chart
    from agentbench_tui.presentation.full_report.parts import Outcome
    from agentbench_tui.verdicts.training.curve_comparison import RunComparison
    from agentbench_tui.verdicts.training.training_curves import CurveGroup, TrainingCurves

AREA, LAST = "area under the curve", "mean of the last 5 values"
_NAMES = (AREA, LAST)
"""What the numbers of `training_curves.KINDS` are called."""
_MOST_SINGLE = 15
"""Curves of a group that are drawn one by one."""
_MOST_POINTS = 400
_RUNS = (
    Column("run", "run", names_row=True),
    Column("group", "group", names_row=True),
    Column("seed", "seed", right=True),
    Column("last_step", "last step", count, right=True),
    Column("area", AREA, precise, right=True),
    Column("last", LAST, precise, right=True),
    Column("reason", "why it is missing"),
)
_COMPARED = (
    Column("summary", "runs summarized by", names_row=True),
    Column("verdict", "B is"),
    Column("difference", "B - A [95%]", right=True),
    Column("p", "p", p_value, right=True),
    Column("n", "from"),
    Column("needed", "needs", right=True),
)
_RECORDS = raw_columns(("run", "group", "seed", "last_step", "area", "last", "reason"))
_OUTCOMES: dict[str, Outcome] = {"better": "good", "worse": "bad", "equivalent": "plain"}


def learning_report(found: TrainingCurves) -> FullReport:
    """Return one or two groups of training runs as a full report; the second is compared with the
    first.
    """
    names = [group.name for group in found.groups]
    rows = list(_run_rows(found))
    chapters = [
        Chapter("curves", "Learning curves", [Section("", charts=_curve_charts(found))]),
        Chapter("comparison", "Comparison", _comparison(found)),
        Chapter("runs", "Runs", [Section("", [Table(filled(_RUNS, rows), rows)], found.notes)]),
        _methods(found),
    ]
    tables = {"runs": Table(_RECORDS, rows)}
    return FullReport(
        title=f"Learning curves of {' and '.join(names)}: {found.metric}",
        about=[(letter, name) for letter, name in zip("AB", names, strict=False)],
        verdict=_verdict(found),
        chapters=[one for one in chapters if any(s.tables or s.sentences or s.charts
                                                 for s in one.sections)],
        document=_document(found),
        tables=tables,
        contenders=names,
    )  # fmt: skip


def _document(found: TrainingCurves) -> object:
    """Return what `agentbench compare` prints of both groups by the area; None of one group."""
    area = found.comparisons[0]
    if area is None:
        return None
    return plain(curve_document([Answer(area, found.summaries[0], found.pairing)]))


def _verdict(found: TrainingCurves) -> Verdict:
    finished = [_finished_words(group) for group in found.groups]
    if len(found.groups) == 1:
        return Verdict(finished[0], "plain")
    area = found.comparisons[0]
    a, b = (group.name for group in found.groups)
    if area is None:
        why = (
            f"{found.metric} has no known better direction; name it with --better"
            if found.better is None
            else "a group has no finished run"
        )
        return Verdict(f"{a} and {b} are not compared: {why}.", "open", finished)
    words = {
        "equivalent": f"{a} and {b} learn equally well",
        "inconclusive": f"{b} is not distinguishable from {a} yet",
    }.get(area.verdict, f"{b} learns {area.verdict} than {a}")
    reasons = [
        f"{name}: {_difference(one)}, {one.verdict}."
        for name, one in zip(_NAMES, found.comparisons, strict=True)
        if one is not None and one.effect is not None
    ]
    needed = [] if area.n_needed is None else [f"{area.n_needed:,} runs per group would settle it."]
    return Verdict(
        f"{words} in {found.metric}.",
        _OUTCOMES.get(area.verdict, "open"),
        [*reasons, *needed, *map(_sentence, area.notes), *finished],
    )


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}."


def _finished_words(group: CurveGroup) -> str:
    known = [value for value in group.values[0] if value is not None]
    mean = f"mean area {precise(sum(known) / len(known))}" if known else f"area {MISSING}"
    return f"{group.name}: {mean}, {len(known)} of {counted(len(group.runs), 'run')} finished."


def _difference(one: RunComparison) -> str:
    return estimate(one.effect, *_ends(one), signed_amount)


def _ends(one: RunComparison) -> tuple[float | None, float | None]:
    return (None, None) if one.t is None else (one.t.interval.low, one.t.interval.high)


def _curve_charts(found: TrainingCurves) -> list[Chart]:
    """Draw the mean of each group with its band, then single runs."""
    x, y = Axis("step", count), Axis(found.metric, amount)
    marks = []
    if found.window is not None:
        marks = [Mark(found.window[0], "area from here"), Mark(found.window[1], "to here")]
    means = [line for group in found.groups for line in _mean_line(group)]
    singles = [line for group in found.groups for line in _single_lines(group)]
    ends = "; ".join(f"{one.name}: {amount(one.y[-1])} at the last step" for one in means)
    charts: list[Chart] = []
    if means:
        title = "Mean over the runs, with its 95% band"
        charts.append(LineChart(title, ends, x, y, means, marks))
    if singles:
        is_cut = any(len(group.runs) > _MOST_SINGLE for group in found.groups)
        title = f"The first {_MOST_SINGLE} runs of each group" if is_cut else "Every run"
        summary = f"{counted(len(singles), 'curve')} in the colors of their groups."
        charts.append(LineChart(title, summary, x, y, singles))
    return charts


def _mean_line(group: CurveGroup) -> Iterator[Line]:
    mean = group.mean
    if mean is not None:
        yield Line(
            f"{group.name} ({counted(mean.curves, 'run')})",
            mean.steps.tolist(),
            mean.mean.tolist(),
            None if mean.low is None else mean.low.tolist(),
            None if mean.high is None else mean.high.tolist(),
            contender=group.name,
        )


def _single_lines(group: CurveGroup) -> Iterator[Line]:
    for run in group.runs[:_MOST_SINGLE]:
        if run.series is not None and len(run.series.steps) > 1:
            every = max(1, len(run.series.steps) // _MOST_POINTS)
            values = [None if value != value else value for value in run.series.values.tolist()]
            steps, name = run.series.steps[::every].tolist(), run.name.rpartition("/")[2]
            labels = [f"{name}, step {count(step)}" for step in steps]
            yield Line(group.name, steps, values[::every], labels=labels)


def _comparison(found: TrainingCurves) -> list[Section]:
    compared = [
        (name, one)
        for name, one in zip(_NAMES, found.comparisons, strict=True)
        if one is not None and one.effect is not None
    ]
    if not compared:
        return []
    a, b = (group.name for group in found.groups)
    rows: list[Row] = [
        {
            "summary": name,
            "verdict": one.verdict,
            "difference": _difference(one),
            "p": one.p_adjusted,
            "n": f"{one.n:,} {'pairs' if one.paired else 'runs per group'}",
            "needed": MISSING if one.n_needed is None else f"{one.n_needed:,}",
        }
        for name, one in compared
    ]
    intervals = [Interval(name, one.effect, *_ends(one), one.verdict) for name, one in compared]
    summary = "; ".join(f"{name}: {_difference(one)}, {one.verdict}" for name, one in compared)
    axis = Axis(f"{b} - {a}", signed_amount)
    chart = IntervalChart(f"Differences in {found.metric}", summary, axis, intervals, 0.0)
    notes = dict.fromkeys(note for _, one in compared for note in one.notes)
    return [Section(f"A is {a}, B is {b}", [Table(_COMPARED, rows)], [*notes], [chart])]


def _run_rows(found: TrainingCurves) -> Iterator[Row]:
    for group in found.groups:
        for run, area, last in zip(group.runs, *group.values, strict=True):
            yield {
                "run": run.name.rpartition("/")[2],
                "group": group.name,
                "seed": run.seed,
                "last_step": None if run.series is None else float(run.series.steps[-1]),
                "area": area,
                "last": last,
                "reason": run.reason,
            }


def _methods(found: TrainingCurves) -> Chapter:
    summaries = zip(_NAMES, found.summaries, strict=True)
    lines = [f"{name}: {words}." for name, words in summaries if words]
    if found.pairing:
        lines.append(f"Runs are {found.pairing}. Intervals are those of Student's t.")
    lines.append(
        "The band of a mean curve is its 95% interval by t at each step, over the steps that all "
        "runs of the group cover."
    )
    return Chapter("methods", "Methods", [Section(sentences=lines)], is_detail=True)
