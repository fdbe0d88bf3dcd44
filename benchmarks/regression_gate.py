"""How often the regression gates are right, on made-up histories and on labeled real ones.

    python benchmarks/regression_gate.py [--seed 1] [--histories 20] [--series DIR]
                                         [--otava PYTHON]

Made-up: six shapes of noise (noise_shapes.py), a step of 0, 3, 5, 10 or 20% at run 38 of 60, every
run judged from run 20 on; a suspect run is confirmed by the next two. An alarm is a row of runs
called a regression. Recall counts steps of 10% or more that were alarmed at or after the step;
false alarms are those before a step, or anywhere without one. For F1 a series is false if it has
one at all, and series with and without a step count alike.

DIR holds labeled histories: `labels.json` of {NAME: {"change_points": [first run of a new level]}}
and NAME.csv of `index,value`. A change within 5 runs of a label is a hit, any other is extra.

As a gate, with no values but those up to the run that is checked: an alarm hits a label of its
direction that began at most 12 runs before, each label once; every other alarm is false. Printed
for all alarms and for those of a worsening, of all series and of each half of them (every second
one), at three thresholds. `--otava` names an interpreter that has apache-otava 0.8: its alarms on
the same histories follow, at the significance level that suits them best (minutes of CPU).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from noise_shapes import CHECKED_FROM, RUNS, SHAPES, STEP_AT, Floats, histories

from agentbench_tui.analysis.runs.change_point import changes
from agentbench_tui.analysis.runs.history_gate import GateLevels
from agentbench_tui.analysis.runs.history_replay import replays
from agentbench_tui.analysis.runs.version_gate import compare_versions
from agentbench_tui.analysis.scale import Scale

NOISES, STEPS = (0.01, 0.02, 0.05), (0.0, 0.03, 0.05, 0.1, 0.2)
BIG_STEP = 0.1
SERIES_MARGIN, SERIES_NEAR = 0.02, 5
GATE_MARGINS, GATE_WITHIN = (0.01, 0.02, 0.05), 12
OTAVA_P = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10)
OTAVA_ALARMS = Path(__file__).with_name("otava_alarms.py")
TIME = Scale("lower")
Labeled = tuple[str, Floats, list[int], Scale]
"""Name, values, first runs of new levels, scale."""


@dataclass
class Tally:
    """What a gate did to histories whose truth is known."""

    steps: int = 0
    found: int = 0
    unchanged_runs: int = 0
    false_alarms: int = 0
    series: int = 0
    false_series: int = 0
    delays: list[int] = field(default_factory=list)
    small_steps: dict[float, list[bool]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        for name in ("steps", "found", "unchanged_runs", "false_alarms", "series", "false_series"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.delays += other.delays
        for step, seen in other.small_steps.items():
            self.small_steps.setdefault(step, []).extend(seen)

    @property
    def recall(self) -> float:
        return self.found / self.steps

    @property
    def per_thousand(self) -> float:
        return 1000 * self.false_alarms / self.unchanged_runs

    @property
    def f1(self) -> float:
        missed_or_false = 1 - self.recall + self.false_series / self.series
        return 2 * self.recall / (2 * self.recall + missed_or_false)

    def line(self, name: str) -> str:
        small = " / ".join(f"{np.mean(self.small_steps[step]):4.2f}" for step in (0.03, 0.05))
        median, late = np.quantile(self.delays, [0.5, 0.9])
        return (
            f"{name:<20} {self.recall:6.3f} ({small}) {self.per_thousand:7.2f} {self.f1:7.3f}"
            f" {median:5.0f}, {late:.0f}"
        )


def alarm_starts(values: Floats) -> np.ndarray:
    """bool[runs]: where the gate begins to call a regression; the next two confirm a suspect."""
    states = replays(TIME.positions(values), TIME.margin(None), GateLevels())
    alarms = np.array([one.episode is not None and one.episode.worse for one in states])
    alarms[:CHECKED_FROM] = False
    return alarms & ~np.concatenate(([False], alarms[:-1]))


def one_history(values: Floats, step: float, tally: Tally) -> None:
    starts = alarm_starts(values)
    unchanged = STEP_AT if step else RUNS
    false = int(starts[:unchanged].sum())
    tally.unchanged_runs += unchanged - CHECKED_FROM
    tally.false_alarms += false
    tally.series += 1
    tally.false_series += false > 0
    after = np.flatnonzero(starts[STEP_AT:])
    if step >= BIG_STEP:
        tally.steps += 1
        tally.found += after.size > 0
        tally.delays += after[:1].tolist()
    elif step:
        tally.small_steps.setdefault(step, []).append(after.size > 0)


def history_tables(count: int, seed: int) -> dict[float, Tally]:
    """Prints a line a shape and noise; the totals by noise."""
    print("History gate     recall >= 10% (3 / 5%)  FA/1,000    F1   delay p50, p90")
    totals = {}
    for noise in NOISES:
        totals[noise] = Tally()
        for place, shape in enumerate(SHAPES):
            tally = Tally()
            for step in STEPS:
                draw = np.random.default_rng([seed, place, round(1e3 * noise), round(1e3 * step)])
                made = histories(shape, noise, step, count, draw)
                for values in made.values:
                    one_history(values, step, tally)
            print(tally.line(f"{noise:4.0%} {shape}"))
            totals[noise].add(tally)
        print(totals[noise].line(f"{noise:4.0%} all"))
    return totals


def change_point_table(count: int, seed: int) -> None:
    """Steps of 10% in the same noise: found, located, and what else was called a change."""
    print("\nChange points (10%)  found  in interval  width p50, p90  extra/1,000 runs")
    for noise in NOISES:
        hits, inside, extra, runs = 0, 0, 0, 0
        widths: list[int] = []
        for place, shape in enumerate(SHAPES):
            draw = np.random.default_rng([seed, 1, place, round(1e3 * noise)])
            for values in histories(shape, noise, BIG_STEP, count, draw).values:
                found = changes(values, TIME)
                near = [change for change in found if abs(change.run - STEP_AT) <= SERIES_NEAR]
                hits += bool(near)
                inside += any(change.first <= STEP_AT <= change.last for change in near)
                widths += [change.last - change.first + 1 for change in near]
                extra += len(found) - len(near)
                runs += values.size
        middle, wide = np.quantile(widths, [0.5, 0.9])
        print(
            f"{noise:4.0%} all {hits / (count * len(SHAPES)):18.3f} {inside / hits:12.3f}"
            f" {middle:9.0f}, {wide:<4.0f} {1000 * extra / runs:13.2f}"
        )


def version_table(count: int, seed: int) -> None:
    """A version against itself and against one that is slower, measured in blocks and in turns."""
    print("\nVersions: A/A called different per 1,000, share of 5% and of 10% found")
    print(f"{'':<14}{'iid, in blocks':>24}{'all, in blocks':>24}{'all, in turns':>24}")
    for noise in NOISES:
        for runs in (5, 15, 30):
            seen: dict[str, list[tuple[bool, ...]]] = {}
            for place, shape in enumerate(SHAPES):
                draw = np.random.default_rng([seed, 2, place, round(1e3 * noise), runs])
                for row in histories(shape, noise, 0.0, count, draw).values[:, : 2 * runs]:
                    block = three_comparisons(row[:runs], row[runs:])
                    if shape == "iid":
                        seen.setdefault("iid", []).append(block)
                    seen.setdefault("blocks", []).append(block)
                    seen.setdefault("turns", []).append(three_comparisons(row[::2], row[1::2]))
            cells = [np.mean(seen[name], axis=0) for name in ("iid", "blocks", "turns")]
            text = "".join(f"{1e3 * aa:12.1f}{five:6.2f}{ten:6.2f}" for aa, five, ten in cells)
            print(f"{noise:4.0%}, {runs:2} v {runs:<2} {text}")


def three_comparisons(old: Floats, new: Floats) -> tuple[bool, bool, bool]:
    """Whether a version is told from itself, and found 5% and 10% slower when it is."""
    itself, five, ten = (
        compare_versions(old, new * factor, TIME).verdict for factor in (1, 1.05, 1.1)
    )
    return itself != "no change seen", five == "regression", ten == "regression"


def labeled(folder: Path) -> Iterator[Labeled]:
    for name, facts in json.loads((folder / "labels.json").read_text()).items():
        rows = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
        scale = Scale("lower" if facts.get("lower_is_better", True) else "higher")
        yield name, rows[:, 1], facts["change_points"], scale


def gate_events(values: Floats, scale: Scale) -> list[int]:
    """The first runs of all changes that the gate finds, run by run, better or worse."""
    states = replays(scale.positions(values), scale.margin(SERIES_MARGIN), GateLevels())
    firsts = [one.episode.first for one in states if one.episode is not None]
    return sorted(set(firsts))


def series_table(folder: Path) -> tuple[float, float]:
    """Recall and extras per 1,000 runs of change points; prints those of the gate beside them."""
    print(f"\nLabeled series (margin {SERIES_MARGIN:.0%})      labels  found  extra   runs")
    totals = {"change points": np.zeros(4), "gate, run by run": np.zeros(4)}
    for name, values, labels, scale in labeled(folder):
        places = {
            "change points": [change.run for change in changes(values, scale, SERIES_MARGIN)],
            "gate, run by run": gate_events(values, scale),
        }
        for method, found in places.items():
            hit = sum(any(abs(run - label) <= SERIES_NEAR for run in found) for label in labels)
            extra = sum(all(abs(run - label) > SERIES_NEAR for label in labels) for run in found)
            counts = np.array([len(labels), hit, extra, values.size])
            totals[method] += counts
            print(f"{Path(name).name:<12} {method:<20}", *(f"{count:6}" for count in counts))
    for method, (labels_, hit, extra, runs) in totals.items():
        recall, per_thousand = hit / labels_, 1000 * extra / runs
        print(f"{'all':<12} {method:<20} recall {recall:.3f}, {per_thousand:.2f} extra per 1,000")
    labels_, hit, extra, runs = totals["change points"]
    return hit / labels_, 1000 * extra / runs


@dataclass(frozen=True, order=True)
class Event:
    """An alarm, or a labeled change."""

    run: int
    is_worse: bool


def label_events(values: Floats, labels: list[int], scale: Scale) -> list[Event]:
    """The labels with their direction: the median of the 12 runs on either side."""
    x = scale.positions(values)
    after = [float(np.median(x[run : run + GATE_WITHIN])) for run in labels]
    before = [float(np.median(x[max(0, run - GATE_WITHIN) : run])) for run in labels]
    return [Event(*one) for one in zip(labels, np.greater(after, before).tolist(), strict=True)]


def alarms(values: Floats, scale: Scale, margin: float) -> list[Event]:
    """The runs at which a change began to stand, judged by the runs up to each."""
    states = replays(scale.positions(values), scale.margin(margin), GateLevels())
    found = [one.episode for one in states if one.episode is not None]
    return sorted({Event(one.opened, one.worse) for one in found})


def scored(found: list[Event], labels: list[Event]) -> tuple[int, int, int]:
    """Labels that were alarmed in time, labels that were not, and false alarms."""
    left, false = list(labels), 0
    for alarm in found:
        due = [
            one
            for one in left
            if one.is_worse == alarm.is_worse and 0 <= alarm.run - one.run <= GATE_WITHIN
        ]
        if due:
            left.remove(due[0])
        else:
            false += 1
    return len(labels) - len(left), len(left), false


SIDES = {"both ways": (True, False), "worse": (True,)}


def counted(
    some: Sequence[Labeled], found: Sequence[list[Event]], wanted: tuple[bool, ...]
) -> tuple[int, int, int]:
    """Labels found and missed, and false alarms, in these directions, over all histories."""
    counts = np.zeros(3, np.int64)
    for (_, values, places, scale), raised in zip(some, found, strict=True):
        events = (raised, label_events(values, places, scale))
        counts += scored(*([one for one in side if one.is_worse in wanted] for side in events))
    hit, missed, false = counts.tolist()
    return hit, missed, false


def f1_of(hit: int, missed: int, false: int) -> float:
    return 2 * hit / max(1, 2 * hit + missed + false)


def counted_line(name: str, counts: tuple[int, int, int], runs: int) -> str:
    hit, missed, false = counts
    f1, per_thousand = f1_of(*counts), 1000 * false / runs
    return f"{name:<28} {hit:6} {missed:6} {false:5} {f1:6.3f} {per_thousand:8.2f}"


def gate_table(folder: Path) -> None:
    print(
        f"\nAs a gate (within {GATE_WITHIN} runs)   found missed false     F1  false/1,000 checks"
    )
    every = list(labeled(folder))
    parts = {"all series": every, "1st, 3rd, …": every[::2], "2nd, 4th, …": every[1::2]}
    for margin in GATE_MARGINS:
        for part, some in parts.items():
            found = [alarms(values, scale, margin) for _, values, _, scale in some]
            runs = sum(values.size for _, values, _, _ in some)
            for sides, wanted in SIDES.items():
                name = f"{margin:4.0%} {part:<12} {sides}"
                print(counted_line(name, counted(some, found, wanted), runs))


def otava_alarms(
    every: Sequence[Labeled], margin: float, python: Path
) -> dict[float, list[list[Event]]]:
    """By significance level, the alarms of Otava on each history."""
    histories = [values.tolist() for _, values, _, _ in every]
    asked = {"histories": histories, "p": OTAVA_P, "magnitude": margin}
    command = [python, OTAVA_ALARMS]
    done = subprocess.run(
        command, input=json.dumps(asked), stdout=subprocess.PIPE, text=True, check=True
    )
    return {
        p: [
            [Event(run, is_higher == (scale.better == "lower")) for run, is_higher in raised]
            for (_, _, _, scale), raised in zip(every, of_p, strict=True)
        ]
        for p, of_p in zip(OTAVA_P, json.loads(done.stdout), strict=True)
    }


def otava_table(folder: Path, python: Path) -> None:
    """Otava at its best significance level for each threshold and direction."""
    print("\napache-otava, its best p       found missed false     F1  false/1,000 checks")
    every = list(labeled(folder))
    runs = sum(values.size for _, values, _, _ in every)
    for margin in GATE_MARGINS:
        found = otava_alarms(every, margin, python)
        for sides, wanted in SIDES.items():
            of_p = {p: counted(every, raised, wanted) for p, raised in found.items()}
            p = max(of_p, key=lambda p: f1_of(*of_p[p]))
            print(counted_line(f"{margin:4.0%} p {p:5.0e} {sides}", of_p[p], runs), flush=True)


def bar(name: str, held: bool, figure: str) -> None:
    print(f"{'held' if held else 'MISSED':<7} {name}: {figure}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--histories", type=int, default=20, help="a shape, noise and step")
    parser.add_argument("--series", type=Path, help="folder of labeled histories")
    parser.add_argument("--otava", type=Path, help="Python with apache-otava, to compare with")
    options = parser.parse_args()
    began, worked = time.perf_counter(), time.process_time()
    totals = history_tables(options.histories, options.seed)
    change_point_table(2 * options.histories, options.seed)
    version_table(2 * options.histories, options.seed)
    quiet = Tally()
    for noise in NOISES[:2]:
        quiet.add(totals[noise])
    real = series_table(options.series) if options.series else None
    if options.series:
        gate_table(options.series)
    if options.series and options.otava:
        otava_table(options.series, options.otava)
    print("\nBars (noise up to 2%, all shapes)")
    bar("recall of steps >= 10% at least .95", quiet.recall >= 0.95, f"{quiet.recall:.3f}")
    bar("F1 at least .95", quiet.f1 >= 0.95, f"{quiet.f1:.3f}")
    few = quiet.per_thousand <= 5
    bar("at most 5 false alarms per 1,000 runs", few, f"{quiet.per_thousand:.2f}")
    delay = float(np.median(quiet.delays))
    bar("median delay at most 3 runs", delay <= 3, f"{delay:.0f}")
    if real is not None:
        bar("labeled changes found at least .75", real[0] >= 0.75, f"{real[0]:.3f}")
        bar("at most 1 extra per 1,000 runs", real[1] <= 1, f"{real[1]:.2f}")
    took, worked = time.perf_counter() - began, time.process_time() - worked
    print(f"\nseed {options.seed}, {took:.0f} s ({worked:.0f} s of CPU)")


if __name__ == "__main__":
    main()
