"""An agent's measurements over time, one point per run at each place.

A place is a benchmark of a suite at one point of a sweep. Points are compared only if they are
comparable: the same definition of the benchmark with the same cases, the same machine for times,
and the same load. Runs of one version must also have the same configuration. Differences are
described in words.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.contracts.document import Json
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.model.kinds import DEFAULT, Kind, kind_named
from agentbench_tui.scoring.former_names import with_current_names
from agentbench_tui.store.queries.history import facts_of_runs, plans_of_runs
from agentbench_tui.store.queries.metrics import metric_values
from agentbench_tui.store.queries.selection import executions_where
from agentbench_tui.store.queries.suites import suite_weights
from agentbench_tui.verdicts.evidence.comparability import depends_on_machine
from agentbench_tui.verdicts.evidence.place import place_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Sequence

    from agentbench_tui.verdicts.evidence.place import Execution, Place

_COSMETIC = (
    "benchmark_id", "name", "description", "notes", "tags", "metrics_measured", "scoring_rubric",
    "instruments", "parameters", "dataset", "expected_outputs",
)  # fmt: skip
"""Parts of a definition that change no measured value, or are compared by themselves: parameters
are the place, the dataset is compared by its cases."""
_SHORT = 40
"""Maximum length of a value that is shown if definitions differ."""


@dataclass(frozen=True, eq=False)
class Point:
    """One run at one place."""

    run_id: str
    run_key: int
    at: str
    """UTC, when its executions were made."""
    version: str
    executions: tuple[Execution, ...]
    """One, or one for each seed."""
    definition: dict[str, Json]
    """The benchmark as executed, including changes by the command line."""
    weights: dict[str, float]
    """Weights of the suite, by dimension."""
    harness: str | None = None
    """Verdict of the run on itself: `clean`, `noisy` or `generator-limited`."""
    values: dict[str, float] = field(default_factory=dict)
    """Metric → the value of the run."""
    repeats: int = 1
    """Repeats of each execution."""

    @property
    def keys(self) -> tuple[int, ...]:
        """Return the keys of its executions."""
        return tuple(row["key"] for row in self.executions)

    @property
    def observed(self) -> int:
        """Return the number of answers, or requests, of its executions."""
        return sum(row["observed"] for row in self.executions)

    @property
    def kind(self) -> Kind:
        """Return the kind of its benchmark."""
        return kind_named(str(self.definition.get("kind", DEFAULT)))

    @cached_property
    def circumstances(self) -> tuple[Json, ...]:
        """Return everything that decides which points it can be compared with."""
        columns = ("simulated", "fingerprint", "dataset_key", "model_configuration")
        return id(self.definition), self.version, *map(self.one_of_all, columns)

    def one_of_all(self, column: str) -> Json:
        """Return the value of a column that is the same in all its executions."""
        return self.executions[0][column]


class _Execution(msgspec.Struct):
    id: str


class _Group(msgspec.Struct):
    benchmark: msgspec.Raw
    executions: tuple[_Execution, ...]


class _Plan(msgspec.Struct):
    groups: tuple[_Group, ...]


def histories(
    connection: sqlite3.Connection,
    keys: Collection[int],
    metrics: Iterable[str],
    *,
    suite: str | None = None,
    benchmark: str | None = None,
) -> dict[Place, list[Point]]:
    """Return the points, oldest first, of every place with complete executions.

    `keys` are those of an agent's executions that count.
    """
    rows = executions_where(connection, keys=keys, suite=suite, benchmark=benchmark)
    run_keys = sorted({row["run_key"] for row in rows})
    definitions = _definitions(connection, run_keys)
    weights = {
        digest: suite_weights(connection, digest) for digest in {row["suite_hash"] for row in rows}
    }
    gathered: dict[tuple[Place, int, int], list[Execution]] = {}
    for row in rows:
        gathered.setdefault((place_of(row), row["run_key"], row["simulated"]), []).append(row)
    values = metric_values(connection, keys, metrics)
    of_runs = facts_of_runs(connection, run_keys)
    found: dict[Place, list[Point]] = {}
    unknown: dict[str, Json] = {}
    for (place, run_key, _), executions in gathered.items():
        first = executions[0]
        point = Point(
            run_id=first["run_id"],
            run_key=run_key,
            at=first["created_at"],
            version=first["agent_version"],
            executions=tuple(executions),
            definition=definitions.get(first["id"], unknown),
            weights=weights.get(first["suite_hash"], {}),
            harness=of_runs[run_key].verdict,
            repeats=of_runs[run_key].repeats,
            values=_together([values.get(row["key"], {}) for row in executions]),
        )
        found.setdefault(place, []).append(point)
    return found


def _definitions(
    connection: sqlite3.Connection, run_keys: Iterable[int]
) -> dict[str, dict[str, Json]]:
    """Return the benchmark of each execution of runs, by id; equal ones are one object."""
    found: dict[str, dict[str, Json]] = {}
    seen: dict[bytes, dict[str, Json]] = {}
    decode = msgspec.json.Decoder(_Plan).decode
    for plan in plans_of_runs(connection, run_keys):
        for group in decode(plan).groups:
            raw = bytes(group.benchmark)
            if raw not in seen:
                seen[raw] = with_current_names(msgspec.json.decode(raw))
            for execution in group.executions:
                found[execution.id] = seen[raw]
    return found


def _together(values: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return one run's values; for several seeds the mean, on logarithms for metrics that change
    by factors.
    """
    if len(values) == 1:
        return values[0]
    found = {}
    for name in set.intersection(*(set(one) for one in values)):
        column = [one[name] for one in values]
        if is_share(name) or min(column) <= 0:
            found[name] = math.fsum(column) / len(column)
        else:
            found[name] = math.exp(math.fsum(map(math.log, column)) / len(column))
    return found


def is_share(metric: str) -> bool:
    """Return whether the metric lies in 0..1 and therefore changes by points."""
    known = find_metric(metric)
    return known is not None and known.unit == "share"


def is_timed(metric: str, point: Point) -> bool:
    """Return whether the metric depended on the machine in this run."""
    return depends_on_machine(metric, point.executions)


def comparable(
    points: Sequence[Point], newest: Point, metric: str
) -> tuple[list[Point], Counter[str]]:
    """Return the points comparable with the newest one, and the reasons for the others: words →
    runs.
    """
    kept, left_out = [], Counter[str]()
    timed = is_timed(metric, newest)
    told: dict[tuple[Json, ...], str] = {}
    for point in points:
        words = told.get(point.circumstances)
        if words is None:
            words = told[point.circumstances] = "; ".join(_differences(point, newest, timed=timed))
        if words:
            left_out[words] += 1
        else:
            kept.append(point)
    return kept, left_out


def _differences(point: Point, newest: Point, *, timed: bool) -> list[str]:
    if point is newest:
        return []
    words = []
    if point.one_of_all("simulated") != newest.one_of_all("simulated"):
        words.append("one is simulated, the other measured")
    if timed and point.one_of_all("fingerprint") != newest.one_of_all("fingerprint"):
        words.append("another machine")
    if point.one_of_all("dataset_key") != newest.one_of_all("dataset_key"):
        words.append("other cases")
    if point.definition is not newest.definition:
        words += _changed(point.definition, newest.definition)
    if point.version == newest.version:
        words += _configured(point, newest)
    return words


def _configured(point: Point, newest: Point) -> list[str]:
    """Compare the configurations of one version; between versions they are what is compared."""
    texts = [one.one_of_all("model_configuration") or "{}" for one in (point, newest)]
    if texts[0] == texts[1]:
        return []
    before, now = (json.loads(text) for text in texts)
    for part in ("name", "base_dir", "hourly_price_usd"):
        before.pop(part, None)
        now.pop(part, None)
    return [f"the same version with another {word}" for word in _changed(before, now)]


def _changed(before: dict[str, Json], now: dict[str, Json]) -> list[str]:
    """Name the parts that differ, with short values in full."""
    words = []
    for name in {**before, **now}:
        values = before.get(name), now.get(name)
        if name in _COSMETIC or values[0] == values[1]:
            continue
        if all(isinstance(value, dict) for value in values):
            words += [f"{name}.{word}" for word in _changed(*values)]  # type: ignore[arg-type]
            continue
        texts = [json.dumps(value) for value in values]
        is_short = max(map(len, texts)) <= _SHORT
        words.append(f"{name} {texts[0]} then, {texts[1]} now" if is_short else name)
    return words
