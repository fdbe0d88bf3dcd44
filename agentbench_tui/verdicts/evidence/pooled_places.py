"""Combines evidence of several benchmarks as one benchmark with all their cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agentbench_tui.analysis.sample import Integers
from agentbench_tui.verdicts.evidence.shared_cases import apart, independent_units
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence


def pooled(parts: Sequence[TaskEvidence]) -> TaskEvidence:
    """The observations of all parts. A case that several parts ask counts once in each of them, and
    is one independent unit.

    Parts that were measured in the same runs share their repeats: the first repeat of each is the
    first of the whole. Otherwise the repeats are numbered on. What only whole repeats have is of
    one benchmark each, and goes.
    """
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    shares = all(_repeats(one) == _repeats(first) for one in parts)
    offsets = [0 if shares else sum(one.repeats for one in parts[:at]) for at in range(len(parts))]
    names = dict.fromkeys(name for part in parts for name in part.values)
    return replace(
        first,
        executions=first.executions if shares else [row for one in parts for row in one.executions],
        case=np.concatenate([apart(one.case, at) for at, one in enumerate(parts)]),
        cluster=np.concatenate(independent_units([*enumerate(parts)])),
        seed=np.concatenate([one.seed for one in parts]),
        repeat=np.concatenate([one.repeat + by for one, by in zip(parts, offsets, strict=True)]),
        values={
            name: np.concatenate(
                [one.values.get(name, np.full(len(one.case), np.nan)) for one in parts]
            )
            for name in names
        },
        repeats=first.repeats if shares else sum(one.repeats for one in parts),
        totals={},
        repeats_of=first.repeats_of if shares else [n for one in parts for n in one.repeats_of],
        names_cases=all(one.names_cases for one in parts),
        tells_failures=any(one.tells_failures for one in parts),
        run_of=first.run_of if shares else _runs(parts),
        clusters_are_local=True,
    )


def _repeats(one: TaskEvidence) -> tuple[object, ...]:
    runs = None if one.run_of is None else tuple(one.run_of.tolist())
    return ([row["run_id"] for row in one.executions], [*one.repeats_of], one.repeats, runs)


def _runs(parts: Sequence[TaskEvidence]) -> Integers | None:
    """Return, for files, the number of each repeat's run; equal numbers are one run."""
    known = [one.run_of for one in parts if one.run_of is not None]
    return np.concatenate(known) if len(known) == len(parts) else None
