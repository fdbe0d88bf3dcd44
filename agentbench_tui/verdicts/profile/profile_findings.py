"""Findings of a profile: bottlenecks with cost and cause, use of the machine, concurrency, wasted
tokens, and possible savings.

Everything is computed from stored answers, spans and resource samples. A figure that they do not
give is None, with its reason. A saving is the most that a change can achieve: all of what it would
remove.
"""

from __future__ import annotations

import json
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from agentbench_tui.contracts.profile import (
    Bottleneck,
    OptimizationOpportunity,
    ParallelizationScore,
    ProfileDocument,
    ResourceUsage,
    ResourceUtilization,
    TokenAnalysis,
    UsageShare,
)
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.queries.profiles import (
    PlannedGroup,
    ProcessUsage,
    RepeatTimes,
    planned_group,
    process_usage,
    repeat_times,
    spans_of_answers,
)
from agentbench_tui.verdicts.profile.phases import NO_SPANS, Observed, SpanNode, covered_ms
from agentbench_tui.verdicts.profile.profile import ExecutionProfile, SlowPhase, read_profile

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.contracts.run import GaugeSummary
    from agentbench_tui.verdicts.evidence.place import Execution
    from agentbench_tui.verdicts.profile.profile import TimeProfile

_FEW = "fewer than two answers were timed"
Effort = Literal["low", "medium", "high"]
LEAST_GAIN = 0.01
"""Share from which on an opportunity is reported."""
_USAGE = ("cpu_percent", "memory_mb", "io_operations")
"""Attributes of a span that report resource use."""
_OF_EXECUTION = ("run_id", "id", "suite_id", "benchmark_id", "agent_id", "agent_version")
_OF_CODE = (
    "the call of the code itself",
    "add `instruments: [cprofile]` to the benchmark; --flame then shows where in it",
)
_IN_PARALLEL = (
    "call tools side by side that are called one after another, where none needs another's result"
)
_ADVICE = {
    "waiting": (
        "attempts before the last, and pauses between them",
        "lower the concurrency, or have the limit raised",
    ),
    "first token": (
        "the server's queue and the reading of the prompt",
        "shorter prompts, or a beginning that all share and a cache keeps",
    ),
    "generation": ("tokens come one after another", "shorter answers, or a faster model"),
    "answer, whole": (
        "unknown: neither streamed nor reported in spans",
        "stream the answers, or report spans, to see into them",
    ),
    "outside of spans": ("no span of the agent covers it", "report spans for the rest"),
}
"""Phase of the harness → where its time goes, and what to try."""


def read_findings(connection: sqlite3.Connection, execution: Execution) -> ProfileDocument:
    """Return the profile of an execution, without cProfile data: a row of `executions_of` with the
    `run_id` of its run."""
    key = execution["key"]
    found = read_profile(connection, execution)
    times = found.times
    usage: dict[str, ResourceUsage] = {}
    if not found.is_load:
        usage |= _usage_of_spans(spans_of_answers(connection, key))
        usage |= _usage_of_answers(process_usage(connection, key))
    plan = planned_group(connection, execution["run_key"], execution["id"]) or PlannedGroup(
        "task", 1, 1
    )
    is_code = kind_named(plan.kind).measures_code
    at_once = None if found.is_load else _at_once(repeat_times(connection, key), plan)
    return ProfileDocument(
        **{name: execution[name] for name in _OF_EXECUTION},
        simulated=bool(execution["simulated"]),
        is_load=found.is_load,
        answers=found.answers,
        looked_at=len(found.observed),
        total_ms=times.total_ms,
        phases=tuple(replace(one, resource_usage=usage.get(one.name)) for one in times.phases),
        bottlenecks=tuple(_explained(one, found, is_code=is_code) for one in times.slow),
        flame=times.flame,
        tokens=times.tokens,
        typical=times.typical,
        slowest=times.slowest,
        resources=found.resources,
        resource_utilization=_utilization(found, at_once),
        token_analysis=token_analysis(found.observed),
        optimization_opportunities=tuple(opportunities(times, found.observed, at_once)),
        cprofile=None,
        functions=(),
    )


def _usage_of_spans(spans: Iterable[str]) -> dict[str, ResourceUsage]:
    """Return, by span, the mean usage that its attributes report; without spans that report
    none.

    `spans`: JSON of each answer.
    """
    told: dict[str, dict[str, list[float]]] = {}
    for text in spans:
        for span in json.loads(text):
            for field in _USAGE:
                value = (span.get("attributes") or {}).get(field)
                if isinstance(value, int | float) and not isinstance(value, bool):
                    told.setdefault(span["name"], {}).setdefault(field, []).append(value)
    return {
        name: ResourceUsage(
            **{field: fmean(values[field]) if field in values else None for field in _USAGE}
        )
        for name, values in told.items()
    }


def _usage_of_answers(usage: ProcessUsage) -> dict[str, ResourceUsage]:
    """Return the resource use of the agent's processes while it was asked:

    CPU time as a share of a core, if known for every iteration, and peak memory. Empty if neither
    is known.
    """
    cpu, memory = usage
    if cpu is None and memory is None:
        return {}
    whole = ResourceUsage(cpu_percent=cpu, memory_mb=memory, io_operations=None)
    return {"answer, whole": whole}


def _explained(slow: SlowPhase, found: ExecutionProfile, *, is_code: bool) -> Bottleneck:
    phase = slow.phase
    own = f"the span's own time, in {counted(phase.n, 'answer')}"
    deeper = "report finer spans within it, or call it less often"
    cause, suggestion = _ADVICE.get(phase.name, (own, deeper))
    if is_code and phase.name == "answer, whole":
        cause, suggestion = _OF_CODE
    impact = (phase.total_ms or 0.0) / max(1, len(found.observed))
    slowest = found.times.slowest
    if slow.kind == "tail" and slowest is not None:
        impact = (phase.p95_ms or 0.0) - (phase.p50_ms or 0.0)
        cause = f"one in twenty takes {slow.value:.1f} times the median or more"
        suggestion = f"look at the slowest first: case {slowest.case_id}"
    return Bottleneck(
        kind=slow.kind,
        phase=phase.name,
        value=slow.value,
        n=phase.n,
        location=phase.name,
        impact_ms=impact,
        cause=cause,
        optimization_suggestion=suggestion,
    )


def _utilization(
    found: ExecutionProfile, at_once: ParallelizationScore | None
) -> ResourceUtilization:
    scope = next((name for name in sorted(found.resources) if name.startswith("agent:")), None)
    gauges = found.resources[scope] if scope is not None else {}
    return ResourceUtilization(
        cpu_efficiency=_share_of_peak(scope, gauges, "cpu_percent"),
        memory_efficiency=_share_of_peak(scope, gauges, "rss_mb"),
        io_efficiency=_share_of_peak(scope, gauges, "read_bytes_per_s", "write_bytes_per_s"),
        parallelization_score=at_once,
        span_overlap=_overlap(found.observed),
    )


def _share_of_peak(
    scope: str | None, gauges: Mapping[str, GaugeSummary], *fields: str
) -> UsageShare:
    """Return mean ÷ highest sample of the processes' resource use, of several gauges together: how
    much of its peak the agent uses on average.
    """
    known = [gauges[field] for field in fields if field in gauges]
    mean, high = sum(one.mean or 0.0 for one in known), sum(one.high or 0.0 for one in known)
    n = min((one.n for one in known), default=0)
    enough = n > 1 and high > 0
    return UsageShare(
        value=mean / high if enough else None,
        n=n,
        reason=None if enough else _no_gauges(scope, n, high),
    )


def _no_gauges(scope: str | None, n: int, high: float) -> str:
    if scope is None:
        return "no process of the agent's was read"
    if n > 1 and high <= 0:
        return "it was never above 0"
    return "fewer than two readings, which come once a second"


def _at_once(rows: Sequence[RepeatTimes], plan: PlannedGroup) -> ParallelizationScore:
    """Return the time of all answers ÷ (time from the first to the last × concurrency), over
    repeats: 1 if every slot was always busy.
    """
    spent, lasted = sum(row.spent_ms for row in rows), sum(row.lasted_ms for row in rows)
    timed = lasted > 0 and max((row.answers for row in rows), default=0) > 1
    known = timed and plan.executions == 1
    reason = f"{plan.executions} agents or variants took turns" if timed else _FEW
    return ParallelizationScore(
        value=min(1.0, spent / lasted / plan.concurrency) if known else None,
        n=sum(row.answers for row in rows),
        concurrency=plan.concurrency,
        mean_in_flight=spent / lasted if known else None,
        reason=None if known else reason,
    )


def _overlap(observed: Sequence[Observed]) -> UsageShare:
    """Return the time of an answer's outermost spans ÷ the time in which at least one is open:

    1 if they are sequential, 2 if two always run in parallel.
    """
    told = [one for one in observed if one.spans and one.e2e_ms]
    took = sum(span.took_ms for one in told for span in one.spans)
    covered = sum(covered_ms(one.spans, float("-inf"), float("inf")) for one in told)
    known = covered > 0
    return UsageShare(
        value=took / covered if known else None,
        n=len(told),
        reason=None if known else NO_SPANS,
    )


def token_analysis(observed: Sequence[Observed]) -> TokenAnalysis:
    """Return the total tokens; `wasted_tokens` are those of answers that failed or are wrong,
    `token_efficiency` is the share of the others. Unknown values are None.
    """

    def total(name: str) -> int | None:
        known = [value for one in observed if (value := getattr(one, name)) is not None]
        return sum(known) if known else None

    spent = [one for one in observed if one.tokens is not None]
    lost = [one for one in spent if one.failed or one.correct is False]
    judged = any(one.failed or one.correct is not None for one in observed)
    tokens, wasted = sum(one.tokens or 0 for one in spent), sum(one.tokens or 0 for one in lost)
    known = bool(spent) and judged and tokens > 0
    reason = "no answer was judged" if spent else "not reported by the agent"
    return TokenAnalysis(
        input_tokens=total("input_tokens"),
        output_tokens=total("output_tokens"),
        cache_hits=total("cached_tokens"),
        wasted_tokens=wasted if known else None,
        token_efficiency=1 - wasted / tokens if known else None,
        n=len(spent),
        reason=None if known else reason,
    )


def opportunities(
    times: TimeProfile, observed: Sequence[Observed], at_once: ParallelizationScore | None
) -> list[OptimizationOpportunity]:
    """Return changes that would save at least 1% of the time or the tokens, largest first;
    `estimated_impact` is that share at most. The effort depends on the kind of change: a setting is
    low, code around the calls medium, another agent or prompt high.
    """
    waiting = next(one for one in times.phases if one.name == "waiting")
    tokens = sum(one.tokens or 0 for one in observed)
    found: list[tuple[str, str, float | None, Effort]] = [
        ("waiting", "lower the concurrency: no retries, no pauses",
         waiting.share, "low"),
        ("tools in parallel", _IN_PARALLEL, _one_after_another(observed, times.total_ms), "medium"),
        ("failures", "spend no tokens on answers that fail",
         _share_of(observed, tokens, failed=True), "medium"),
        ("wrong answers", "spend no tokens on answers that are wrong",
         _share_of(observed, tokens, failed=False), "high"),
    ]  # fmt: skip
    if at_once is not None and at_once.value is not None and at_once.concurrency > 1:
        idle = 1 - at_once.value
        found.append(("concurrency", "keep every place busy until the end", idle, "medium"))
    told = [
        OptimizationOpportunity(
            category=category,
            potential_improvement=words,
            estimated_impact=gain,
            of="tokens" if category in {"failures", "wrong answers"} else "time",
            implementation_effort=effort,
        )
        for category, words, gain, effort in found
        if gain is not None and gain >= LEAST_GAIN
    ]
    return sorted(told, key=lambda one: -one.estimated_impact)


def _share_of(observed: Iterable[Observed], tokens: int, *, failed: bool) -> float | None:
    if not tokens:
        return None
    lost = (one for one in observed if one.failed is failed and (failed or one.correct is False))
    return sum(one.tokens or 0 for one in lost) / tokens


def _one_after_another(observed: Iterable[Observed], total_ms: float) -> float | None:
    """Return the share of the time that tools of one level take beyond the longest of them."""
    if not total_ms:
        return None
    return sum(_beyond_longest(one.spans) for one in observed) / total_ms


def _beyond_longest(spans: Sequence[SpanNode]) -> float:
    tools = [one for one in spans if one.name.startswith("tool:")]
    covered = covered_ms(tools, float("-inf"), float("inf"))
    saved = max(0.0, covered - max((one.took_ms for one in tools), default=0.0))
    return saved + sum(_beyond_longest(one.children) for one in spans)
