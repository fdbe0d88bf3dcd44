"""What `run` and `runs show` print of executions: numbers for programs, words for people."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from run_documents import execution, metric

from agentbench_tui.cli.run.result import print_run
from agentbench_tui.contracts.document import plain
from agentbench_tui.contracts.run import CaseCounts, MetricValue
from agentbench_tui.presentation.run import execution_row

TASK: dict[str, Any] = plain(
    execution(
        parameters={"level": 2},
        cases=CaseCounts(total=3, observed=3, answered=2, correct=1),
        failures={"timeout": 1},
        metrics={"e2e_ms.p50": metric(12.5), "e2e_ms.p95": metric(None, reason="needs 59")},
    )
)
RUN = {"run_id": "1", "executions": [TASK], "leaderboard": []}


def test_a_time_is_a_number_and_one_that_is_not_known_is_empty(
    capfd: pytest.CaptureFixture[str],
) -> None:
    print_run(RUN, "csv")
    (row,) = csv.DictReader(io.StringIO(capfd.readouterr().out))
    assert (row["e2e_ms.p50"], row["e2e_ms.p95"], row["parameters.level"]) == ("12.5", "", "2")
    assert (row["observed"], row["answered"], row["correct"]) == ("3", "2", "1")
    assert json.loads(row["failures"]) == {"timeout": 1}


@pytest.mark.parametrize("kind", ["experiment", "stress"])
def test_what_is_not_judged_is_neither_right_nor_wrong(
    kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    print_run({**RUN, "executions": [{**TASK, "kind": kind}]}, "csv")
    (row,) = csv.DictReader(io.StringIO(capfd.readouterr().out))
    assert (row["answered"], row["correct"]) == ("2", "")


def test_executions_of_all_kinds_have_the_same_columns(capfd: pytest.CaptureFixture[str]) -> None:
    unmeasured = {**TASK, "benchmark_id": "load", "kind": "load", "status": "interrupted"}
    print_run({**RUN, "executions": [TASK, unmeasured]}, "jsonl")
    task, load = map(json.loads, capfd.readouterr().out.splitlines())
    assert [*task] == [*load]
    assert (task["e2e_ms.p50"], load["e2e_ms.p50"], load["status"]) == (12.5, None, "interrupted")


@pytest.mark.parametrize(
    ("found", "shown"),
    [(metric(0.0), "0.00 ms"), (metric(None, reason="needs 59"), "needs 59")],
)
def test_a_table_tells_a_time_of_nothing_from_no_time(found: MetricValue, shown: str) -> None:
    assert execution_row(execution(metrics={"e2e_ms.p95": found}))["p95"] == shown
