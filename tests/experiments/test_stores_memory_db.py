"""`memory_db`: that its variants do the same work in the places they name."""

from __future__ import annotations

from agentbench_tui.experiments.measuring.bench import Bench
from agentbench_tui.experiments.measuring.order import Order
from agentbench_tui.experiments.settings import equal_variants
from agentbench_tui.experiments.stores.memory_db import MemoryDatabase

SMALL = {"num_steps": 5, "num_agents": 6, "world_size": 20}


def test_its_variants_do_equal_work_where_they_say(tmp_path):
    effective, readings = {}, {}
    for name, values in MemoryDatabase.variants.items():
        order = Order(
            "memory_db", ".", {**SMALL, **values}, name, "r", str(tmp_path),
            str(tmp_path / name), 7, 0,
        )  # fmt: skip
        bench = Bench(order)
        opened = bench.open()
        assert opened.error is None
        effective[name] = opened.effective
        readings[name] = bench.iterate(0)
        assert bench.close() is None
        assert not (tmp_path / name).exists()
    assert equal_variants(effective) == {}
    assert effective["disk"]["storage"] == "probe.db"
    assert effective["disk-wal"]["journal_mode"] == "wal"
    assert effective["disk-wal"]["synchronous"] == 1  # SQLite's number of NORMAL
    assert effective["memory-persist"]["leaves_file"] is True
    assert effective["memory"]["leaves_file"] is False
    metrics = {name: one.metrics for name, one in readings.items()}
    assert len({one["rows"] for one in metrics.values()}) == 1
    assert metrics["memory"]["file_bytes"] == 0
    on_disk = {metrics[name]["file_bytes"] for name in ("disk", "disk-wal", "memory-persist")}
    assert len(on_disk) == 1
    assert on_disk.pop() > 0
