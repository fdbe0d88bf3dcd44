"""Data of the leaderboard page beyond its boards: available boards, and the runs behind each
contender. The boards themselves come from `scoreboard`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.model.figures.pass_metrics import attempts_of
from agentbench_tui.store.queries.metrics import names_with_values
from agentbench_tui.verdicts.evidence.declared_metrics import declare_benchmark_metrics
from agentbench_tui.verdicts.evidence.place import place_of
from agentbench_tui.verdicts.ranking.rankable import OVERALL
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards
from agentbench_tui.verdicts.score_means import mean_of_all
from agentbench_tui.verdicts.selection.contenders import Wanted, contenders_by_category

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentbench_tui.verdicts.evidence.place import Execution, Place
    from agentbench_tui.verdicts.selection.contenders import Contender

Document = dict[str, Any]

RANKED_BY = (
    "accuracy", OVERALL, "e2e_ms", "e2e_ms.p95", "ttft_ms", "ttft_ms.p99", "tpot_ms",
    "request_throughput_per_s", "goodput_per_s", "output_tokens", "output_tokens_per_s",
    "cost_usd_per_task", "reliability", "resilience", "breaking_rate_per_s",
)  # fmt: skip
"""Metrics to choose from, in this order, if they were measured."""
ALL = "all"
"""Stands for a board over all categories."""


@dataclass(frozen=True, slots=True)
class Leaders:
    """The boards of one category, and the other choices."""

    category: str | None
    """`ALL` for one board over all; None if nothing was measured in the window."""
    categories: tuple[str, ...]
    """Categories with measurements; with `ALL` if there are several."""
    metrics: tuple[str, ...]
    """Metrics of `RANKED_BY` that were measured in the category, those that its benchmarks define,
    and pass@k and pass^k of the most attempts."""
    boards: tuple[Document, ...]
    """Measured contenders first, then simulated ones."""
    details: dict[tuple[str, bool], Document]
    """By name and whether it is simulated; see `contender_details`."""


def leaders(
    connection: sqlite3.Connection,
    *,
    category: str | None = None,
    metric: str | None = None,
    days: int | None = 30,
) -> Leaders:
    """Return the boards of a category.

    The default is the one with most executions, also if the given one has none within `days`.
    Raises UsageError for an unknown metric.
    """
    found = contenders_by_category(connection, Wanted(days))
    if not found:
        return Leaders(None, (), (), (), {})
    categories = (*found, ALL) if len(found) > 1 else tuple(found)
    if category not in categories:
        category = max(found, key=lambda name: _weight(found[name]))
    those = [one for name, some in found.items() if category in (ALL, name) for one in some]
    asked = BoardAsked(metric, category == ALL, wanted=Wanted(days, None, _named(category)))
    shown = boards(connection, asked)
    shown.sort(key=lambda board: board["simulated"])
    return Leaders(
        category, categories, _measured(connection, those), tuple(shown), contender_details(those)
    )


def _named(category: str) -> str | None:
    return None if category == ALL else category


def _weight(those: Sequence[Contender]) -> tuple[int, int]:
    """Sort measured contenders before any number of simulated ones."""
    measured = sum(len(one.executions) for one in those if not one.simulated)
    return measured, sum(len(one.executions) for one in those)


def _measured(connection: sqlite3.Connection, those: Iterable[Contender]) -> tuple[str, ...]:
    names = names_with_values(connection, [row["key"] for one in those for row in one.executions])
    bases = {name.partition(".")[0] for name in names}
    scored = any(row["overall_score"] is not None for one in those for row in one.executions)
    main = [
        name for name in RANKED_BY if (scored if name == OVERALL else _is_among(name, names, bases))
    ]
    return (*main, *_own(connection, names), *_of_most_attempts(names))


def _own(connection: sqlite3.Connection, names: set[str]) -> list[str]:
    """Return the measured metrics that benchmarks define, if one direction of them is better."""
    defined = [name for name in declare_benchmark_metrics(connection) if name in names]
    # The mean of a distribution is compared case by case under its plain name.
    plain = dict.fromkeys(name.removesuffix(".mean") for name in defined)
    return [name for name in plain if (known := find_metric(name)) and known.direction != "none"]


def _of_most_attempts(names: set[str]) -> list[str]:
    """Return pass@k and pass^k for the largest number of attempts; none for one attempt."""
    attempts = {name: k for name in names if (k := attempts_of(name)) is not None}
    return sorted(name for name, k in attempts.items() if k == max(attempts.values()))


def _is_among(metric: str, names: set[str], bases: set[str]) -> bool:
    known = find_metric(metric)
    measured = metric in (names if "." in metric else bases)
    return measured and known is not None and known.direction != "none"


def contender_details(those: Iterable[Contender]) -> dict[tuple[str, bool], Document]:
    """Return the data behind each contender: its `executions`, the newest first, the number of
    `runs` and `answers`, and in `benchmarks` the means of their scores (None unless all have one).
    """
    rows: dict[tuple[str, bool], dict[int, Execution]] = defaultdict(dict)
    for one in those:  # a contender of several categories has executions in each
        rows[one.name, one.simulated].update((row["key"], row) for row in one.executions)
    return {key: _details([*found.values()]) for key, found in rows.items()}


def _details(rows: Sequence[Execution]) -> Document:
    by_place: dict[Place, list[Execution]] = defaultdict(list)
    for row in rows:
        by_place[place_of(row)].append(row)
    newest = sorted(rows, key=lambda row: (row["created_at"], row["key"]), reverse=True)
    return {
        "runs": len({row["run_id"] for row in rows}),
        "answers": sum(row["observed"] for row in rows),
        "benchmarks": [
            {
                "suite_id": place.suite_id,
                "benchmark": place.words,
                "answers": sum(row["observed"] for row in some),
                **_scores(some),
            }
            for place, some in sorted(by_place.items())
        ],
        "executions": [_execution(row) for row in newest],
    }


def _execution(row: Execution) -> Document:
    return {
        "id": row["id"],
        "run_id": row["run_id"],
        "agent_version": row["agent_version"],
        "suite_id": row["suite_id"],
        "benchmark": place_of(row).words,
        "answers": row["observed"],
        "cost_usd": row["cost_usd"],
        "created_at": row["created_at"],
        **_scores([row]),
    }


def _scores(rows: Sequence[Execution]) -> Document:
    return {
        name: mean_of_all([row[f"{name}_score"] for row in rows])
        for name in ("overall", *DIMENSIONS)
    }
