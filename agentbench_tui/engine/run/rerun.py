"""The plan of a rerun: which observations of a run are asked again, in a run of their own.

One rule decides what becomes of the new answers:

- A failure of the infrastructure (`INFRASTRUCTURE`) says nothing about the agent, so a new answer
  takes its place. The execution of the rerun holds the other answers of the earlier one too, and is
  as whole as that was.
- Anything else was an attempt of the agent. Asked again it is a further attempt, stored apart under
  the next iteration: accuracy, times and costs stay those of the first attempts, and the new ones
  count for pass@k. Otherwise, asking only wrong cases again could only ever raise the accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.engine.run.plan import Continued, check_unmasked, decode_plan
from agentbench_tui.model.answer import INFRASTRUCTURE, FailureKind
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.identity import new_id
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.queries.runs import executions_of
from agentbench_tui.store.reruns import observations_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.engine.run.plan import ExecutionPlan, Group, Plan
    from agentbench_tui.store.reruns import StoredObservation


@dataclass(frozen=True, slots=True)
class Choice:
    """Which observations are asked again: those that any of these select."""

    failed: bool = False
    """Without a valid answer, for whatever reason."""
    wrong: bool = False
    """Answered, and not right."""
    infrastructure: bool = False
    """Failed on the way to the agent."""
    cases: tuple[str, ...] = ()
    """Of these cases, whatever came of them."""

    def selects(self, one: StoredObservation) -> bool:
        """Return whether an observation is asked again. What only a scorer failed at never is:
        its answer is there, and `rescore` scores it."""
        if one.failure_kind == FailureKind.GRADER:
            return False
        if one.case_id in self.cases:
            return True
        if one.failure_kind is None:
            return self.wrong and not one.correct
        return self.failed or (self.infrastructure and one.failure_kind in INFRASTRUCTURE)

    @property
    def asks_rest(self) -> bool:
        """Return whether what was never asked is asked too: it was kept from it by failures."""
        return self.failed or self.infrastructure


@dataclass(slots=True)
class Chosen:
    """Observations of one execution that are asked again."""

    replaced: list[StoredObservation]
    further: list[StoredObservation]
    asks_rest: bool

    @property
    def changes_whole(self) -> bool:
        """Return whether the execution as a whole gets other answers."""
        return bool(self.replaced) or self.asks_rest


def rerun_plan(
    connection: sqlite3.Connection, run: dict[str, Any], choice: Choice, command: str
) -> Plan:
    """The plan of a run that asks part of `run` (a row of `find_run`) again.

    Raises UsageError for a run that was not finished, and if nothing is left to ask.
    """
    if run["status"] in {"running", "interrupted"}:
        raise UsageError(
            f"run {run['id']} was not finished; `agentbench resume {run['id']}` continues it"
        )
    plan = decode_plan(run["plan"])
    check_unmasked(plan)
    rows = {row["id"]: row for row in executions_of(connection, run["key"])}
    groups = [one for one in plan.groups if _has_answers(one)]
    if not groups:
        raise UsageError(f"run {run['id']} has no cases to ask again, only loads or code")
    stored = {
        execution.id: observations_of(connection, rows[execution.id]["key"])
        for group in groups
        for execution in group.executions
    }
    _check_cases(choice.cases, stored.values())
    chosen = {
        execution.id: _chosen(execution, rows[execution.id], stored[execution.id], choice)
        for group in groups
        for execution in group.executions
    }
    made = [*_whole_groups(groups, chosen), *_further_groups(groups, chosen)]
    if not made:
        raise UsageError(_nothing_left(plan, stored.values()))
    is_whole = any(one.changes_whole for one in chosen.values())
    return msgspec.structs.replace(
        plan,
        run_id=new_id(),
        rerun_of=run["id"],
        groups=tuple(_numbered(made)),
        # What only has further attempts is no result that a gate could judge.
        gates=plan.gates if is_whole else (),
        command=command,
        remarks=(),
    )


def _has_answers(group: Group) -> bool:
    kind = kind_named(group.benchmark["kind"])
    return kind.reads_dataset and kind.judges_answers


def _chosen(
    execution: ExecutionPlan,
    row: Mapping[str, Any],
    stored: Sequence[StoredObservation],
    choice: Choice,
) -> Chosen:
    wanted = [one for one in stored if choice.selects(one)]
    if _attempt(execution) > 1:
        return Chosen([], wanted, asks_rest=False)
    return Chosen(
        [one for one in wanted if one.failure_kind in INFRASTRUCTURE],
        [one for one in wanted if one.failure_kind not in INFRASTRUCTURE],
        choice.asks_rest and row["status"] == "incomplete",
    )


def _attempt(execution: ExecutionPlan) -> int:
    return 1 if execution.continued is None else execution.continued.attempt


def _whole_groups(groups: Sequence[Group], chosen: Mapping[str, Chosen]) -> Iterable[Group]:
    """Every group as a whole if any of its executions changes: the others keep their answers, so
    that the agents of the rerun can be compared as those of the run could."""
    if not any(one.changes_whole for one in chosen.values()):
        return
    for group in groups:
        executions = [
            _continuing(execution, one.replaced, attempt=1, asks_rest=one.asks_rest)
            for execution in group.executions
            if _attempt(execution) == 1
            for one in (chosen[execution.id],)
        ]
        if executions:
            yield msgspec.structs.replace(group, executions=tuple(executions))


def _further_groups(groups: Sequence[Group], chosen: Mapping[str, Chosen]) -> Iterable[Group]:
    for group in groups:
        by_attempt: dict[int, list[ExecutionPlan]] = {}
        for execution in group.executions:
            if further := chosen[execution.id].further:
                attempt = _attempt(execution) + 1
                by_attempt.setdefault(attempt, []).append(
                    _continuing(execution, further, attempt=attempt, shift=_passes(group, attempt))
                )
        for attempt, executions in by_attempt.items():
            iterations = group.benchmark["iterations"]
            measured = attempt * _passes(group, attempt)
            benchmark = {**group.benchmark, "iterations": {**iterations, "measured": measured}}
            yield msgspec.structs.replace(group, benchmark=benchmark, executions=tuple(executions))


def _passes(group: Group, attempt: int) -> int:
    """Return the measured passes over the cases that the first run of a group planned, given the
    number of an attempt that would follow the group's own."""
    measured: int = group.benchmark["iterations"]["measured"]
    return measured // (attempt - 1)


def earlier_places(group: Group, continued: Continued) -> list[tuple[str, int, int]]:
    """Return (case id, repeat, iteration) of each request of a rerun's execution, numbered as in
    the execution that it continues: further attempts have later iterations."""
    attempt = continued.attempt
    shift = 0 if attempt == 1 else _passes(group, attempt + 1)
    return [(case_id, repeat, nth - shift) for case_id, repeat, nth in continued.asked]


def _continuing(
    execution: ExecutionPlan,
    asked: Sequence[StoredObservation],
    *,
    attempt: int,
    shift: int = 0,
    asks_rest: bool = False,
) -> ExecutionPlan:
    """Return the execution of a rerun; `shift`: iterations by which further attempts are later, so
    that each has a seed of its own."""
    return msgspec.structs.replace(
        execution,
        id=new_id(),
        continued=Continued(
            execution.id,
            tuple((one.case_id, one.repeat, one.iteration + shift) for one in asked),
            attempt,
            asks_rest,
        ),
    )


def _numbered(groups: Iterable[Group]) -> Iterable[Group]:
    ordinal = 0
    for group in groups:
        executions = []
        for execution in group.executions:
            executions.append(msgspec.structs.replace(execution, ordinal=ordinal))
            ordinal += 1
        yield msgspec.structs.replace(group, executions=tuple(executions))


def _check_cases(cases: Sequence[str], stored: Iterable[Sequence[StoredObservation]]) -> None:
    known = {one.case_id for some in stored for one in some} if cases else set()
    for case in cases:
        if case not in known:
            raise UsageError(f"--case {case}: the run has no such case{did_you_mean(case, known)}")


def _nothing_left(plan: Plan, stored: Iterable[Sequence[StoredObservation]]) -> str:
    """Say that the choice selects nothing, and what others would select."""
    every = [one for some in stored for one in some]
    wrong = sum(one.failure_kind is None and not one.correct for one in every)
    infrastructure = sum(one.failure_kind in INFRASTRUCTURE for one in every)
    unscored = sum(one.failure_kind == FailureKind.GRADER for one in every)
    failed = sum(one.failure_kind is not None for one in every) - unscored
    there = [
        f"{counted(count, what)} ({how})"
        for count, what, how in (
            (wrong, "wrong answer", "--wrong"),
            (infrastructure, "infrastructure failure", "--infrastructure"),
            (failed - infrastructure, "agent failure", "--failed"),
            (unscored, "unscored answer", f"`agentbench rescore {plan.run_id}`"),
        )
        if count
    ]
    words = "every answer is right" if every else "it has no answers"
    if there:
        words = f"it has {', '.join(there)}"
    before = f"; it asked part of run {plan.rerun_of} again" if plan.rerun_of else ""
    return f"run {plan.run_id} has nothing of that to ask again: {words}{before}"
