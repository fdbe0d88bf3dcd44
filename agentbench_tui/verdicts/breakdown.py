"""The results of a run by groups of cases: what each agent has in each group, and what stands out.

A question beside the main one: nothing of it changes a score, a rank or a gate.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from agentbench_tui.analysis.estimate import Estimate, estimate
from agentbench_tui.analysis.group_differences import common_mean, group_differences
from agentbench_tui.analysis.partial_pooling import FEWEST_GROUPS, partially_pooled
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.plain_number import counted
from agentbench_tui.store.answers import failures_by_case
from agentbench_tui.verdicts.case_groups import CaseFields
from agentbench_tui.verdicts.case_numbers import CaseNumbers
from agentbench_tui.verdicts.comparison import ALPHA
from agentbench_tui.verdicts.place import place_of
from agentbench_tui.verdicts.task_evidence import task_evidence
from agentbench_tui.verdicts.unit_values import unit_values

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentbench_tui.analysis.group_differences import Bools
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.case_groups import CaseGroups
    from agentbench_tui.verdicts.place import Execution
    from agentbench_tui.verdicts.task_evidence import TaskEvidence

SEED = 42
NO_CASES = "only benchmarks that ask cases have fields, and there is none"
Way = Literal["higher", "lower"]
MAIN_METRICS = ("accuracy", "e2e_ms")
"""The first that an agent has a value of is what is compared between its groups."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """What one agent has in one group of cases; None where a number is not known."""

    group: str
    cases: int
    answers: int
    """Counted observations, failed ones included."""
    answered: int
    correct: int | None
    main: Estimate
    """Of the main metric, as the whole has it: value, 95% interval, or why there is none."""
    e2e_ms: Estimate
    tokens: float | None
    """Mean per counted observation, input and output together."""
    cost_usd: float | None
    cost_usd_per_task: Estimate
    failures: dict[str, int]
    """Failure kind → observations."""
    pooled: float | None = None
    """The value drawn towards those of the other groups (partial pooling)."""
    pooled_low: float | None = None
    pooled_high: float | None = None
    p_value: float | None = None
    """Of the group against all other cases."""
    p_adjusted: float | None = None
    differs: Way | None = None
    """How the group differs from the rest, where the adjusted p is below 5%."""


@dataclass(frozen=True, slots=True)
class AgentBreakdown:
    """One agent at one point of a sweep."""

    agent_id: str
    agent_version: str
    simulated: bool
    parameters: dict[str, object]
    metric: str
    whole: GroupFigures
    groups: tuple[GroupFigures, ...]
    p_varies: float | None
    """Of the metric being the same in all groups; None where that cannot be tested."""
    method: str
    """Of the tests of each group against the rest."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A run by the groups of one field."""

    field: str
    agents: tuple[AgentBreakdown, ...]
    notes: tuple[str, ...] = ()


def breakdown(
    connection: sqlite3.Connection, executions: Sequence[Execution], wanted: str
) -> Breakdown:
    """Group the answers of executions of one run by a field of their cases.

    Raises UsageError where none of them asks cases, and as `CaseFields.groups` does.
    """
    asked = [row for row in executions if row["dataset_key"] is not None]
    if not asked:
        raise UsageError(f"--by {wanted}: {NO_CASES}")
    rows = [row for row in asked if row["observed"]]
    numbers, fields = CaseNumbers(connection), CaseFields()
    fields.add_stored(connection, {row["dataset_key"] for row in asked}, numbers)
    fields.add_places(place_of(row) for row in asked)
    groups = fields.groups(wanted)
    by_agent: dict[tuple[object, ...], list[Execution]] = {}
    for row in rows:
        point = tuple(sorted((name, str(value)) for name, value in row["parameters"].items()))
        key = (row["agent_id"], row["agent_version"], row["simulated"], point)
        by_agent.setdefault(key, []).append(row)
    agents = [_of_agent(connection, those, groups, numbers) for those in by_agent.values()]
    notes = [groups.note] if groups.note else []
    if len(rows) < len(asked):
        left_out = counted(len(asked) - len(rows), "execution")
        notes.append(f"{left_out} without figures left out: not finished")
    return Breakdown(groups.label, tuple(one for one in agents if one is not None), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Answers:
    """The observations of one agent over all its benchmarks, and the groups of their cases."""

    case: Integers
    cluster: Integers
    repeat: Integers
    values: dict[str, Floats]
    members: Bools

    def only(self, kept: Bools) -> _Answers:
        return replace(
            self,
            case=self.case[kept],
            cluster=self.cluster[kept],
            repeat=self.repeat[kept],
            values={name: column[kept] for name, column in self.values.items()},
            members=self.members[:, kept],
        )

    def known(self, metric: str) -> _Answers:
        """Those that have a value of it."""
        unknown = np.full(len(self.case), np.nan)
        return self.only(~np.isnan(self.values.get(metric, unknown)))


def _of_agent(
    connection: sqlite3.Connection,
    rows: Sequence[Execution],
    groups: CaseGroups,
    numbers: CaseNumbers,
) -> AgentBreakdown | None:
    parts = [(row, task_evidence(connection, [row], numbers)) for row in rows]
    parts = [(row, part) for row, part in parts if len(part.case)]
    if not parts:
        return None
    answers = _together(parts, groups)
    metric = next((one for one in MAIN_METRICS if one in answers.values), MAIN_METRICS[0])
    failures = _failures(connection, rows, groups, numbers)
    first = rows[0]
    whole = _figures("", answers, metric, failures[-1])
    found = [
        _figures(name, answers.only(inside), metric, of_group)
        for name, inside, of_group in zip(groups.names, answers.members, failures, strict=False)
    ]
    judged, p_varies, method = _judged(found, answers, metric)
    return AgentBreakdown(
        first["agent_id"],
        first["agent_version"],
        bool(first["simulated"]),
        dict(first["parameters"]),
        metric,
        whole,
        tuple(one for one in judged if one.answers),
        p_varies,
        method,
    )


def _together(parts: Sequence[tuple[Execution, TaskEvidence]], groups: CaseGroups) -> _Answers:
    names = dict.fromkeys(name for _, part in parts for name in part.values)
    return _Answers(
        np.concatenate([part.case for _, part in parts]),
        np.concatenate([part.cluster for _, part in parts]),
        np.concatenate([part.repeat for _, part in parts]),
        {
            name: np.concatenate(
                [part.values.get(name, np.full(len(part.case), np.nan)) for _, part in parts]
            )
            for name in names
        },
        np.concatenate([groups.members(part.case, place_of(row)) for row, part in parts], axis=1),
    )


def _failures(
    connection: sqlite3.Connection,
    rows: Iterable[Execution],
    groups: CaseGroups,
    numbers: CaseNumbers,
) -> list[Counter[str]]:
    """Of each group, and last of all cases, failure kind → observations."""
    found: list[Counter[str]] = [Counter() for _ in (*groups.names, "")]
    for row in rows:
        failed = failures_by_case(connection, row["key"])
        keys = np.array([case for case, *_ in failed], np.int64)
        inside = groups.members(numbers.of(row["dataset_key"], keys), place_of(row))
        for column, (_, kind, count) in enumerate(failed):
            found[-1][kind] += count
            for group in np.flatnonzero(inside[:, column]).tolist():
                found[group][kind] += count
    return found


def _figures(name: str, answers: _Answers, metric: str, failures: Counter[str]) -> GroupFigures:
    right = answers.values.get("correct_share")
    reliability = answers.values.get("reliability", np.zeros(len(answers.case)))
    costs = answers.values.get("cost_usd_per_task")
    is_priced = costs is not None and len(costs) > 0 and not np.isnan(costs).any()
    times = _time(answers)
    return GroupFigures(
        name,
        len(np.unique(answers.case)),
        len(answers.case),
        round(float(np.nansum(reliability))),
        None if right is None or np.isnan(right).all() else round(float(np.nansum(right))),
        times if metric == "e2e_ms" else _share(answers, metric),
        times,
        _tokens(answers),
        float(costs.sum()) if costs is not None and is_priced else None,
        estimate(costs, "amount", clusters=answers.cluster)
        if costs is not None and is_priced
        else Estimate(None, None, None, 0, "mean", "not known for all answers"),
        dict(failures.most_common()),
    )


def _share(answers: _Answers, metric: str) -> Estimate:
    known = answers.known(metric)
    if not len(known.case):
        return Estimate(None, None, None, 0, "share", "no value in this group")
    return estimate(known.values[metric], "share", clusters=known.cluster)


def _time(answers: _Answers) -> Estimate:
    known = answers.known("e2e_ms")
    if not len(known.case):
        return Estimate(None, None, None, 0, "median", "nothing answered")
    return estimate(known.values["e2e_ms"], "time", runs=known.repeat)


def _tokens(answers: _Answers) -> float | None:
    columns = [
        answers.values[name] for name in ("input_tokens", "output_tokens") if name in answers.values
    ]
    known = [column for column in columns if not np.isnan(column).all()]
    if not known:
        return None
    return float(np.mean(np.sum([np.nan_to_num(column) for column in known], axis=0)))


def _judged(
    found: Sequence[GroupFigures], answers: _Answers, metric: str
) -> tuple[list[GroupFigures], float | None, str]:
    """The groups with what sets them apart from the rest, and p of all being alike."""
    share = metric != "e2e_ms"
    column = answers.values.get(metric)
    if column is None:
        return list(found), None, "none"
    if not share:
        with np.errstate(invalid="ignore", divide="ignore"):
            column = np.where(column > 0, np.log(column), np.nan)
    units = unit_values(answers.case, answers.cluster, column, answers.members, share=share)
    if units is None:
        return list(found), None, "none"
    tests = group_differences(units.value, units.members, share=share, seed=SEED)
    pooled = _pooled(units.means, units.variances, share=share)
    center = float(units.value.mean())
    judged = []
    for place, one in enumerate(found):
        p_adjusted = tests.p_adjusted[place]
        way: Way = "higher" if units.means[place] > center else "lower"
        value, low, high = pooled[place]
        judged.append(
            replace(
                one, pooled=value, pooled_low=low, pooled_high=high, p_value=tests.p[place],
                p_adjusted=p_adjusted,
                differs=way if p_adjusted is not None and p_adjusted < ALPHA else None,
            )
        )  # fmt: skip
    return judged, common_mean(units.value, units.members, seed=SEED), tests.method


_Ends = tuple[float | None, float | None, float | None]


def _pooled(means: Floats, variances: Floats, *, share: bool) -> list[_Ends]:
    """Of each group the pooled value with its interval; times come as logarithms."""
    pooled: list[_Ends] = [(None, None, None)] * len(means)
    known = np.isfinite(means) & np.isfinite(variances) & (variances > 0)
    if known.sum() < FEWEST_GROUPS:
        return pooled
    found = partially_pooled(means[known], variances[known])
    assert found is not None
    for place, one in zip(np.flatnonzero(known).tolist(), found, strict=True):
        ends = np.array([one.value, one.low, one.high])
        value, low, high = (np.clip(ends, 0.0, 1.0) if share else np.exp(ends)).tolist()
        pooled[place] = (value, low, high)
    return pooled
