"""Limits on tokens and cost that could not be checked because an agent's usage is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.model.kinds import DEFAULT, kind_named
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.queries.answers import unknown_counts
from agentbench_tui.store.queries.runs import metrics_of
from agentbench_tui.verdicts.stored_plan import StoredAgent, StoredBenchmark

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from agentbench_tui.verdicts.stored_plan import StoredPlan

Document = dict[str, Any]

_LIMITS = {"cost_limit_usd": "cost_usd", "token_limit": "tokens_used"}
"""Limit of a case in `constraints`, and cap of a run, with the metric that it holds against."""
_CAPS = {
    "cost_limit_usd": "the cap on the cost of the run (`--max-cost`)",
    "token_limit": "the cap on the tokens of the run (`--max-tokens`)",
}
BY_THE_HOUR = "it is paid by the hour, so no answer has its own cost"


def unchecked_limits(
    connection: sqlite3.Connection,
    plan: StoredPlan,
    benchmarks: Mapping[str, StoredBenchmark],
    rows: Iterable[Document],
) -> list[Document]:
    """Return the limits of a run that some answers were not checked against: `limit`, `of` (`case`
    or `run`), `agent_id`, `benchmark_id` and `reason`; each once per agent and benchmark.

    `benchmarks`: execution id → its benchmark; `rows` as of `queries.executions_of`.
    """
    agents = {one.id: one.agent for group in plan.groups for one in group.executions}
    caps = {limit: getattr(plan, limit) for limit in _LIMITS}
    found: dict[tuple[str, ...], Document] = {}
    for row in rows:
        benchmark = benchmarks.get(row["id"], StoredBenchmark())
        agent = agents.get(row["id"], StoredAgent())
        constraints = benchmark.constraints or {}
        for limit in _LIMITS:
            of = [
                scope
                for scope, given in (("case", constraints), ("run", caps))
                if given.get(limit) is not None
            ]
            # Code that is measured uses no tokens, so that there is nothing to check.
            if not of or kind_named(benchmark.kind or DEFAULT).measures_code:
                continue
            reason = _why_unchecked(connection, row, agent, limit)
            for scope in of if reason else ():
                place = (limit, scope, row["agent_id"], row["benchmark_id"])
                names = ("limit", "of", "agent_id", "benchmark_id")
                found.setdefault(place, dict(zip(names, place, strict=True)) | {"reason": reason})
    return list(found.values())


def unchecked_words(document: Document) -> Iterator[str]:
    """Yield sentences on the unchecked limits of a run document; agents with one reason
    share one.
    """
    agents: dict[tuple[str, str, str, str], list[str]] = {}
    for one in document["unchecked_limits"]:
        place = one["limit"], one["of"], one["benchmark_id"], one["reason"]
        agents.setdefault(place, []).append(one["agent_id"])
    for (limit, of, benchmark, reason), names in agents.items():
        what = f"`{limit}`" if of == "case" else _CAPS[limit]
        yield (
            f"{what} could not be checked for {', '.join(names)} on benchmark {benchmark}: {reason}"
        )


def _why_unchecked(
    connection: sqlite3.Connection, row: Document, agent: StoredAgent, limit: str
) -> str | None:
    """Return the reason; None if every answer was checked, or there is none."""
    metric = metrics_of(connection, row["key"]).get(_LIMITS[limit], {})
    unknown = unknown_counts(connection, row["key"])
    if limit == "cost_limit_usd":
        if agent.hourly_price_usd is not None and (unknown["cost"] or row["answered"]):
            return BY_THE_HOUR
        is_unknown = unknown["cost"] or (metric.get("value") is None and row["answered"])
        return (metric.get("reason") or "its cost is not known") if is_unknown else None
    if unknown["tokens"]:
        answers = counted(unknown["tokens"], "answer")
        return f"the agent did not say how many tokens it used ({answers})"
    if unknown["part"]:
        answers = counted(unknown["part"], "answer")
        return f"the agent did not say all of its tokens ({answers})"
    if metric and metric.get("value") is None and row["answered"]:
        return metric["reason"] or "its tokens are not known"
    return None
