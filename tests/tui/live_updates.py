"""Updates as a viewer gives them, of a run that nobody has to carry out."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.store.viewer import Row, Update

BEGAN = 1_700_000_000.0


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_row(kinds: list[str], *, status: str = "running", load: Any = None, **plan: Any) -> Row:
    groups = [
        {
            "benchmark": {"benchmark_id": f"b{n}", "kind": kind, "load": load, "stress": None},
            "executions": [{"id": f"e{n + 1}"}],
        }
        for n, kind in enumerate(kinds)
    ]
    document = {"groups": groups, "repeats": 1, "cost_limit_usd": None, "token_limit": None} | plan
    return {
        "id": "r", "key": 1, "status": status, "suite_ids": '["suite"]', "verdict": None,
        "plan": json.dumps(document), "started_at": iso(BEGAN), "ended_at": None, "overhead": None,
    }  # fmt: skip


def execution(key: int = 1, **more: Any) -> Row:
    return {
        "id": f"e{key}", "key": key, "benchmark_id": f"b{key - 1}", "agent_id": f"agent{key}",
        "parameters": "{}", "simulated": 0, "status": "running", "planned": 100,
        "end_time": None,
    } | more  # fmt: skip


def tick(
    second: float,
    times_ms: list[float],
    *,
    key: int = 1,
    observed: int | None = None,
    correct: int = 0,
    **more: Any,
) -> Row:
    return {
        "execution_key": key, "at": BEGAN + second, "answered": len(times_ms), "correct": correct,
        "observed": len(times_ms) if observed is None else observed, "tokens": 0, "cost_usd": 0.0,
        "sent": 0, "failed": 0, "repeat": 0, "e2e_histogram": Histogram(times_ms).to_bytes(),
    } | more  # fmt: skip


def failure(second: float, kind: str, detail: str, **more: Any) -> Row:
    return {
        "execution_key": 1, "kind": kind, "detail": detail, "stage": "answer",
        "at": iso(BEGAN + second),
    } | more  # fmt: skip


def wish(seq: int, second: float, words: str, argument: str | None, answer: str | None) -> Row:
    return {
        "seq": seq, "at": BEGAN + second, "wish": words, "argument": argument, "answer": answer,
        "answered_at": None if answer is None else BEGAN + second,
    }  # fmt: skip


def update(
    run: Row,
    executions: list[Row],
    *,
    at: float,
    live: dict[int, dict[str, Any]] | None = None,
    ticks: list[Row] | None = None,
    failures: list[Row] | None = None,
    gauges: list[tuple[str, dict[str, Any]]] | None = None,
    iterations: list[Row] | None = None,
    **more: Any,
) -> Update:
    new: dict[str, list[Row]] = {
        "ticks": ticks or [],
        "failures": failures or [],
        "gauges": [
            {"scope": scope, "reading": json.dumps(reading), "at": BEGAN + at}
            for scope, reading in gauges or []
        ],
        "iterations": iterations or [],
    }
    rows = {
        key: {"execution_key": key, "state": json.dumps(state), "updated_at": BEGAN + at}
        for key, state in (live or {}).items()
    }
    return Update(run, executions, rows, new, at=BEGAN + at, **more)
