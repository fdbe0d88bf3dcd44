"""Examples of the OpenAPI document; a test holds each to its schema."""

from __future__ import annotations

from typing import Any

RUN_ID = "01a22a77-0d02-7af4-86a2-e956f14a675d"
CONFIGURATION = {
    "limit": 50, "runs": 3, "seed": 42, "gates": ["accuracy>=0.8"], "tags": ["nightly"],
}  # fmt: skip
AGENT_IDS = ["planner", "rules"]
_SCORES = {
    "accuracy": 1.0, "accuracy_rank": 1, "speed": 0.696, "speed_rank": 2, "efficiency": 0.847,
    "efficiency_rank": 1, "cost": 0.589, "cost_rank": 1, "reliability": 1.0, "reliability_rank": 1,
}  # fmt: skip
_ENTRY = {
    "rank": 1, "agent_id": "planner", "simulated": False, "overall": 0.847,
    "benchmarks_completed": 4, **_SCORES,
}  # fmt: skip

EXAMPLES: dict[str, Any] = {
    "agent-matrix/1": {
        "schema": "agentbench.agent-matrix/1", "suite_id": "quickstart", "agents": [_ENTRY],
    },
    "gates/1": {
        "schema": "agentbench.gates/1", "run_id": RUN_ID, "status": "complete",
        "verdict": "passed", "is_whole": True,
        "gates": [
            {
                "gate": "accuracy>=0.8", "agent_id": "planner", "benchmark_id": "word-problems",
                "value": 1.0, "holds": True, "reason": None, "point": None,
            }
        ],
    },
    "health/1": {"schema": "agentbench.health/1", "status": "ok"},
    "imported/1": {
        "schema": "agentbench.imported/1", "new": [RUN_ID], "known": [], "refused": [],
    },
    "leaderboard/1": {
        "schema": "agentbench.leaderboard/1", "window_days": 30, "categories": {},
        "agents": [_ENTRY], "metric": None, "by": "agent", "boards": [],
        "reason": "no complete execution yet",
    },
    "problem": {
        "type": "urn:agentbench:problem:token", "title": "Unauthorized", "status": 401,
        "detail": "send the token of the service as `Authorization: Bearer TOKEN`",
    },
    "results/1": {
        "schema": "agentbench.results/1", "agent_id": "planner", "suite_id": "quickstart",
        "timeframe": "latest", "results": [], "more": 0,
    },
    "runs/1": {
        "schema": "agentbench.runs/1",
        "runs": [
            {
                "id": RUN_ID, "status": "complete", "stop_reason": None,
                "suite_ids": ["quickstart"], "tags": ["nightly"], "seed": 42, "repeats": 1,
                "verdict": "clean", "started_at": "2026-11-30T03:10:00.000Z",
                "ended_at": "2026-11-30T03:10:04.210Z", "executions": 16, "complete": 16,
                "planned": 160, "observed": 160, "answered": 160, "correct": 92,
                "cost_usd": 0.0000216, "unpriced": 0, "agents": ["planner", "rules"],
                "judged": True,
            }
        ],
    },
    "started-run/1": {
        "schema": "agentbench.started-run/1", "run_id": RUN_ID, "status": "running",
        "run_url": f"/runs/{RUN_ID}", "events_url": f"/runs/{RUN_ID}/events",
    },
    "stop/1": {
        "schema": "agentbench.stop/1", "run_id": RUN_ID, "status": "running", "requested": True,
    },
    "version/1": {
        "schema": "agentbench.version/1", "version": "0.1.0", "database_schema": 10,
        "documents": ["agentbench.run/1"],
    },
}  # fmt: skip
"""Name of a document, or `problem` → an example."""
EVENTS = (
    "retry: 2000\n\n"
    "id: 0-12-3-0\nevent: tick\n"
    f'data: {{"execution_id":"{RUN_ID}","at":1764471000.2,"observed":21,"answered":21,'
    '"correct":15,"tokens":903,"cost_usd":0.0021}\n\n'
    "id: 0-12-3-1\nevent: end\n"
    f'data: {{"run_id":"{RUN_ID}","status":"complete","stop_reason":null,"executions":[]}}\n\n'
)
