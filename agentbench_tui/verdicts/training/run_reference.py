"""Finds runs by name: files with their series, or stored runs with a value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.training.run_summary import Run, seed_of_name
from agentbench_tui.verdicts.training.training_run import Series, find_series, read_series

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_KEYS = ("control", "candidate", "seed")


@dataclass(frozen=True, slots=True)
class NamedPair:
    """Two runs that form a pair."""

    control: str
    candidate: str
    seed: int | None = None


def parse_pairs(texts: Iterable[str]) -> list[NamedPair]:
    """Parse JSON objects `{"control": …, "candidate": …, "seed": …}`, or arrays of them, in
    order.

    A text may hold several, one after the other.

    Raises UsageError with the place of what is wrong.
    """
    found: list[NamedPair] = []
    for text in texts:
        for given in _values(text):
            for one in given if isinstance(given, list) else [given]:
                found.append(_pair(one, len(found) + 1))
    for side in ("control", "candidate"):
        _check_once([getattr(one, side) for one in found], f"--pairs: {side}")
    return found


def _values(text: str) -> Iterator[Any]:
    """Yield consecutive JSON values in a text."""
    decoder, place = json.JSONDecoder(), 0
    while rest := text[place:].strip():
        place = len(text) - len(text[place:].lstrip())
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"--pairs: '{rest[:60]}' is not JSON ({error}); expected "
                '\'{"control": "RUN", "candidate": "RUN", "seed": 1}\' or an array of such'
            ) from None
        yield value


def _pair(given: Any, number: int) -> NamedPair:
    where = f"--pairs: pair {number}"
    if not isinstance(given, dict):
        raise UsageError(f"{where}: an object with control and candidate is expected")
    for key in given:
        if key not in _KEYS:
            raise UsageError(f"{where}: unknown key '{key}'{did_you_mean(key, _KEYS)}")
    for key in ("control", "candidate"):
        if not isinstance(given.get(key), str) or not given[key]:
            raise UsageError(f"{where}: '{key}' has to be the name of a run")
    if given["control"] == given["candidate"]:
        raise UsageError(f"{where}: '{given['control']}' is compared with itself")
    seed = given.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise UsageError(f"{where}: 'seed' has to be a whole number")
    return NamedPair(given["control"], given["candidate"], seed)


def check_lists(control: Sequence[str], candidate: Sequence[str]) -> None:
    """Raise UsageError for a missing list, and for a run that is named twice."""
    for name, given in (("control", control), ("candidate", candidate)):
        if not given:
            raise UsageError(f"--{name}-run-ids: give the runs of both sides")
        _check_once(given, f"--{name}-run-ids:")
    both = sorted(set(control) & set(candidate))
    if both:
        raise UsageError(f"'{both[0]}' is named as control and as candidate")


def _check_once(names: Sequence[str], where: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"{where} '{twice[0]}' is named twice, and would count twice")


def find_files(names: Iterable[str], folder: Path | None) -> dict[str, Path]:
    """Return the file of the series of each name that has one."""
    return {name: path for name in names if (path := find_series(name, folder)) is not None}


def run_of_file(name: str, path: Path, metric: str | None) -> Run:
    """Return a run with its series, or with the reason for a missing one; None means the default
    metric.
    """
    series = read_series(path, metric)
    if not isinstance(series, Series):
        return Run(name, seed_of_name(name), reason=series.reason)
    return Run(name, seed_of_name(name) if series.seed is None else series.seed, series)


def run_of_store(
    connection: sqlite3.Connection | None, name: str, metric: str, where: Mapping[str, str | None]
) -> Run:
    """Return a stored run with its value: the mean over its repeats, geometric for times.

    `where` are `suite` and `benchmark`, of which there may be only one. With a reason instead of
    a value where it has none.
    """
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import evidence_of
    from agentbench_tui.verdicts.selection.selector import executions_of_selector, parse_selector

    if connection is None:
        return Run(name, seed_of_name(name), reason="no file has its series")
    try:
        selector = parse_selector(name if name.startswith("run:") else f"run:{name}")
        rows = executions_of_selector(connection, selector, **where)
    except UsageError as error:
        return Run(name, seed_of_name(name), reason=f"no file has its series, and {error}")
    places = sorted({(row["suite_id"], row["benchmark_id"]) for row in rows})
    if len(places) > 1:
        some = ", ".join(benchmark for _, benchmark in places[:4])
        raise UsageError(f"run '{name}' holds {len(places)} benchmarks ({some}): add --benchmark")
    if find_metric(metric) is None:
        return Run(name, reason=f"the store has no metric '{metric}'")
    values = evidence_of(connection, rows, CaseNumbers(connection)).per_repeat(metric)
    seeds = {row["seed"] for row in rows}
    seed = seeds.pop() if len(seeds) == 1 else None
    if not len(values):
        return Run(name, seed, reason=f"has no value of {metric}")
    positive = metric.partition(".")[0].endswith("_ms") and bool((values > 0).all())
    mean = np.exp(np.log(values).mean()) if positive else values.mean()
    simulated = any(row["simulated"] for row in rows)
    return Run(name, seed, value=float(mean), simulated=simulated)
