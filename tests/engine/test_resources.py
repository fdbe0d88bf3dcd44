"""CPU time and time of asking: what is counted, and what is said when it cannot be."""

import json
from pathlib import Path

import pytest
from carried_out import ONLY_ACCURACY, Result, run, suite

from agentbench_tui.engine.run import session
from agentbench_tui.engine.task.rescoring import rescore
from agentbench_tui.process.snapshot import least_cpu_seconds
from agentbench_tui.store.transaction import write_once

WORKER = """
import json, sys
print(json.dumps({"type": "hello", "protocol": 1}), flush=True)
sys.stdin.readline()
for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps({"id": task["id"], "text": task["input"]}), flush=True)
"""


async def run_worker(folder: Path) -> Result:
    (folder / "quick.py").write_text(WORKER)
    agent = {"id": "quick", "target": "worker:{python} -I -S quick.py"}
    document = suite(4, suite={"agents": [agent], "weights": ONLY_ACCURACY})
    return await run(folder, document, "")


@pytest.mark.skipif(least_cpu_seconds() > 0, reason="needs CPU clocks of processes")
async def test_a_quick_program_has_its_cpu_time_measured(tmp_path: Path) -> None:
    result = await run_worker(tmp_path)
    per_correct = result.metrics("quick")["cpu_ms_per_correct"]
    assert 0.001 < per_correct["value"] < 5
    assert result.metrics("quick")["memory_peak_mb"]["value"] > 1
    assert result.column("SELECT cpu_seconds FROM iterations") == [
        pytest.approx(per_correct["value"] * 4 / 1000)
    ]


async def test_cpu_time_lost_in_the_grain_of_the_clock_is_not_zero_but_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "least_cpu_seconds", lambda: 3600.0)
    result = await run_worker(tmp_path)
    for name in ("cpu_ms_per_correct", "cpu_usage_percent"):
        metric = result.metrics("quick")[name]
        assert metric["value"] is None
        assert metric["reason"].endswith("took less CPU time than can be measured here")


async def test_what_the_gauges_took_is_stored_with_the_overhead(tmp_path: Path) -> None:
    result = await run_worker(tmp_path)
    overhead = json.loads(result.column("SELECT overhead FROM runs")[0])
    assert overhead["verdict"] == result.column("SELECT verdict FROM runs")[0]
    assert overhead["gauges"]["readings"] >= 1
    assert overhead["gauges"]["errors"] == 0
    found = result.rows("SELECT 1 FROM gauges WHERE scope LIKE 'gpu:%'")
    assert bool(overhead["gauges"]["gpu_reason"]) == (not found)


async def test_numbers_that_name_a_gpu_are_not_averaged(tmp_path: Path) -> None:
    result = await run_worker(tmp_path)
    reading = json.dumps({"index": 1, "slice": 0, "power_w": 70.0})
    write_once(
        result.database,
        [
            lambda c: c.execute(
                "INSERT INTO gauges (run_key, at, scope, reading) SELECT run_key,"
                " unixepoch(start_time), 'gpu:1.0', ? FROM benchmark_executions",
                (reading,),
            )
        ],
    )
    await rescore(result.database, dict(result.rows("SELECT * FROM runs")[0]))
    summaries = "SELECT field, mean FROM gauge_summaries WHERE scope='gpu:1.0'"
    assert [tuple(row) for row in result.rows(summaries)] == [("power_w", 70.0)]
