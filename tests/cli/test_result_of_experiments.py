"""The tables of a run of experiments."""

from __future__ import annotations

from typing import Any

import pytest

from agentbench_tui.cli.result import execution_row


@pytest.mark.parametrize(("kind", "shown"), [("experiment", "–/3/4"), ("task", "0/3/4")])
def test_what_code_returned_is_neither_right_nor_wrong(kind: str, shown: str) -> None:
    execution: dict[str, Any] = {
        "benchmark_id": "it",
        "agent_id": "code",
        "simulated": False,
        "parameters": {},
        "status": "complete",
        "stop_reason": None,
        "kind": kind,
        "metrics": {},
        "failures": {},
        "cases": {"total": 4, "observed": 4, "answered": 3, "correct": 0},
    }
    assert execution_row(execution)["cases"] == shown
