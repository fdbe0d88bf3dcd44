"""Findings of a profile: bottlenecks with cost and cause, use of the machine, concurrency, wasted
tokens, and possible savings.

Everything is computed from stored answers, spans and resource samples. A figure that they do not
give is None, with its reason. A saving is the most that a change can achieve: all of what it would
remove.
"""

from __future__ import annotations

import json
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

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
from agentbench_tui.verdicts.profile.profile import Document, profile_of, read_all

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

_FEW = "fewer than two answers were timed"
Effort = Literal["low", "medium", "high"]
LEAST_GAIN = 0.01
"""Share from which on an opportunity is reported."""
_USAGE = ("cpu_percent", "memory_mb", "io_operations")
"""Attributes of a span that report resource use."""
_FIELDS = {
    "cpu_efficiency": ("cpu_percent",),
    "memory_efficiency": ("rss_mb",),
    "io_efficiency": ("read_bytes_per_s", "write_bytes_per_s"),
}
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


def read_findings(connection: sqlite3.Connection, execution: dict[str, Any]) -> Document:
    """Return the document of `profile.read_profile` with `resource_usage` of each phase,
    `location`, `impact_ms`, `cause` and `optimization_suggestion` of each bottleneck, and
    `resource_utilization`, `token_analysis` and `optimization_opportunities`.
    """
    key = execution["key"]
    observed, _, is_load = answers_read = read_all(connection, execution)
    document = profile_of(connection, execution, answers_read)
    usage: dict[str, Document] = {}
    if not is_load:
        usage |= _usage_of_spans(spans_of_answers(connection, key))
        usage |= _usage_of_answers(process_usage(connection, key))
    for phase in document["phases"]:
        phase["resource_usage"] = usage.get(phase["name"])
    plan = planned_group(connection, execution["run_key"], execution["id"]) or PlannedGroup(
        "task", 1, 1
    )
    document["bottlenecks"] = [
        _explained(one, document, is_code=kind_named(plan.kind).measures_code)
        for one in document["bottlenecks"]
    ]
    for name in ("typical", "slowest"):
        if document[name] is not None:
            del document[name]["phases"]  # pictures for the terminal session
    at_once = None if is_load else _at_once(repeat_times(connection, key), plan)
    document["resource_utilization"] = {
        **_utilization(document["resources"]),
        "parallelization_score": at_once,
        "span_overlap": _overlap(observed),
    }
    document["token_analysis"] = token_analysis(observed)
    document["optimization_opportunities"] = opportunities(document, observed)
    return document


def _usage_of_spans(spans: Iterable[str]) -> dict[str, Document]:
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
        name: {field: fmean(values[field]) if field in values else None for field in _USAGE}
        for name, values in told.items()
    }


def _usage_of_answers(usage: ProcessUsage) -> dict[str, Document]:
    """Return the resource use of the agent's processes while it was asked:

    CPU time as a share of a core, if known for every iteration, and peak memory. Empty if neither
    is known.
    """
    cpu, memory = usage
    if cpu is None and memory is None:
        return {}
    return {"answer, whole": {"cpu_percent": cpu, "memory_mb": memory, "io_operations": None}}


def _explained(one: Document, document: Document, *, is_code: bool) -> Document:
    phase = next(phase for phase in document["phases"] if phase["name"] == one["phase"])
    own = f"the span's own time, in {counted(phase['n'], 'answer')}"
    deeper = "report finer spans within it, or call it less often"
    cause, suggestion = _ADVICE.get(phase["name"], (own, deeper))
    if is_code and phase["name"] == "answer, whole":
        cause, suggestion = _OF_CODE
    impact = phase["total_ms"] / max(1, document["looked_at"])
    if one["kind"] == "tail":
        impact = phase["p95_ms"] - phase["p50_ms"]
        slowest = document["slowest"]
        cause = f"one in twenty takes {one['value']:.1f} times the median or more"
        suggestion = f"look at the slowest first: case {slowest['case_id']}"
    return {
        **one,
        "location": phase["name"],
        "impact_ms": impact,
        "cause": cause,
        "optimization_suggestion": suggestion,
    }


def _utilization(resources: Document) -> Document:
    """Return mean ÷ highest sample of the processes' resource use: how much of its peak the agent
    uses on average. For I/O, bytes read and written together.
    """
    scope = next((name for name in sorted(resources) if name.startswith("agent:")), None)
    gauges = resources[scope] if scope is not None else {}
    found: Document = {}
    for name, fields in _FIELDS.items():
        known = [gauges[field] for field in fields if field in gauges]
        mean, high = sum(one["mean"] for one in known), sum(one["high"] for one in known)
        enough = bool(known) and min(one["n"] for one in known) > 1 and high > 0
        found[name] = {
            "value": mean / high if enough else None,
            "n": min((one["n"] for one in known), default=0),
            "reason": None if enough else _no_gauges(scope, known, high),
        }
    return found


def _no_gauges(scope: str | None, known: Sequence[Document], high: float) -> str:
    if scope is None:
        return "no process of the agent's was read"
    if min((one["n"] for one in known), default=0) > 1 and high <= 0:
        return "it was never above 0"
    return "fewer than two readings, which come once a second"


def _at_once(rows: Sequence[RepeatTimes], plan: PlannedGroup) -> Document:
    """Return the time of all answers ÷ (time from the first to the last × concurrency), over
    repeats: 1 if every slot was always busy.
    """
    spent, lasted = sum(row.spent_ms for row in rows), sum(row.lasted_ms for row in rows)
    timed = lasted > 0 and max((row.answers for row in rows), default=0) > 1
    known = timed and plan.executions == 1
    reason = f"{plan.executions} agents or variants took turns" if timed else _FEW
    return {
        "value": min(1.0, spent / lasted / plan.concurrency) if known else None,
        "n": sum(row.answers for row in rows),
        "concurrency": plan.concurrency,
        "mean_in_flight": spent / lasted if known else None,
        "reason": None if known else reason,
    }


def _overlap(observed: Sequence[Observed]) -> Document:
    """Return the time of an answer's outermost spans ÷ the time in which at least one is open:

    1 if they are sequential, 2 if two always run in parallel.
    """
    told = [one for one in observed if one.spans and one.e2e_ms]
    took = sum(span.took_ms for one in told for span in one.spans)
    covered = sum(covered_ms(one.spans, float("-inf"), float("inf")) for one in told)
    known = covered > 0
    return {
        "value": took / covered if known else None,
        "n": len(told),
        "reason": None if known else NO_SPANS,
    }


def token_analysis(observed: Sequence[Observed]) -> Document:
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
    return {
        "input_tokens": total("input_tokens"),
        "output_tokens": total("output_tokens"),
        "cache_hits": total("cached_tokens"),
        "wasted_tokens": wasted if known else None,
        "token_efficiency": 1 - wasted / tokens if known else None,
        "n": len(spent),
        "reason": None if known else reason,
    }


def opportunities(document: Document, observed: Sequence[Observed]) -> list[Document]:
    """Return changes that would save at least 1% of the time or the tokens, largest first;
    `estimated_impact` is that share at most. The effort depends on the kind of change: a setting is
    low, code around the calls medium, another agent or prompt high.
    """
    phases = {one["name"]: one for one in document["phases"]}
    total = document["total_ms"]
    tokens = sum(one.tokens or 0 for one in observed)
    found: list[tuple[str, str, float | None, Effort]] = [
        ("waiting", "lower the concurrency: no retries, no pauses",
         phases["waiting"]["share"], "low"),
        ("tools in parallel", _IN_PARALLEL, _one_after_another(observed, total), "medium"),
        ("failures", "spend no tokens on answers that fail",
         _share_of(observed, tokens, failed=True), "medium"),
        ("wrong answers", "spend no tokens on answers that are wrong",
         _share_of(observed, tokens, failed=False), "high"),
    ]  # fmt: skip
    at_once = document["resource_utilization"]["parallelization_score"]
    if at_once is not None and at_once["value"] is not None and at_once["concurrency"] > 1:
        idle = 1 - at_once["value"]
        found.append(("concurrency", "keep every place busy until the end", idle, "medium"))
    told = [
        {
            "category": category,
            "potential_improvement": words,
            "estimated_impact": gain,
            "of": "tokens" if category in {"failures", "wrong answers"} else "time",
            "implementation_effort": effort,
        }
        for category, words, gain, effort in found
        if gain is not None and gain >= LEAST_GAIN
    ]
    return sorted(told, key=lambda one: -float(str(one["estimated_impact"])))


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
