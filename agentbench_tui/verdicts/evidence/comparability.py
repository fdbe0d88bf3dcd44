"""Differences between two sides other than the agent, and the comparisons that they rule out.

Nothing is hidden because of them: a time on another machine is shown, but gets no verdict.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from agentbench_tui.model.figures.market_metrics import MARKET_METRICS
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.scoring.former_names import with_current_names
from agentbench_tui.store.queries.executions import verdicts_on_harness
from agentbench_tui.store.queries.suites import benchmark_document
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Execution

_TIMED = {"ms", "s", "µs", "ns", "1/s", "tokens/s", "%"}
"""Units of metrics that depend on the machine as well as on the agent."""
_ALSO_TIMED = {"goodput_share", "sent_share"}
_DEFINITION = (
    "kind", "scorers", "combine", "expected_outputs", "system_prompt", "prompt", "parameters",
    "constraints", "iterations", "concurrency", "retries",
)  # fmt: skip
"""Parts of a benchmark's definition that change its numbers."""
_MARKING = {"kind", "scorers", "combine", "expected_outputs"}
"""Parts of a definition that make the same answer right in one run and wrong in another."""


DISTURBED: Final = "harness"
"""`Difference.what` of times that the machine or the harness disturbed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One circumstance that differs."""

    what: Literal["machine", "cases", "seeds", "definition", "load", "simulated", "harness", "same"]
    words: str
    forbids_times: bool = False
    """Times and rates get no verdict."""
    forbids_winner: bool = False
    """Verdicts remain, but neither side wins."""
    is_identical: bool = False
    """Both sides hold the same values, so there is nothing to compare."""


def is_timed(metric: str, *sides: Evidence) -> bool:
    """Return whether the metric depends on the machine on one of these sides."""
    return depends_on_machine(metric, [row for one in sides for row in one.executions])


def depends_on_machine(metric: str, executions: Iterable[Execution]) -> bool:
    """Return whether the metric depends on the machine: times, rates, and hourly costs."""
    known = find_metric(metric)
    if known is None:
        return False
    if metric.startswith("cost_usd"):
        return any("hourly_price_usd" in (row["model_configuration"] or "") for row in executions)
    if known.name in MARKET_METRICS:  # a percentage of money is none of the machine's
        return known.unit == "ms"
    return known.unit in _TIMED or known.name in _ALSO_TIMED


def differences(
    connection: sqlite3.Connection, a: Evidence, b: Evidence, numbers: CaseNumbers
) -> list[Difference]:
    """Return what differs or was disturbed; for a file only its cases can be compared."""
    rows_a, rows_b = a.executions, b.executions
    if not rows_a or not rows_b:
        found_cases = _answered_cases(a, b)
        return [] if found_cases is None else [found_cases]
    found = [
        _same(rows_a, rows_b),
        _simulated(rows_a, rows_b),
        _machine(rows_a, rows_b),
        _cases(rows_a, rows_b, numbers),
        _seeds(rows_a, rows_b),
        _definition(connection, rows_a, rows_b),
        _load_level(connection, rows_a, rows_b),
        _harness(connection, rows_a, rows_b),
    ]
    return [one for one in found if one is not None]


def _values(rows: Sequence[Execution], name: str) -> set[Any]:
    return {row[name] for row in rows}


def _same(a: Sequence[Execution], b: Sequence[Execution]) -> Difference | None:
    of_a, of_b = _values(a, "key"), _values(b, "key")
    if of_a == of_b:
        return Difference("same", "both sides hold the same executions", is_identical=True)
    if of_a & of_b:
        return Difference("same", "both sides hold some of the same executions")
    return None


def _simulated(a: Sequence[Execution], b: Sequence[Execution]) -> Difference | None:
    kinds = ["simulated" if row["simulated"] else "measured" for row in (a[0], b[0])]
    if kinds[0] == kinds[1]:
        return None
    words = f"A is {kinds[0]}, B {kinds[1]}"
    return Difference("simulated", words, forbids_winner=True)


def _machine(a: Sequence[Execution], b: Sequence[Execution]) -> Difference | None:
    of_a, of_b = _values(a, "fingerprint"), _values(b, "fingerprint")
    if None in of_a | of_b:
        return Difference("machine", "on which machine it was measured is not known")
    if of_a == of_b and len(of_a) == 1:
        return None
    apart = "several" if of_a & of_b else "different"
    words = f"measured on {apart} machines: times and rates are shown, but not judged"
    return Difference("machine", words, forbids_times=True)


def _cases(
    a: Sequence[Execution], b: Sequence[Execution], numbers: CaseNumbers
) -> Difference | None:
    keys_a, keys_b = _values(a, "dataset_key"), _values(b, "dataset_key")
    if keys_a == keys_b or None in keys_a | keys_b:
        return None
    return _of_cases(numbers.all_of(keys_a), numbers.all_of(keys_b))


def _answered_cases(a: Evidence, b: Evidence) -> Difference | None:
    """Compare the cases that have rows; nothing if a file does not name them."""
    if not (isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence)):
        return None
    if not (a.names_cases and b.names_cases):
        return None
    return _of_cases(np.unique(a.case), np.unique(b.case))


def _of_cases(of_a: Integers, of_b: Integers) -> Difference | None:
    common = len(np.intersect1d(of_a, of_b, assume_unique=True))
    if common == len(of_a) == len(of_b):
        return None
    asked = f"A was asked {len(of_a)} cases, B {len(of_b)}"
    if not common:
        told = f"{asked}, none of them the same: not paired"
        return Difference("cases", told, forbids_winner=True)
    return Difference("cases", f"{asked}: the {common} that both were asked are compared")


def _seeds(a: Sequence[Execution], b: Sequence[Execution]) -> Difference | None:
    of_a, of_b = _values(a, "seed"), _values(b, "seed")
    if of_a == of_b:
        return None
    words = [", ".join(map(str, sorted(seeds))) for seeds in (of_a, of_b)]
    return Difference("seeds", f"other seeds: {words[0]} against {words[1]}")


def _definition(
    connection: sqlite3.Connection, a: Sequence[Execution], b: Sequence[Execution]
) -> Difference | None:
    if _values(a, "suite_hash") == _values(b, "suite_hash"):
        return None
    first, second = (with_current_names(benchmark_of(connection, rows[-1])) for rows in (a, b))
    decided_alone = max(len(one.get("scorers") or ()) for one in (first, second)) < 2
    changed = [
        one
        for one in _unequal(first, second)
        if one[0] in _DEFINITION and not (one[0] == "combine" and decided_alone)
    ]
    if not changed:
        return None
    words = [_changed(name, *values) for name, values in changed]
    told = f"the benchmark is not defined alike: {'; '.join(words)}"
    marked_apart = any(name in _MARKING for name, _ in changed)
    return Difference("definition", told, forbids_winner=marked_apart)


def _load_level(
    connection: sqlite3.Connection, a: Sequence[Execution], b: Sequence[Execution]
) -> Difference | None:
    """Return a different load level, which alone changes times and rates."""
    first, second = (benchmark_of(connection, rows[-1]).get("load") or {} for rows in (a, b))
    if not first or not second:
        return None
    points = [rows[-1]["parameters"] for rows in (a, b)]
    apart = [_changed(name, *values) for name, values in _unequal(*points)]
    apart += [_changed(name, *values) for name, values in _unequal(first, second)]
    if not apart:
        return None
    words = f"another load, {', '.join(apart)}"
    return Difference("load", words, forbids_winner=True)


def _unequal(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, tuple[Any, Any]]]:
    names = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    return [(name, (first.get(name), second.get(name))) for name in names]


def benchmark_of(connection: sqlite3.Connection, row: Execution) -> dict[str, Any]:
    """Return the definition of an execution's benchmark as JSON; empty if it is not stored."""
    found = benchmark_document(connection, row["suite_hash"], row["benchmark_id"])
    return {} if found is None else json.loads(found)


def _changed(name: str, first: Any, second: Any) -> str:
    """Describe the change of one part of a definition, with short values in full."""
    if isinstance(first, dict) and isinstance(second, dict):
        inner = [key for key in {**first, **second} if first.get(key) != second.get(key)]
        return ", ".join(
            _changed(f"{name}.{key}", first.get(key), second.get(key)) for key in inner
        )
    texts = [json.dumps(value) for value in (first, second)]
    if max(map(len, texts)) > 40:
        return name
    return f"{name} {texts[0]} against {texts[1]}"


def _harness(
    connection: sqlite3.Connection, a: Sequence[Execution], b: Sequence[Execution]
) -> Difference | None:
    words = []
    for side, rows in (("A", a), ("B", b)):
        said = {_verdict(connection, row) for row in rows}
        for verdict in ("generator-limited", "noisy"):
            if verdict in said:
                words.append(f"{side} is {verdict}")
                break
    if not words:
        return None
    return Difference(
        DISTURBED, f"{', '.join(words)}: the machine or the harness disturbed its times"
    )


def _verdict(connection: sqlite3.Connection, row: Execution) -> str | None:
    """Return the measurement quality: a load's own, else that of its run."""
    return next(iter(verdicts_on_harness(connection, [row["key"]])), None)


def on_common_cases(a: Evidence, b: Evidence) -> tuple[Evidence, Evidence]:
    """Restrict both sides to the cases that both were asked; unchanged if there are none."""
    if not (isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence)):
        return a, b
    common = np.intersect1d(a.case, b.case)
    return (a.only(common), b.only(common)) if len(common) else (a, b)
