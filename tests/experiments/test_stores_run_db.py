"""`run_db`: the store of a run is where its variant says, with every answer in it."""

from __future__ import annotations

from agentbench_tui.experiments.measuring.bench import Bench
from agentbench_tui.experiments.measuring.order import Order


def test_every_answer_is_in_the_file_that_is_kept(tmp_path):
    values = {"storage": "memory_persist", "cases": 3}
    folder = tmp_path / "it"
    bench = Bench(Order("run_db", ".", values, "it", "r", str(tmp_path), str(folder), 7, 0))
    assert bench.open().error is None
    reading = bench.iterate(0)
    assert bench.close() is None
    assert reading.error is None
    assert reading.metrics["kept_answers"] == 3
    assert not folder.exists()
