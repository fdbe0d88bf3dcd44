"""Answers a question about training runs: which runs, summarized how, by which metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from agentbench_tui.analysis.differences.multiplicity import holm
from agentbench_tui.model.errors import Unmeasured, UsageError
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.training.curve_comparison import compare_runs, judged_runs
from agentbench_tui.verdicts.training.run_reference import run_of_file, run_of_store
from agentbench_tui.verdicts.training.run_summary import paired_by_seed, summarized
from agentbench_tui.verdicts.training.training_run import DEFAULT_METRIC

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.verdicts.training.curve_comparison import AskedOfRuns, RunComparison
    from agentbench_tui.verdicts.training.run_reference import NamedPair
    from agentbench_tui.verdicts.training.run_summary import Run, SummaryKind

_HIGHER = ("reward", "return", "score", "success", "accuracy", "win_rate")
_LOWER = ("loss", "error", "regret", "_ms", "_s", "cost_usd")
"""Suffixes of metric names with a known better direction."""


@dataclass(frozen=True, slots=True)
class NamedRuns:
    """The named runs: pairs, or one list per side."""

    pairs: tuple[NamedPair, ...] = ()
    control: tuple[str, ...] = ()
    candidate: tuple[str, ...] = ()
    paired: Literal["auto", "yes", "no"] = "auto"

    @property
    def names(self) -> list[str]:
        """Return all runs, each once."""
        named = [name for pair in self.pairs for name in (pair.control, pair.candidate)]
        return list(dict.fromkeys([*named, *self.control, *self.candidate]))


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of runs."""

    files: Mapping[str, Path]
    """Name of a run → its series."""
    connection: sqlite3.Connection | None
    """The store, for names that are not files."""
    suite: str | None = None
    benchmark: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One metric's comparison, with how its runs were summarized and paired."""

    comparison: RunComparison
    summary: str
    """How a run's value is summarized; empty if the store holds it as one value."""
    pairing: str
    remarks: tuple[str, ...] = ()
    """Remarks on the runs as logged."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return remarks on the result."""
        simulated = "some runs are simulated, others measured: there is no winner"
        first = () if self.is_ranked else (simulated,)
        return (*first, *self.comparison.notes, *self.remarks)

    @property
    def is_ranked(self) -> bool:
        """Return False between simulated and measured runs, which have no winner."""
        runs = (*self.comparison.control, *self.comparison.candidate)
        return len({run.simulated for run in runs if run.is_finished}) < 2


def direction(metric: str, better: Better | None) -> Better:
    """Return the better direction of a metric: as given, as known, or by the end of its name.

    Raises UsageError where none of them does.
    """
    if better is not None:
        return better
    known = find_metric(metric)
    if known is not None and known.direction != "none":
        return known.direction
    name = metric.lower()
    for way, ends in (("higher", _HIGHER), ("lower", _LOWER)):
        if name.endswith(ends):
            return "higher" if way == "higher" else "lower"
    raise UsageError(
        f"--metric {metric}: is more of it good? Say --better higher or --better lower"
    )


def answers(
    metrics: Iterable[str | None],
    better: Better | None,
    named: NamedRuns,
    sources: Sources,
    kind: SummaryKind,
    asked: AskedOfRuns,
) -> list[Answer]:
    """Return the comparison by each metric, with p adjusted together by Holm's rule; None is the
    usual metric, or the only one of the files.

    Raises UsageError for runs and metrics that are nowhere, Unmeasured where no run of a side
    finished.
    """
    found = [_answer(metric, better, named, sources, kind, asked) for metric in metrics]
    comparisons = [one.comparison for one in found]
    adjusted = _adjusted([one.p_value for one in comparisons])
    of_worst = _adjusted([one.worst.p if one.worst else one.p_value for one in comparisons])
    return [
        replace(one, comparison=judged_runs(one.comparison, p, p_worst))
        for one, p, p_worst in zip(found, adjusted, of_worst, strict=True)
    ]


def _adjusted(tested: Sequence[float | None]) -> list[float | None]:
    """Adjust the existing p values by Holm's rule."""
    known = iter(holm([p for p in tested if p is not None]))
    return [None if p is None else next(known) for p in tested]


def _answer(
    metric: str | None,
    better: Better | None,
    named: NamedRuns,
    sources: Sources,
    kind: SummaryKind,
    asked: AskedOfRuns,
) -> Answer:
    name = metric or DEFAULT_METRIC
    where = {"suite": sources.suite, "benchmark": sources.benchmark}
    runs = [
        run_of_file(run, sources.files[run], metric)
        if run in sources.files
        else run_of_store(sources.connection, run, name, where)
        for run in named.names
    ]
    summary = summarized(runs, kind)
    by_name = {run.name: run for run in summary.runs}
    control, candidate, pairing, paired = _sides(named, by_name)
    for side, its in (("control", control), ("candidate", candidate)):
        _check_some_finished(side, its)
    known = find_metric(name)
    unit, way = ("" if known is None else known.unit), direction(name, better)
    comparison = compare_runs(name, unit, way, control, candidate, asked, paired=paired)
    return Answer(comparison, summary.words, pairing, _remarks(runs, name))


def _remarks(runs: Iterable[Run], metric: str) -> tuple[str, ...]:
    curves = [run.series for run in runs if run.series is not None]
    said = []
    others = {one.column for one in curves if one.column.lower() != metric.lower()}
    if others:
        said.append(f"{metric} is read from the column {', '.join(sorted(others))}")
    replaced = sum(one.replaced for one in curves)
    if replaced:
        said.append(f"{replaced} points were logged again after a run went back, and are replaced")
    return tuple(said)


def _sides(
    named: NamedRuns, runs: Mapping[str, Run]
) -> tuple[Sequence[Run], Sequence[Run], str, bool]:
    """Return both sides, how they are paired, and whether they are."""
    if named.pairs:
        control = [_seeded(runs[pair.control], pair.seed) for pair in named.pairs]
        candidate = [_seeded(runs[pair.candidate], pair.seed) for pair in named.pairs]
        if named.paired == "no":
            return control, candidate, "not paired, as requested", False
        return control, candidate, "paired as given", True
    control, candidate = (
        [runs[name] for name in side] for side in (named.control, named.candidate)
    )
    if named.paired == "no":
        return control, candidate, "not paired, as requested", False
    of_control, of_candidate, alone = paired_by_seed(control, candidate)
    if named.paired == "yes" and not of_control:
        raise UsageError("--paired yes: the control and candidate runs have no known seeds")
    if named.paired == "yes" or (of_control and not alone):
        left = f"; {alone} runs without a partner left out" if alone else ""
        return of_control, of_candidate, f"paired by seed{left}", True
    return control, candidate, "not paired: not the same seeds on both sides", False


def _seeded(run: Run, seed: int | None) -> Run:
    return run if seed is None else replace(run, seed=seed)


def _check_some_finished(side: str, runs: Sequence[Run]) -> None:
    if any(run.is_finished for run in runs):
        return
    others = f" (and {len(runs) - 1} more)" if len(runs) > 1 else ""
    words = f"no {side} run can be used: {runs[0].name}: {runs[0].reason}{others}"
    raise Unmeasured(words) if any(run.series is not None for run in runs) else UsageError(words)
