"""Reports what a load waits for before its window; light to import during measurements."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentbench_tui.load.sending.workers import WARMUP_REQUEST_LIMIT_S
from agentbench_tui.load.spec import LoadSpec
from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.store.queries.progress import live_states

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

_REQUESTS = LoadSpec.model_fields["warmup_requests"].default


def warming_up(benchmark: Mapping[str, Any], state: Mapping[str, Any], command: str | None) -> str:
    """Report that the warm-up requests are unanswered; empty otherwise.

    `benchmark`: of kind load, from a plan. `state`: its live row. `command`: the command of the
    run.
    """
    if state.get("phase") != "starting" or benchmark["load"].get("warmup_requests", _REQUESTS) == 0:
        return ""
    limit_ms = (benchmark.get("constraints") or {}).get("time_limit_ms")
    limit_s = WARMUP_REQUEST_LIMIT_S if limit_ms is None else limit_ms / 1000
    # In a suite a key says it; `run` has a --warmup too, which is about tasks.
    is_suite = not (command or "").startswith("agentbench load ")
    skip = "`warmup_requests: 0` in its `load`" if is_suite else "--warmup 0"
    limit = f"limit {plain(limit_s)} s; {skip} to skip"
    return f"warming up: waiting for the first answer ({limit})"


def warming_up_now(
    connection: sqlite3.Connection, run_id: str, benchmarks: Mapping[str, Mapping[str, Any]]
) -> str:
    """Report unanswered warm-up requests of all executions of a run, with the agent's name.

    `benchmarks`: by execution.
    """
    for execution_id, agent_id, state, command in live_states(connection, run_id):
        benchmark = benchmarks.get(execution_id)
        if benchmark is not None and (said := warming_up(benchmark, json.loads(state), command)):
            return f"{agent_id}: {said}"
    return ""
