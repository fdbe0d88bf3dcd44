"""Learning curves as a plot, tables and sentences, for the page Training."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import (
    MISSING,
    amount,
    p_relation,
    precise,
    quantity,
    signed_amount,
)
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.drawing.plot_data import Band, Line, Mark, PlotData
from agentbench_tui.tui.widgets.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.store.queries.experiments import ExperimentRun
    from agentbench_tui.verdicts.training.curve_comparison import RunComparison
    from agentbench_tui.verdicts.training.training_curves import CurveGroup, TrainingCurves

_MOST_RUNS = 30
"""Single curves that a plot shows."""
_MOST_POINTS = 400
_RUNS = (
    Column("run", "run", 16, flex=2),
    Column("group", "group", 10, flex=1, priority=3),
    Column("seed", "seed", 6, align="right", priority=4),
    Column("steps", "last step", 9, align="right", priority=5),
    Column("area", "area", 9, align="right"),
    Column("last", "last 5", 9, align="right", priority=2),
    Column("why", "", 10, flex=2, priority=6),
)
_STORED = (
    Column("experiment", "experiment", 16, flex=2),
    Column("variant", "variant", 12, flex=1),
    Column("status", "status", 10, priority=3),
    Column("iterations", "iterations", 10, align="right", priority=2),
    Column("started", "started (UTC)", 16, priority=4),
)
_VERDICTS: dict[str, Role] = {"better": "good", "worse": "bad", "equivalent": "accent"}


def stored_table(found: Sequence[ExperimentRun]) -> GridData:
    """Return experiments of the store; keys are those of executions."""
    rows = [
        GridRow(
            one.execution_id,
            (
                one.experiment,
                one.variant,
                one.status,
                f"{one.iterations:,}",
                one.started_at[:16].replace("T", " "),
            ),
        )
        for one in found
    ]
    return GridData(_STORED, rows, reason="no experiment is stored yet")


def curves_plot(found: TrainingCurves, *, single: bool) -> PlotData:
    """Return the mean of each group with its 95% band; with `single` every run instead."""
    lines: list[Line] = []
    bands: list[Band] = []
    for number, group in enumerate(found.groups):
        if single:
            lines += _singles(group, number)
        elif group.mean is not None:
            mean = group.mean
            x = mean.steps.tolist()
            name = f"{group.name} ({counted(mean.curves, 'run')})"
            lines.append(Line(name, x, mean.mean.tolist(), series=number))
            if mean.low is not None and mean.high is not None:
                bands.append(Band(x, mean.low.tolist(), mean.high.tolist(), number))
    marks: tuple[Mark, ...] = ()
    if found.window is not None:
        marks = (Mark(found.window[0], "window"), Mark(found.window[1]))
    reasons = [f"{group.name}: {group.reason}" for group in found.groups if group.reason]
    return PlotData(
        lines,
        bands=bands,
        marks=marks,
        x_label="step",
        reason="; ".join(reasons) or "no curve was logged",
    )


def _singles(group: CurveGroup, number: int) -> list[Line]:
    lines: list[Line] = []
    for run in group.runs[:_MOST_RUNS]:
        if run.series is not None:
            every = max(1, len(run.series.steps) // _MOST_POINTS)
            x, y = run.series.steps[::every].tolist(), run.series.values[::every].tolist()
            lines.append(Line(group.name if not lines else "", x, y, series=number))
    return lines


def runs_table(found: TrainingCurves) -> GridData:
    """Return one row per run."""
    rows = []
    for number, group in enumerate(found.groups):
        for at, run in enumerate(group.runs):
            area, last = (values[at] for values in group.values)
            steps = MISSING if run.series is None else quantity(float(run.series.steps[-1]))
            rows.append(
                GridRow(
                    f"{number}/{at}",
                    (
                        Cell(run.name.rpartition("/")[2], series=number),
                        group.name,
                        MISSING if run.seed is None else str(run.seed),
                        steps,
                        precise(area),
                        precise(last),
                        Cell(run.reason, role="warn"),
                    ),
                    "text" if area is not None else "dim",
                )
            )
    return GridData(_RUNS, rows, reason="no runs")


def sentences_of(found: TrainingCurves) -> list[Sentence]:
    """Describe the numbers, and the comparison of the second group with the first."""
    told = [Sentence(found.metric, "metric", "title")]
    for name, words in zip(("area", "last 5"), found.summaries, strict=True):
        told.append(Sentence(words or f"{MISSING} no run finished", name, "dim"))
    for group in found.groups:
        known = [value for value in group.values[0] if value is not None]
        mean = f"mean area {precise(sum(known) / len(known))}" if known else f"area {MISSING}"
        words = f"{mean}, {len(known)} of {len(group.runs)} runs finished"
        told.append(Sentence(words, group.name))
    for name, one in zip(("area", "last 5"), found.comparisons, strict=True):
        if one is not None:
            told += _compared(name, one, found)
    if len(found.groups) > 1 and found.better is None:
        words = f"is more of {found.metric} good? b says so, and once more: less of it"
        told.append(Sentence(words, "not compared", "warn"))
    if len(found.groups) == 1:
        told.append(Sentence("give two files or folders (o) to compare groups", "next", "dim"))
    return told + [Sentence(note, "note", "warn") for note in found.notes[:20]]


def _compared(name: str, one: RunComparison, found: TrainingCurves) -> list[Sentence]:
    after, before = found.groups[1].name, found.groups[0].name
    words = f"{after} is {one.verdict} than {before}"
    if one.verdict in {"equivalent", "inconclusive"}:
        words = f"{after} and {before}: {one.verdict}"
    told = [Sentence(words, f"verdict, {name}", _VERDICTS.get(one.verdict, "warn"))]
    if one.effect is not None:
        interval = "" if one.t is None else (
            f", 95% interval {amount(one.t.interval.low)} to {amount(one.t.interval.high)}"
        )  # fmt: skip
        p = "" if one.p_adjusted is None else f", adjusted p {p_relation(one.p_adjusted)}"
        told.append(Sentence(f"{signed_amount(one.effect)}{interval}{p}", "difference"))
    told.append(Sentence(f"{found.pairing}; n = {one.n}", "how", "dim"))
    if one.n_needed is not None:
        told.append(Sentence(f"{one.n_needed:,} runs a side would settle it", "next", "dim"))
    return told


def demo() -> TrainingCurves:
    """Return an example: two groups of curves by formula. Nothing was trained."""
    import numpy as np

    from agentbench_tui.verdicts.training.run_summary import Run
    from agentbench_tui.verdicts.training.training_curves import training_curves
    from agentbench_tui.verdicts.training.training_run import Series

    draw = random.Random(5)  # noqa: S311  # an example, no secret
    steps = np.linspace(0.0, 100_000.0, 120)

    def runs(name: str, end: float, pace: float) -> list[Run]:
        made = []
        for seed in range(8):
            noise = np.array([draw.gauss(0, 0.03) for _ in steps])
            level = end + draw.gauss(0, 0.04)
            values = level * (1 - np.exp(-steps / (pace * draw.uniform(0.8, 1.25)))) + noise
            made.append(Run(f"{name}-seed{seed}", seed, Series(steps, values, seed, 0, "reward")))
        return made

    groups = [
        ("example-base", runs("example-base", 0.72, 26_000)),
        ("example-new", runs("example-new", 0.84, 19_000)),
    ]
    return training_curves(groups, "reward")
