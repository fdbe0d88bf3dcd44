"""The JSON documents that scripts rely on. Each names its schema; a missing number is null."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.contracts.document import Part, plain
from agentbench_tui.contracts.run import ExecutionResult, MetricValue, RunDocument
from agentbench_tui.contracts.runs import RunDetailsDocument
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.store.queries.answers import kept_answers
from agentbench_tui.store.queries.gauges import gauges_of
from agentbench_tui.store.queries.metrics import defined_metrics
from agentbench_tui.store.queries.runs import (
    environment_of,
    executions_of,
    failure_details,
    failures_of,
    graded_scores,
    metrics_of,
    plan_of_run,
)
from agentbench_tui.store.queries.suites import metrics_measured, suite_weights
from agentbench_tui.store.reruns import outcomes_of
from agentbench_tui.verdicts.cost.unchecked_limits import unchecked_limits
from agentbench_tui.verdicts.load.load_document import load_document
from agentbench_tui.verdicts.run_leaderboard import leaderboard_of
from agentbench_tui.verdicts.runs.contained_answers import contained_answers
from agentbench_tui.verdicts.stored_plan import read_plan

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from agentbench_tui.verdicts.stored_plan import (
        StoredBenchmark,
        StoredExecution,
        StoredGroup,
        StoredPlan,
    )

RUN_SCHEMA = "agentbench.run/1"
RUN_DETAILS_SCHEMA = "agentbench.run-details/1"

Document = dict[str, Any]


def run_document(connection: sqlite3.Connection, run: Document) -> Document:
    """Return what `agentbench run --format json` prints. `run` is a row of `queries.find_run`."""
    plan = read_plan(run["plan"])
    groups = {one.id: group for group in plan.groups for one in group.executions}
    planned = {one.id: one for group in plan.groups for one in group.executions}
    benchmarks = {key: group.read() for key, group in groups.items()}
    rows = executions_of(connection, run["key"])
    shared = _Shared(connection)
    return {
        "schema": RUN_SCHEMA,
        "run_id": run["id"],
        "status": run["status"],
        "stop_reason": run["stop_reason"],
        "harness": run["verdict"],
        "remarks": plan.remarks,
        "rerun_of": plan.rerun_of or None,
        "unchecked_limits": unchecked_limits(connection, plan, benchmarks, rows),
        "executions": [
            execution_document(connection, row, shared)
            | _by_kind(connection, row, benchmarks.get(row["id"]), groups)
            | {"rerun": _rerun(connection, row, planned.get(row["id"]))}
            for row in rows
        ],
        "leaderboard": leaderboard_of(
            connection, [row for row in rows if row["attempts_after"] is None]
        ),
    }


def _rerun(
    connection: sqlite3.Connection, row: Document, planned: StoredExecution | None
) -> Document | None:
    """Return what an execution of a rerun asked again; None for any other."""
    if planned is None or planned.continued is None:
        return None
    continued = planned.continued
    asked = outcomes_of(connection, row["key"], continued.asked)
    return {
        "execution_id": continued.execution_id,
        "attempt": continued.attempt,
        "asked": len(continued.asked),
        "observed": asked.observed,
        "answered": asked.answered,
        "correct": asked.correct,
    }


def typed_run(document: Document) -> RunDocument:
    """Return a run document, with its circumstances or without, as its class.

    What a kind from outside adds to an execution is left out: no class describes it.
    """
    of = RunDetailsDocument if document.get("schema") == RUN_DETAILS_SCHEMA else RunDocument
    executions = typed_executions(document["executions"])
    without = msgspec.convert(plain(document | {"executions": ()}), of)
    return msgspec.structs.replace(without, executions=executions)


def typed_executions(executions: Iterable[Document]) -> tuple[ExecutionResult, ...]:
    """Return executions of a run document as their class."""
    # One after the other: a whole run of a sweep as plain values takes as much memory again.
    metrics: dict[int, MetricValue] = {}
    return tuple(_typed_execution(one, metrics) for one in executions)


def stored_executions(connection: sqlite3.Connection, rows: Iterable[Document]) -> list[Document]:
    """Return executions of any runs (rows of `benchmark_executions`) as run documents have them."""
    shared = _Shared(connection)
    plans: dict[int, StoredPlan] = {}
    documents = []
    for row in rows:
        plan = plans.get(row["run_key"])
        if plan is None:
            plan = plans[row["run_key"]] = read_plan(plan_of_run(connection, row["run_key"]))
        groups = {one.id: group for group in plan.groups for one in group.executions}
        planned = {one.id: one for group in plan.groups for one in group.executions}
        group = groups.get(row["id"])
        benchmark = None if group is None else group.read()
        documents.append(
            execution_document(connection, row, shared)
            | _by_kind(connection, row, benchmark, groups)
            | {"rerun": _rerun(connection, row, planned.get(row["id"]))}
        )
    return documents


def _typed_execution(execution: Document, metrics: dict[int, MetricValue]) -> ExecutionResult:
    """Return an execution of a run document as its class. `metrics`: those typed so far by `id`,
    since executions of a sweep share most of them (see `metrics_of`).
    """
    known = {
        name: value
        for name, value in execution.items()
        if name in ExecutionResult.__struct_fields__ and name != "metrics"
    }
    parts = {name: value for name, value in known.items() if isinstance(value, Part)}
    others = {name: value for name, value in known.items() if name not in parts}
    typed = msgspec.convert(plain(others | {"metrics": {}}), ExecutionResult)
    own = {}
    for name, value in execution["metrics"].items():
        if id(value) not in metrics:
            metrics[id(value)] = msgspec.convert(plain(value), MetricValue)
        own[name] = metrics[id(value)]
    return msgspec.structs.replace(typed, metrics=own, **parts)


def mark_interrupted(document: Document) -> None:
    """Mark a run whose process is gone, and its unfinished parts, as interrupted in the
    document, before the store says so.
    """
    document["status"] = "interrupted"
    for execution in document["executions"]:
        if execution["status"] in {"running", "planned"}:
            execution["status"] = "interrupted"


def count_kept(connection: sqlite3.Connection, run_key: int, document: Document) -> None:
    """Fill in the counts of answers that a killed process committed and could not add up."""
    keys = {row["id"]: row["key"] for row in executions_of(connection, run_key)}
    for execution in document["executions"]:
        if not execution["metrics"] and not execution["cases"]["observed"]:
            kept = kept_answers(connection, keys[execution["execution_id"]])
            execution["cases"] |= kept
            for entry in document["leaderboard"]:
                if entry["agent_id"] == execution["agent_id"]:
                    entry.update({name: entry[name] + count for name, count in kept.items()})


def _by_kind(
    connection: sqlite3.Connection,
    row: Document,
    benchmark: StoredBenchmark | None,
    groups: Mapping[str, StoredGroup],
) -> Document:
    """Return the kind of an execution, the fields of its cases, and the document that its kind
    adds. `groups`: by id.
    """
    if benchmark is None or benchmark.kind is None:
        return {"kind": None}
    fields = {
        "metadata_fields": benchmark.metadata_fields,
        "contain_expected": contained_answers(connection, row["key"], benchmark.scorers),
    }
    name = benchmark.kind
    document = kind_named(name).part("document")
    found = document and document(connection, row, groups[row["id"]].document())
    return fields | ({"kind": name} if found is None else {"kind": name, name: found})


class _Shared:
    """Data that the documents of a run's executions have in common, read once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._weights: dict[str, dict[str, float]] = {}
        self._measured: dict[tuple[str, str], list[str]] = {}
        self.metrics: dict[tuple[Any, ...], Document] = {}
        """For `metrics_of`."""

    def weights(self, suite_hash: str) -> dict[str, float]:
        """Return the weights of the dimensions in the suite's overall score."""
        if suite_hash not in self._weights:
            self._weights[suite_hash] = suite_weights(self._connection, suite_hash)
        return self._weights[suite_hash]

    def metrics_measured(self, suite_hash: str, benchmark_id: str) -> list[str]:
        """Return the metrics that a benchmark measures according to the suite's author."""
        place = suite_hash, benchmark_id
        if place not in self._measured:
            self._measured[place] = metrics_measured(self._connection, *place)
        return self._measured[place]


def execution_document(
    connection: sqlite3.Connection, row: Document, shared: _Shared | None = None
) -> Document:
    """Return one execution of a run document; one of kind load has its own document in `load`."""
    shared = shared or _Shared(connection)
    metrics = metrics_of(connection, row["key"], shared.metrics)
    document = {
        "execution_id": row["id"],
        "suite_id": row["suite_id"],
        "benchmark_id": row["benchmark_id"],
        "agent_id": row["agent_id"],
        "agent_version": row["agent_version"],
        "parameters": row["parameters"],
        "seed": row["seed"],
        "simulated": bool(row["simulated"]),
        "status": row["status"],
        "stop_reason": row["stop_reason"],
        "cases": {
            "total": row["planned"],
            "observed": row["observed"],
            "answered": row["answered"],
            "correct": row["correct"],
        },
        "metrics": metrics,
        "scores": {
            "accuracy": row["accuracy_score"],
            "speed": row["speed_score"],
            "efficiency": row["efficiency_score"],
            "cost": row["cost_score"],
            "reliability": row["reliability_score"],
            "overall": row["overall_score"],
        },
        "weights": shared.weights(row["suite_hash"]),
        "percentile_rank": row["percentile_rank"],
        "deviation_from_baseline": row["deviation_from_baseline"],
        "failures": failures_of(connection, row["key"]),
        "judges": _agreement(connection, row["key"]),
        "unmeasured": _unmeasured(
            shared.metrics_measured(row["suite_hash"], row["benchmark_id"]), metrics
        ),
        "own_metrics": [one.name for one in defined_metrics(connection, row["key"])],
    }
    load = load_document(connection, row)
    return document if load is None else document | {"load": load}


def _unmeasured(promised: Iterable[str], metrics: Document) -> dict[str, str | None]:
    """Return metrics without a value that the suite says are measured, with the reason."""
    lacking: dict[str, str | None] = {}
    for name in promised:
        found = metrics.get(name) or metrics.get(f"{name}.mean")
        if found is None or found["value"] is None:
            lacking[name] = None if found is None else found["reason"]
    return lacking


def _agreement(connection: sqlite3.Connection, execution_key: int) -> Document | None:
    """Return the agreement of the judges of a model-graded benchmark; None for fewer than two."""
    scores = graded_scores(connection, execution_key)
    if not scores:
        return None
    from agentbench_tui.scoring.judge.agreement import judge_agreement

    found = judge_agreement(scores)
    if found.judges < 2:
        return None
    return {
        "judges": found.judges,
        "answers": found.answers,
        "agreement": found.raw,
        "kappa": found.kappa,
    }


def run_details(connection: sqlite3.Connection, run: Document) -> Document:
    """Return what `agentbench runs show --format json` prints: the run document and its
    circumstances.
    """
    from agentbench_tui.verdicts.clusters.cluster_words import cluster_finding, run_words
    from agentbench_tui.verdicts.ranking.board_clusters import clusters_of_run

    document = run_document(connection, run)
    environment = environment_of(connection, run["environment_hash"])
    document |= {
        "schema": RUN_DETAILS_SCHEMA,
        "suite_ids": json.loads(run["suite_ids"]),
        "seed": run["seed"],
        "repeats": run["repeats"],
        "tags": json.loads(run["tags"]),
        "notes": run["notes"],
        "command": run["command"],
        "error": run["error"],
        "started_at": run["started_at"],
        "ended_at": run["ended_at"],
        "tool_version": run["tool_version"],
        "overhead": None if run["overhead"] is None else json.loads(run["overhead"]),
        "vcs": None if run["vcs"] is None else json.loads(run["vcs"]),
        "environment": None if environment is None else json.loads(environment),
        "failure_details": failure_details(connection, run["key"]),
    }
    rows = executions_of(connection, run["key"])
    document["clusters"] = [
        plain(cluster_finding(found))
        | {
            "metric": "accuracy",
            "metrics": ["accuracy"],
            "consequence": "named",
            "agent_id": found.metric,
            "suite_id": place.suite_id,
            "benchmark_id": place.benchmark_id,
            "words": run_words(place.benchmark_id, found),
        }
        for place, found in clusters_of_run(connection, rows)
    ]
    keys = {row["id"]: row["key"] for row in rows}
    for execution in document["executions"]:
        execution["gauges"] = gauges_of(connection, keys[execution["execution_id"]])
    return document
