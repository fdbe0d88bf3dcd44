"""The leaderboard of one run; simulated agents are ranked only among themselves.

The modules that compare agents are imported only for several agents, because most runs have one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from agentbench_tui.analysis.intervals.estimate import Estimate
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.store.queries.runs import executions_of, failures_of, find_run
from agentbench_tui.verdicts.score_means import mean_of_all, mean_of_scores

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentbench_tui.contracts.leaderboard import Board
    from agentbench_tui.verdicts.ranking.standing import Standings
    from agentbench_tui.verdicts.selection.contenders import Wanted

OVERALL, ACCURACY = "overall", "accuracy"
MOST_OBSERVED = 20_000
"""Number of observations in a run up to which its agents are compared case by case."""
_QUICK_RESAMPLES = 2_000

Entry = dict[str, Any]


def run_leaderboard(
    connection: sqlite3.Connection, run_key: int, wanted: Wanted | None = None
) -> list[Entry]:
    """Return `leaderboard_of` a run, restricted to the requested suite, category and benchmark."""
    rows = executions_of(connection, run_key)
    kept = [row for row in rows if wanted is None or wanted.keeps(connection, row)]
    return leaderboard_of(connection, kept)


def leaderboard_of(
    connection: sqlite3.Connection, executions: Iterable[dict[str, Any]]
) -> list[Entry]:
    """Return the leaderboard of executions (rows of `queries.executions_of`) of one run: each
    agent's mean over them.

    `overall` is the mean of the executions' overall scores, None unless all have one; its
    interval takes executions as independent, and `reason` tells why there is none. If no agent has
    an overall score, agents are ranked by accuracy; `rank_metric` says by which. `rank_shown` is 1
    + the number of agents clearly ahead, `1=` where several share it: case by case for accuracy and
    where accuracy alone makes the overall score, otherwise by the intervals. `rank_low` and
    `rank_high` are the 95% interval of the rank.
    """
    by_agent: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in executions:
        by_agent[row["agent_id"], row["agent_version"], row["simulated"]].append(row)
    entries = []
    for (agent_id, version, simulated), rows in by_agent.items():
        overall = _mean_with_interval(rows)
        entry: Entry = {
            "rank": None,
            "agent_id": agent_id,
            "agent_version": version,
            "simulated": bool(simulated),
            "overall": overall.value,
            "low": overall.low,
            "high": overall.high,
            "reason": "",
        }
        if overall.value is not None and overall.low is None:
            from agentbench_tui.verdicts.ranking.missing_interval import why_without_interval

            entry["reason"] = why_without_interval(connection, rows)
        entry |= {name: mean_of_all([row[f"{name}_score"] for row in rows]) for name in DIMENSIONS}
        entry["benchmarks"] = len({(row["suite_id"], row["benchmark_id"]) for row in rows})
        entry["cost_usd"] = _sum([row["cost_usd"] for row in rows])
        entry["observed"] = sum(row["observed"] for row in rows)
        entry["answered"] = sum(row["answered"] for row in rows)
        entry["correct"] = sum(row["correct"] for row in rows)
        entry["failures"] = sum(
            count for row in rows for count in failures_of(connection, row["key"]).values()
        )
        entries.append(entry)
    metric = OVERALL if any(entry[OVERALL] is not None for entry in entries) else ACCURACY
    for entry in entries:
        entry["rank_metric"] = None if entry[metric] is None else metric
    _tell_ties(connection, entries, by_agent, metric)
    return _ranked(entries, metric)


def boards_without_scores(connection: sqlite3.Connection, run: dict[str, Any]) -> list[Board]:
    """Return the boards, case by case, of a run whose agents have no overall scores.

    `run` is an `agentbench.run/1`. Measured and simulated agents have separate boards. None if
    there are scores, fewer than two agents, too many answers to rank them quickly, or no way to
    rank all agents together.
    """
    entries = [one for one in run["leaderboard"] if one["answered"]]
    if (
        len(entries) < 2
        or any(one["overall"] is not None for one in entries)
        or sum(one["observed"] for one in entries) > MOST_OBSERVED
    ):
        return []
    import msgspec

    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.leaderboard import Board
    from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards
    from agentbench_tui.verdicts.selection.contenders import Wanted

    wanted = Wanted(days=None, by="version", run_key=find_run(connection, run["run_id"])["key"])
    found = boards(connection, BoardAsked(overall=True, wanted=wanted))
    if any(one["apart"] or one["metric"] != "accuracy" for one in found):
        return []
    return [msgspec.convert(plain(one), Board) for one in found]


def _tell_ties(
    connection: sqlite3.Connection,
    entries: list[Entry],
    by_agent: dict[tuple[str, str, int], list[dict[str, Any]]],
    metric: str,
) -> None:
    """Fill in shared ranks, separately for measured and simulated agents."""
    for entry in entries:
        entry |= {"rank_shown": "–", "rank_low": None, "rank_high": None, "ranked_by": None}
    for simulated in (False, True):
        alike = [
            (entry, [row for row in rows if row["status"] == "complete"])
            for entry, rows in zip(entries, by_agent.values(), strict=True)
            if entry["simulated"] == simulated and entry[metric] is not None
        ]
        if len(alike) == 1:  # nobody to compare it with
            ((entry, _),) = alike
            entry |= {"rank_shown": "1", "rank_low": 1, "rank_high": 1}
        if len(alike) < 2:
            continue
        found = _by_cases(connection, alike, metric)
        if found is None and metric == OVERALL:
            found = _by_intervals(alike)
        if found is None:
            continue
        for (entry, _), label, place in zip(alike, found.labels(), found.rows, strict=True):
            entry |= {"rank_shown": label, "ranked_by": found.method}
            entry |= {"rank_low": place.rank_low, "rank_high": place.rank_high}


def _by_intervals(alike: Sequence[tuple[Entry, list[dict[str, Any]]]]) -> Standings:
    from agentbench_tui.verdicts.ranking.standing import by_intervals

    return by_intervals(
        [
            Estimate(entry["overall"], entry["low"], entry["high"], len(rows), "overall")
            for entry, rows in alike
        ],
        "higher",
    )


def _by_cases(
    connection: sqlite3.Connection,
    alike: Sequence[tuple[Entry, list[dict[str, Any]]]],
    metric: str,
) -> Standings | None:
    """Return standings by case; None if they would not be those of the metric, if not all were
    asked the same cases, and if it would take long.
    """
    observed = sum(entry["observed"] for entry, _ in alike)
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.ranking.board_clusters import with_found_clusters
    from agentbench_tui.verdicts.ranking.ranked import only_accuracy, rank
    from agentbench_tui.verdicts.ranking.scorecard import PlaceNumbers, scorecards
    from agentbench_tui.verdicts.selection.contenders import Contender

    those = [
        Contender(entry["agent_id"], entry["agent_id"], entry["agent_version"], False, tuple(rows))
        for entry, rows in alike
    ]
    if observed > MOST_OBSERVED or not all(one.executions for one in those):
        return None
    if metric == OVERALL and not all(map(only_accuracy, those)):
        return None
    numbers = CaseNumbers(connection)
    cards = scorecards(connection, those, numbers, PlaceNumbers())
    cards, _ = with_found_clusters(cards, ACCURACY, numbers)
    groups, _ = rank(cards, ACCURACY, _QUICK_RESAMPLES)
    if len(groups) != 1 or len(groups[0].cards) != len(those):
        return None
    return groups[0].standings if groups[0].measured == len(groups[0].shared) else None


def _ranked(entries: list[Entry], metric: str) -> list[Entry]:
    """Return entries sorted and ranked (equal scores share a rank), measured agents before
    simulated ones.
    """
    entries.sort(
        key=lambda entry: (
            entry["simulated"],
            -or_lowest(entry["overall"]),
            -or_lowest(entry["accuracy"]),
            entry["agent_id"],
        )
    )
    for entry in entries:
        if entry[metric] is not None:
            entry["rank"] = 1 + sum(
                other["simulated"] == entry["simulated"]
                and other[metric] is not None
                and other[metric] > entry[metric]
                for other in entries
            )
    return entries


def or_lowest(value: float | None) -> float:
    return -math.inf if value is None else value


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _mean_with_interval(rows: Sequence[dict[str, Any]]) -> Estimate:
    if any(row["overall_score"] is None for row in rows):
        return Estimate(None, None, None, len(rows), "mean of overall scores")
    return mean_of_scores(
        [
            Estimate(row["overall_score"], row["overall_low"], row["overall_high"], 1, "overall")
            for row in rows
        ]
    )
