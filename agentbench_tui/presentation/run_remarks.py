"""Notes on a run in addition to its figures: failures, caveats, and what to do next."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agentbench_tui.model.answer import FailureKind
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.figures.market_metrics import FORESIGHT
from agentbench_tui.model.outcome_foresight import LEAST_EVIDENCE
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import MISSING, decimals, percent, with_interval
from agentbench_tui.presentation.runs import agent_name, is_judged, kind_of, place_name
from agentbench_tui.verdicts.runs.contained_answers import MOST_CHECKED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentbench_tui.contracts.run import (
        ExecutionResult,
        RerunPart,
        RunDocument,
        RunLeaderboardEntry,
    )

_MOST_CONTAINED = 3
"""Executions that are named because wrong answers contain the expected one."""
_SHORT_ID = 13
"""Characters of a run's id that identify it: its time to the millisecond."""
SHARED_RANK = "= under #: a shared rank; these answers do not distinguish the agents."
ALL_SIMULATED = "All agents are simulated: these figures say nothing about a real model."
_FAILURE_WORDS = {
    "rate_limited": "rate-limited",
    "timeout": "timed out",
    "connection": "without a connection",
    "server": "server errors",
    "truncated": "truncated answers",
    "parse": "unreadable answers",
    "limit": "over a limit",
    "agent": "errors of the agent",
    "harness": "errors of agentbench",
}


def failure_lines(executions: Sequence[ExecutionResult]) -> list[str]:
    """Say how many answers each agent lacks, why, and on which benchmarks; most first."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    places: dict[str, Counter[str]] = defaultdict(Counter)
    observed: Counter[str] = Counter()
    for one in executions:
        if kind_of(one).result:
            continue
        observed[one.agent_id] += one.cases.observed
        for kind, n in one.failures.items():
            if kind == FailureKind.GRADER:
                continue
            kinds[one.agent_id][_FAILURE_WORDS.get(kind, kind)] += n
            places[one.agent_id][one.benchmark_id] += n
    lines = []
    for agent in sorted(kinds, key=lambda name: -kinds[name].total()):
        why = ", ".join(f"{n:,} {words}" for words, n in kinds[agent].most_common())
        where = ", ".join(f"{n:,} on {place}" for place, n in places[agent].most_common())
        lines.append(
            f"{agent} has no answer to {kinds[agent].total():,} of {observed[agent]:,}: {why}"
            f" ({where})."
        )
    return [*lines, *_ungraded_lines(executions, observed)]


def _ungraded_lines(
    executions: Sequence[ExecutionResult], observed: Mapping[str, int]
) -> list[str]:
    """Say how many answers of each agent could not be graded; they do not count against it."""
    places: dict[str, Counter[str]] = defaultdict(Counter)
    for one in executions:
        if n := one.failures.get(FailureKind.GRADER, 0):
            places[one.agent_id][one.benchmark_id] += n
    return [
        f"{agent}: {found.total():,} of {counted(observed[agent], 'answer')} could not be graded,"
        f" and count neither as right nor as wrong"
        f" ({', '.join(f'{n:,} on {place}' for place, n in found.most_common())})."
        for agent, found in places.items()
    ]


def contained_answer_lines(run: RunDocument) -> list[str]:
    """Say where wrong answers contain the expected one, and how to count them as right."""
    found = [one for one in run.executions if one.contain_expected]
    if not found:
        return []
    lines = []
    for one in found[:_MOST_CONTAINED]:
        count = one.cases.answered - one.cases.correct
        wrong = counted(count, "wrong answer")
        contain = "contains" if one.contain_expected == 1 else "contain"
        least = "At least " if count > MOST_CHECKED else ""
        lines.append(
            f"{least}{one.contain_expected:,} of {wrong} of {one.agent_id} on {one.benchmark_id}"
            f" {contain} the expected one."
        )
    lines.append(
        "If that is right, set `scorers: [contains]` (numbers: `numeric`) in the suite, and score"
        f" again: agentbench rescore {run.run_id[:_SHORT_ID]} --suite FILE"
    )
    return lines


def reservations(run: RunDocument, *, shares_rank: bool) -> list[str]:
    """Return what to know before the figures are believed."""
    lines = []
    timed = any(one.value("e2e_ms.mean") is not None for one in run.executions)
    if timed and run.harness not in {None, "clean"}:
        lines.append(
            f"Timings: {run.harness}; the machine or the harness disturbed them "
            "(`agentbench runs show` says how)."
        )
    lacking = _without_score(run)
    if lacking:
        lines.append(
            f"No overall score: no score for {', '.join(lacking)}; in the suite, give a"
            " dimension a scoring rubric or the weight 0 (`agentbench explain overall`)."
        )
    lines += unsure_lines(run.leaderboard)
    if shares_rank:
        lines.append(SHARED_RANK)
    lines += _judges(run.executions) + _rerun_lines(run) + _foresight(run.executions)
    estimated = sorted(
        {
            one.agent_id
            for one in run.executions
            # A known cost has a reason only where its tokens were not counted by the server.
            if one.value("cost_usd") is not None and one.reason("cost_usd")
        }
    )
    if estimated:
        lines.append(f"Costs are estimated, from tokens counted here: {', '.join(estimated)}.")
    return lines


def unsure_lines(entries: Iterable[RunLeaderboardEntry]) -> list[str]:
    """Return why overall scores have no interval."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.overall is not None and entry.low is None:
            reasons[entry.reason].append(entry.agent_id)
    return [
        f"[{MISSING}] under overall of {', '.join(names)}: {reason}."
        for reason, names in reasons.items()
    ]


def _without_score(run: RunDocument) -> list[str]:
    """Dimensions that count towards the overall score and keep an agent from having one."""
    answered = [entry for entry in run.leaderboard if entry.answered]
    return [
        name
        for name in DIMENSIONS
        if any(one.weights.get(name) for one in run.executions)
        and any(entry.overall is None and getattr(entry, name) is None for entry in answered)
    ]


def _judges(executions: Sequence[ExecutionResult]) -> list[str]:
    return [
        f"{one.judges.judges} judges of {one.agent_id} on {one.benchmark_id} agree on"
        f" {percent(one.judges.agreement)} of {counted(one.judges.answers, 'answer')}"
        f" (kappa {decimals(2)(one.judges.kappa)})."
        for one in executions
        if one.judges is not None and one.judges.agreement is not None
    ]


def _foresight(executions: Sequence[ExecutionResult]) -> list[str]:
    """Agents of a market whose forecasts are right beyond chance."""
    return [
        f"{one.agent_id} on {one.benchmark_id}: its forecasts are right beyond chance"
        f" (p at most 10^-{int(value)}); check how the agent learned the outcomes"
        f" (`agentbench explain {FORESIGHT.name}`)."
        for one in executions
        if not one.simulated
        and (value := one.value(FORESIGHT.name)) is not None
        and value >= LEAST_EVIDENCE
    ]


def untimed_lines(executions: Sequence[ExecutionResult]) -> list[str]:
    """Say that latencies exclude failed answers, and how many each agent has."""
    failed: dict[str, list[str]] = defaultdict(list)
    for one in executions:
        n = one.cases.observed - one.cases.answered
        if n > 0 and not kind_of(one).result and one.value("e2e_ms.p50") is not None:
            failed[one.agent_id].append(f"{n:,} of {one.cases.observed:,} on {place_name(one)}")
    if not failed:
        return []
    lacking = "; ".join(f"{agent} failed {', '.join(places)}" for agent, places in failed.items())
    return [f"Latencies exclude failed answers: {lacking}."]


def unmeasured_lines(executions: Sequence[ExecutionResult]) -> list[str]:
    """Return the metrics that the suite promises and that have no value, with the reason."""
    agents: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in executions:
        if not one.metrics:
            continue  # the run ended before it began, which its status says
        for name, reason in one.unmeasured.items():
            named = agents[f"{one.benchmark_id}: {name}", reason or "?"]
            if one.agent_id not in named:
                named.append(one.agent_id)
    return [
        f"{MISSING} {what} of {', '.join(names)}: {reason}"
        for (what, reason), names in agents.items()
    ]


def unknown_cost_lines(executions: Sequence[ExecutionResult]) -> list[str]:
    """Return why the cost of agents that answered is not known; one line for each reason."""
    agents: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in executions:
        reason = one.reason("cost_usd")
        # What the suite promises has a line of its own, and code that is measured costs nothing.
        if (
            one.value("cost_usd") is None
            and reason
            and is_judged(one)
            and "cost_usd" not in one.unmeasured
            and one.cases.answered
        ):
            agents[one.benchmark_id, reason].append(one.agent_id)
    return [
        f"{MISSING} {benchmark}: USD of {', '.join(dict.fromkeys(names))}: {reason}"
        for (benchmark, reason), names in agents.items()
    ]


def next_steps(run: RunDocument, executions: Sequence[ExecutionResult], *, full: bool) -> list[str]:
    """Return the commands that answer the next questions."""
    judged = [one for one in executions if is_judged(one)]
    if not judged:
        return []
    name = run.run_id[:_SHORT_ID]
    steps = []
    ranked = [one for one in run.leaderboard if one.answered]
    if len(ranked) > 1:
        two = " ".join(shlex.quote(agent_name(one, run)) for one in ranked[:2])
        steps.append(f"Compare the first two: agentbench compare {two}")
    if any(one.cases.correct < one.cases.observed for one in judged):
        steps.append(f"See what went wrong: agentbench runs show {name} --wrong")
    if any(FailureKind.GRADER in one.failures for one in judged):
        steps.append(f"Once the scorer is repaired, grade again: agentbench rescore {name}")
    if any(
        one.failures.keys() - {FailureKind.GRADER} and not (one.rerun and one.rerun.attempt > 1)
        for one in judged
    ):
        steps.append(f"Ask only what failed again: agentbench rerun {name} --failed")
    fields = [*dict.fromkeys(field for one in judged for field in one.metadata_fields)]
    if fields:
        steps.append(
            f"See it by {fields[0]}: agentbench runs show {name} --by {shlex.quote(fields[0])}"
        )
    if not full:
        steps.append(f"See every figure: agentbench runs show {name}")
    return [*steps, f"Pass it on: agentbench report {name} --md report.md"]


def _rerun_lines(run: RunDocument) -> list[str]:
    """Return a sentence for each execution that asked something again; none unless the run is a
    rerun.
    """
    if not run.rerun_of:
        return []
    asked = [(one, one.rerun) for one in run.executions if one.rerun and _has_asked(one.rerun)]
    lines = [_replaced(one, part, run.rerun_of) for one, part in asked if part.attempt == 1]
    attempts = [_attempts(one, part) for one, part in asked if part.attempt > 1]
    if attempts:
        attempts.append(
            f"Further attempts replace nothing: accuracy, times and costs of run {run.rerun_of}"
            " stay those of its own answers."
        )
    return lines + attempts


def _has_asked(part: RerunPart) -> bool:
    return part.asked > 0 or part.attempt > 1


def _agent_and_benchmark(execution: ExecutionResult) -> str:
    return f"{execution.agent_id} on {execution.benchmark_id}"


def _replaced(execution: ExecutionResult, part: RerunPart, earlier: str) -> str:
    kept = execution.cases.observed - part.observed
    return (
        f"{_agent_and_benchmark(execution)}: {counted(part.asked, 'infrastructure failure')} of"
        f" run {earlier} replaced: {part.answered:,} answered now, {part.correct:,} right; "
        f"{counted(kept, 'other answer')} kept."
    )


def _attempts(execution: ExecutionResult, part: RerunPart) -> str:
    line = (
        f"{_agent_and_benchmark(execution)}, attempt {part.attempt}: {part.correct:,} of"
        f" {part.observed:,} right"
    )
    within = _within(execution, part)
    return f"{line}; {within}." if within else f"{line}."


def _within(execution: ExecutionResult, part: RerunPart) -> str:
    """Word pass@k, or why it is not known."""
    for name, found in execution.metrics.items():
        if not name.startswith("pass@"):
            continue
        if found.value is None:
            return f"no {name}: {found.reason}"
        shown = with_interval(found.value, found.low, found.high, percent)
        return f"right within {part.attempt} attempts ({name}): {shown} of {found.n:,}"
    return ""
