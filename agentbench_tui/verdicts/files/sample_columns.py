"""Meaning of a sample file's columns, by name: cases, repeats, failures, metrics.

Names that other tools use are mapped to agentbench's. If the name contains a unit, values are
converted and a note says so. A column with an unknown name takes part only if it is requested with
a direction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.metric import METRICS, Metric, find_metric, known_metrics
from agentbench_tui.model.text.plain_number import plain

if TYPE_CHECKING:
    from agentbench_tui.analysis.scale import Better

ROLES: Mapping[str, tuple[str, ...]] = {
    "case": (
        "case", "case_id", "task", "task_id", "question_id", "problem_id", "instance_id",
        "example_id", "sample_id", "item_id", "doc_id", "id",
    ),
    "cluster": ("cluster",),
    "seed": ("seed",),
    "run": ("run", "run_id"),
    "repeat": ("repeat", "trial", "epoch"),
    "iteration": ("iteration",),
    "attempt": ("attempt", "attempt_number", "try"),
    "benchmark": ("benchmark", "benchmark_id"),
    "point": ("parameters",),
    "agent": ("agent", "agent_id", "model"),
}  # fmt: skip
"""Names of columns by role; of several such columns the first counts."""
WITHIN_TASK = (
    "doc_id", "question_id", "problem_id", "example_id", "item_id", "instance_id",
)  # fmt: skip
"""Columns that name the case within its `task`: samples of several tasks of a harness. Not
`sample_id` and `id`, which often name the attempt."""
INPUTS = ("input", "prompt", "question")
"""Columns with the question: questions of one template or about one passage may form a cluster."""
CIRCUMSTANCES = (
    "send_lag_ms", "queue_ms", "e2e_from_send_ms", "ttft_from_send_ms", "input_tokens",
)  # fmt: skip
"""Columns that are compared only on request: they describe the sender or the question."""
STATUS_CODES = ("status_code", "http_status")
"""Columns with the status of an HTTP answer; from 200 to 399 it did not fail."""
FAILURES = ("failure_kind", "failure", "status", "error", "exception", "timed_out", *STATUS_CODES)
"""Columns of which one marks each failed row."""
KINDS = FAILURES[:3]
"""Columns that also give the kind of failure."""
_MEANINGS: Mapping[str, tuple[str, ...]] = {
    "accuracy": (
        "accuracy", "score", "credit", "correct", "is_correct", "right", "passed", "pass",
        "success", "resolved", "exact_match", "acc",
    ),
    "e2e_ms": ("e2e", "latency", "duration", "elapsed", "response_time", "total_time", "time", ""),
    "ttft_ms": ("ttft", "time_to_first_token", "first_token"),
    "ttfo_ms": ("ttfo", "time_to_first_output"),
    "tpot_ms": ("tpot", "time_per_output_token"),
    "itl_ms": ("itl", "inter_token_latency"),
    "output_tokens": ("output_tokens", "completion_tokens", "tokens_out"),
    "input_tokens": ("input_tokens", "prompt_tokens", "tokens_in"),
    "cost_usd_per_task": ("cost_usd_per_task", "cost_usd", "cost", "price_usd", "total_cost_usd"),
}  # fmt: skip
"""Metric → names of its columns; times without their unit. The first existing column counts."""
_UNITS: Mapping[str, float] = {
    "ms": 1.0, "msec": 1.0, "millis": 1.0, "milliseconds": 1.0,
    "s": 1e3, "sec": 1e3, "secs": 1e3, "seconds": 1e3,
    "us": 1e-3, "microseconds": 1e-3, "ns": 1e-6, "nanoseconds": 1e-6,
}  # fmt: skip
"""Unit of a time → milliseconds in it."""
_TIMES = {
    name for metric, names in _MEANINGS.items() if metric.endswith("_ms") for name in names if name
}
"""Names of times without their unit."""
_ID = re.compile(r"(?:^|[_\W])(?:id|uuid|hash|key|index)$", re.IGNORECASE)
"""Names of columns that may identify the item of a row."""
_ALONE = {"ms", "s", "sec", "seconds", "milliseconds"}
"""Units that name a time without any other word."""


class ValueColumn(msgspec.Struct, frozen=True):
    """A column that holds a metric."""

    name: str
    metric: Metric
    factor: float = 1.0
    """Factor that converts its numbers to the metric's unit."""
    chosen: bool = False
    """Whether it was requested by name, and is used unchanged."""

    @property
    def words(self) -> str:
        """Describe how it is read; empty if its name is clear."""
        if self.chosen or (self.name == self.metric.name and self.factor == 1):
            return ""
        times = "" if self.factor == 1 else f" × {plain(self.factor, grouped=False)}"
        return f"{self.name}{times} → {self.metric.name}"


class Meaning(msgspec.Struct, frozen=True):
    """The meaning of each column of a file."""

    roles: Mapping[str, str]
    """Role → name of the column."""
    failures: tuple[str, ...]
    values: tuple[ValueColumn, ...]
    ignored: tuple[ValueColumn, ...] = ()
    """Columns of metrics that another column says better."""
    within: str | None = None
    """The column that names the case together with that of the role `case`."""


def chosen_metric(name: str, better: Better | None) -> Metric | None:
    """Return the metric of a column that only a file has; None for one of agentbench's.

    Raises UsageError if its better direction was not given.
    """
    if find_metric(name) is not None:
        return None
    if better is None:
        near = did_you_mean(name, [*METRICS, *known_metrics()])
        raise UsageError(
            f"--metric {name}: not a metric of agentbench{near}; for a column of a file,"
            " give the better direction: add --better higher or --better lower"
        )
    return Metric(name, "", better, "A column of a file, as it is.")


def is_time(name: str) -> bool:
    """Return whether the name of a column says that it holds a time or a rate."""
    words = re.split(r"[\W_]+", _plain(name))
    return words[-1] in _UNITS or bool(_TIMES & {*words, "_".join(words)})


def is_wanted(name: str, chosen: Iterable[str]) -> bool:
    """Return whether a column of that name may have a meaning."""
    plain = _plain(name)
    named = any(plain in names for names in (*ROLES.values(), FAILURES, INPUTS))
    if name in chosen or named:
        return True
    return _value_column(name) is not None


def meaning(names: Sequence[str], chosen: Sequence[Metric] = ()) -> Meaning:
    """Return the meaning of a file's columns; `chosen` are metrics by the names of their
    columns.
    """
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(_plain(name), name)
    own = {metric.name for metric in chosen}
    roles = {}
    for role, candidates in ROLES.items():
        found = next((plain[one] for one in candidates if one in plain), None)
        if found is not None and found not in own:
            roles[role] = found
    values = [ValueColumn(one.name, one, chosen=True) for one in chosen if one.name in names]
    for name in names:
        column = None if name in own else _value_column(name)
        if column is not None and not _is_held(values, column):
            values = [one for one in values if one.chosen or one.metric is not column.metric]
            values.append(column)
    failures = tuple(plain[one] for one in FAILURES if one in plain and plain[one] not in own)
    taken = {*own, *(one.name for one in values)}
    others = [one for name in names if name not in taken and (one := _value_column(name))]
    within = None
    if _plain(roles.get("case", "")) == "task":
        within = next((plain[one] for one in WITHIN_TASK if one in plain), None)
    return Meaning(roles, failures, tuple(values), tuple(others), None if within in own else within)


def nameless_words(names: Sequence[str], columns: Meaning) -> list[str]:
    """Return a note on columns that may name the case in a file without one that does."""
    known = {*columns.roles.values(), *(one.name for one in columns.values)}
    ids = [name for name in names if _ID.search(name) and name not in known]
    if not ids:
        return []
    return [f"no column names the case, so rows are not paired; if '{ids[0]}' does, call it `case`"]


def _is_held(values: Iterable[ValueColumn], column: ValueColumn) -> bool:
    """Return whether another column has the same metric in a better form."""
    return any(
        one.metric.name == column.metric.name
        and (one.chosen or _rank(one.name) <= _rank(column.name))
        for one in values
    )


def _rank(name: str) -> int:
    """Return how well a name matches its metric; 0 is best."""
    plain = _plain(name)
    stem, _ = _time(plain) or (plain, 1.0)
    return min(
        (names.index(one) for names in _MEANINGS.values() for one in (plain, stem) if one in names),
        default=0,
    )


def _value_column(name: str) -> ValueColumn | None:
    plain = _plain(name)
    time = _time(plain)
    for metric, names in _MEANINGS.items():
        timed = METRICS[metric].unit == "ms"
        if timed and time is not None and time[0] in names:
            return ValueColumn(name, METRICS[metric], time[1])
        if not timed and plain in names:
            return ValueColumn(name, METRICS[metric])
    own = METRICS.get(plain)
    if own is None or own.direction == "none" or own.unit in {"1/s", "tokens/s"}:
        return None
    return ValueColumn(name, own)


def _time(plain: str) -> tuple[str, float] | None:
    """Convert `latency_s` to `latency` and 1000; None without a unit of time."""
    stem, _, unit = plain.rpartition("_")
    factor = _UNITS.get(unit)
    return None if factor is None or (not stem and unit not in _ALONE) else (stem, factor)


def _plain(name: str) -> str:
    """Normalize `Latency (ms)` to `latency_ms`."""
    kept = "".join(one if one.isalnum() else " " for one in name.lower())
    return "_".join(kept.split())


def point_suffix(text: str) -> str:
    """Return what a cell of the role `point` adds to a benchmark's name; empty if nothing was
    swept.
    """
    return "" if text in {"", "{}"} else f" at {text}"
