"""Metrics of answers that a suite or another package defines, beside the credit of scorers.

A suite lists them under `metrics`: `python:PLACE:NAME` of a function or an `AnswerMetric`, or the
name of an entry point of the group `agentbench.metrics`, which is an `AnswerMetric`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import msgspec
from msgspec.structs import replace

from agentbench_tui.model.answer import GraderFailure
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.figure import PERCENTILES, Metric
from agentbench_tui.model.identity import is_name
from agentbench_tui.model.process_exit import ProcessExit
from agentbench_tui.scoring.combination import metric_of_label

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from agentbench_tui.model.answer import Answer, Case
    from agentbench_tui.model.figures.figure import Direction

ENTRY_POINTS = "agentbench.metrics"
Aggregate = Literal["mean", "distribution", "ratio"]
"""How values of answers become a metric. `mean`: their mean. `distribution`: mean and percentiles,
as `NAME.mean`, `NAME.p50`, `NAME.p95`, … `ratio`: each value is a pair, and the metric is the sum
of the first ÷ the sum of the second."""
Figure = float | tuple[float, float]
"""The value of one answer; a pair for a ratio."""
_DIRECTIONS = ("higher", "lower", "none")
_DEFINED = ("unit", "direction", "aggregate")
_KEYS = (*_DEFINED, "options")
_BARE_REPR: object = object.__repr__


class AnswerMetric(msgspec.Struct, frozen=True):
    """A metric that is measured on each answer."""

    measure: Callable[..., Any]
    """Takes the case, the answer and the options by keyword; may be async. Returns a number or a
    bool, a pair of numbers for a `ratio`, or None if the answer has no such value."""
    unit: str = ""
    """`share` for values of 0..1."""
    direction: Direction = "none"
    """Which way is better: `higher`, `lower`, or `none`, which no gate on regressions can judge."""
    aggregate: Aggregate = "mean"
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    name: str = ""
    """Given by the suite, or by the entry point."""

    async def of(self, case: Case, answer: Answer) -> Figure | None:
        """Return the value of an answer. Raises GraderFailure for anything that is no number."""
        value = self.measure(case, answer, **self.options)
        if inspect.isawaitable(value):
            value = await value
        if value is None:
            return None
        if self.aggregate != "ratio":
            return self._number(value)
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            raise GraderFailure(f"returned {_shown(value)}, not a pair of numbers")
        return self._number(value[0]), self._number(value[1])

    def declared(self) -> list[Metric]:
        """Return the metrics that it becomes, by name."""
        formula = f"What {self.name} measures on each answer: {self.aggregate}."
        names = [self.name]
        if self.aggregate == "distribution":
            names += [f"{self.name}.{part}" for part in ("mean", *PERCENTILES)]
        return [Metric(name, self.unit, self.direction, formula) for name in names]

    def _number(self, value: Any) -> float:
        number = _finite(value)
        if number is None:
            raise GraderFailure(f"returned {_shown(value)}, not a finite number")
        if self.unit == "share" and self.aggregate != "ratio" and not 0 <= number <= 1:
            raise GraderFailure(f"returned {value}, not a share in 0..1")
        return number


def _finite(value: Any) -> float | None:
    """Return a number of any type as a float; None for NaN, infinity, what a float cannot hold, and
    what is no number.
    """
    value = value.item() if getattr(value, "shape", None) == () else value  # of numpy
    if not isinstance(value, Real | Decimal):
        return None
    with suppress(OverflowError, ValueError):
        number = float(value)
        return number if math.isfinite(number) else None
    return None


def _shown(value: Any) -> str:
    """Return a value for a message: without an address, which would differ for each answer."""
    if type(value).__repr__ is not _BARE_REPR:
        with suppress(Exception):  # an int of more digits than Python prints; anyone's `__repr__`
            return f"{value!r:.60}"
    return f"an object of the type {type(value).__name__}"


def answer_metrics(specs: Sequence[object], folder: Path | str) -> list[AnswerMetric]:
    """Return the metrics that a benchmark lists, ready for use. Paths are relative to `folder`.

    Raises UsageError for the first that cannot be used.
    """
    return [_metric(spec, Path(folder)) for spec in specs]


class MetricDefinition(NamedTuple):
    """What is known of a metric without its code."""

    name: str
    unit: str
    direction: Direction
    aggregate: Aggregate


def with_definitions(specs: Sequence[object], folder: Path | str) -> list[str | dict[str, Any]]:
    """Return the metrics of a benchmark as a suite would write them in full, so that stored values
    are aggregated without their code. Raises UsageError.
    """
    return [
        {
            place_of_metric(spec): {
                "unit": metric.unit,
                "direction": metric.direction,
                "aggregate": metric.aggregate,
                "options": dict(metric.options),
            },
            "as": metric.name,
        }
        for spec, metric in zip(specs, answer_metrics(specs, folder), strict=True)
    ]


def metric_definitions(specs: Sequence[object]) -> list[MetricDefinition]:
    """Return the definitions in what `with_definitions` returns."""
    found = []
    for spec in specs:
        place, settings, label = _parts(spec)
        metric = AnswerMetric(len, **{key: settings[key] for key in _DEFINED if key in settings})
        _check(metric, place)
        name = metric_of_label(label or place.rpartition(":")[2])
        found.append(MetricDefinition(name, metric.unit, metric.direction, metric.aggregate))
    return found


def check_metric(spec: object, folder: Path | str) -> list[str]:
    """Return the problems of a metric as a suite writes it; loads it and measures nothing."""
    try:
        _metric(spec, Path(folder))
    except UsageError as error:
        return [str(error)]
    return []


def place_of_metric(spec: object) -> str:
    """Return the name of a metric or `python:…`, as a suite writes it. Raises UsageError."""
    return _parts(spec)[0]


def _parts(spec: object) -> tuple[str, dict[str, Any], Any]:
    """Return the place, the settings and the label."""
    if isinstance(spec, str):
        return spec, {}, None
    if not isinstance(spec, Mapping):
        raise UsageError(f"a metric is a name or {{name: settings}}, not {spec!r}")
    rest = {key: value for key, value in spec.items() if key != "as"}
    if len(rest) != 1:
        raise UsageError(f"a metric is one name with its settings, not {sorted(map(str, rest))}")
    place, settings = next(iter(rest.items()))
    if settings is not None and not isinstance(settings, Mapping):
        raise UsageError(f"{place}: settings are a table of {', '.join(_KEYS)}")
    return str(place), dict(settings or {}), spec.get("as")


def _metric(spec: object, folder: Path) -> AnswerMetric:
    place, settings, label = _parts(spec)
    for key in settings:
        if key not in _KEYS:
            raise UsageError(f"{place}: there is no setting `{key}`{did_you_mean(key, _KEYS)}")
    found = _found(place, folder)
    given = {key: settings[key] for key in _DEFINED if key in settings}
    name = label or found.name or place.rpartition(":")[2]
    if not is_name(str(name)):
        raise UsageError(f"{place}: `as` must be a name of letters, digits, . _ -")
    options = settings.get("options") or {}
    if not isinstance(options, Mapping):
        raise UsageError(f"{place}: `options` is a table of the function's arguments")
    metric = replace(found, name=metric_of_label(str(name)), options={**found.options, **options})
    metric = replace(metric, **given)
    _check(metric, place)
    return metric


def _check(metric: AnswerMetric, place: str) -> None:
    for key, allowed in (("direction", _DIRECTIONS), ("aggregate", get_args(Aggregate))):
        value = getattr(metric, key)
        if value not in allowed:
            near = did_you_mean(str(value), allowed) or f"; there are {', '.join(allowed)}"
            raise UsageError(f"{place}: there is no {key} `{value}`{near}")
    if not isinstance(metric.unit, str):
        raise UsageError(f"{place}: `unit` is text, such as words or usd, not {metric.unit!r}")


def _found(place: str, folder: Path) -> AnswerMetric:
    if place.startswith("python:"):
        return _as_metric(_loaded(place.removeprefix("python:"), folder), place)
    entry = _plugins().get(place)
    if entry is None:
        names = sorted(_plugins())
        known = did_you_mean(place, names) or (f"; there are {', '.join(names)}" if names else "")
        hint = known or "; no package brings any: name a function as python:FILE.py:FUNCTION"
        raise UsageError(f'there is no metric "{place}"{hint}')
    try:
        found = entry.load()
    except (Exception, SystemExit, ProcessExit) as error:
        raise UsageError(f"metric {place} of {entry.value} cannot be loaded: {error}") from error
    return replace(_as_metric(found, place), name=place)


def _loaded(place: str, folder: Path) -> object:
    from agentbench_tui.agents.python.python_source import Origin, TargetNotFound, load

    module, _, name = place.rpartition(":")
    try:
        return load(Origin(module, name, str(folder)))
    except TargetNotFound as error:
        raise UsageError(str(error)) from None


def _as_metric(found: object, place: str) -> AnswerMetric:
    if isinstance(found, AnswerMetric):
        return found
    if callable(found):
        return AnswerMetric(found)
    raise UsageError(f"{place} is neither a function nor an AnswerMetric")


@cache
def _plugins() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
