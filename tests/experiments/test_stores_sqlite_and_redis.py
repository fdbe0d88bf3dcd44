"""Experiments on stores: equal work for every variant, and settings that are in force."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from agentbench_tui.experiments.experiment import ExperimentContext
from agentbench_tui.experiments.measuring.bench import Bench
from agentbench_tui.experiments.measuring.order import Order, Reading
from agentbench_tui.experiments.parameters import make_experiment
from agentbench_tui.experiments.settings import equal_variants
from agentbench_tui.experiments.stores.pragma_profile import PROFILES, PragmaProfile
from agentbench_tui.experiments.stores.redis_client import (
    EmbeddedTable,
    RedisError,
    RedisServer,
)

needs_redis = pytest.mark.skipif(
    shutil.which("redis-server") is None, reason="no redis-server on PATH"
)
SMALL_REDIS = {"num_agents": 2, "memory_entries": 12, "batch_size": 5, "memory_limit": 8}


def measured(tmp_path, slug, values, name="one"):
    """Settings in force and one iteration, with nothing left behind."""
    folder = tmp_path / name
    bench = Bench(Order(slug, ".", values, name, "r", str(tmp_path), str(folder), 7, 0))
    opened = bench.open()
    try:
        assert opened.error is None, opened.error
        reading = bench.iterate(0)
        assert reading.error is None, reading.error
    finally:
        assert bench.close() is None
    assert not folder.exists()
    return opened.effective, reading


@pytest.mark.parametrize("workload", ["write_heavy", "read_heavy", "mixed"])
def test_pragma_profiles_do_equal_work_under_settings_of_their_own(tmp_path, workload):
    small = {"num_records": 100, "batch_size": 50, "db_size_mb": 0.1, "workload": workload}
    found = {
        name: measured(tmp_path, "pragma_profile", {**small, "profile": name}, name)
        for name in PROFILES
    }
    effective = {name: one[0] for name, one in found.items()}
    assert equal_variants(effective) == {}
    # By SQLite's numbers: 0 off, 1 normal, 2 full.
    assert {name: one["synchronous"] for name, one in effective.items()} == {
        "balanced": 1, "performance": 0, "safety": 2, "memory": 1,
    }  # fmt: skip
    assert {name: one["journal_mode"] for name, one in effective.items()} == {
        "balanced": "wal", "performance": "memory", "safety": "wal", "memory": "memory",
    }  # fmt: skip
    assert effective["performance"]["page_size"] == 8192
    expected = {"write_heavy": 100, "read_heavy": 2006, "mixed": 130}[workload]
    assert {one[1].metrics["statements"] for one in found.values()} == {expected}


@pytest.fixture
def prepared(tmp_path):
    """An experiment with everything ready for its call."""
    made = []

    def prepare(**values):
        context = ExperimentContext(run_dir=tmp_path, seed=1)
        experiment = make_experiment(PragmaProfile, values)
        made.append((experiment, context))
        experiment.setup(context)
        experiment.before_each(context)
        return experiment, context

    yield prepare
    for experiment, context in made:
        experiment.teardown(context)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("workload", ["write_heavy", "mixed"])
def test_all_that_is_written_is_in_the_database_when_the_clock_stops(prepared, profile, workload):
    experiment, context = prepared(profile=profile, workload=workload, num_records=200)
    experiment.execute_once(context)
    alone = context.run_dir / "alone.db"  # without its log
    shutil.copy(context.run_dir / "databases" / "measured.db", alone)
    with closing(sqlite3.connect(alone)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM records").fetchone() == (200,)


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="Linux counts what is read")
def test_what_read_heavy_reads_is_in_no_cache_of_the_connection(prepared):
    experiment, context = prepared(profile="safety", workload="read_heavy", db_size_mb=3.0)
    size = (context.run_dir / "databases" / "measured.db").stat().st_size
    assert size >= 3e6
    for _ in range(2):
        experiment.before_each(context)
        before = read_bytes()
        experiment.execute_once(context)
        assert read_bytes() - before > size - 1e5


def read_bytes():
    return int(Path("/proc/self/io").read_text().split()[1])


def test_database_profiler_commits_once_a_batch_where_it_says(tmp_path):
    for storage, place in (("disk", "actions.db"), ("memory", "memory")):
        values = {"storage": storage, "records": 25, "batch_size": 10}
        effective, reading = measured(tmp_path, "database_profiler", values, storage)
        assert effective["storage"] == place
        assert reading.metrics["commits"] == 3
        assert reading.metrics["rows"] == 25
        assert 0 < reading.metrics["commit_percent"] < 100


@needs_redis
def test_redis_memory_finds_in_redis_what_it_finds_in_the_table(tmp_path):
    found: dict[str, Reading] = {}
    for backend in ("redis", "embedded"):
        values = {**SMALL_REDIS, "backend": backend, "search_radius": 60.0}
        effective, found[backend] = measured(tmp_path, "redis_memory", values, backend)
        assert effective["backend"].startswith(backend)
    for name in ("entries", "read_entries", "search_hits", "removed_entries"):
        assert found["redis"].metrics[name] == found["embedded"].metrics[name]
    assert found["redis"].metrics["read_entries"] == 24
    assert found["redis"].metrics["removed_entries"] == 2 * (12 - 8)
    assert found["redis"].metrics["search_hits"] > 0
    assert found["redis"].metrics["bytes_per_entry"] > 300  # the text alone is longer
    assert "bytes_per_entry" not in found["embedded"].metrics


def test_without_a_server_the_table_is_used_and_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    effective, reading = measured(tmp_path, "redis_memory", SMALL_REDIS)
    assert "not Redis" in effective["backend"]
    assert reading.metrics["read_entries"] == 24
    order = Order(
        "redis_memory", ".", {"backend": "redis"}, "x", "r", str(tmp_path), str(tmp_path / "x"),
        7, 0,
    )  # fmt: skip
    bench = Bench(order)
    assert "install it, or set backend: embedded" in (bench.open().error or "")
    assert bench.close() is None


@needs_redis
def test_what_redis_refuses_and_a_server_that_is_gone_are_errors():
    server = RedisServer()
    connection = server.connect()
    try:
        with pytest.raises(RedisError, match="wrong number of arguments"):
            connection.execute(("GET",))
        assert connection.execute(("GET", "nothing"), ("PING",)) == [None, b"PONG"]
    finally:
        server.stop()
    with pytest.raises((RedisError, OSError)):
        connection.execute(("PING",))
    connection.close()


_STARTS = """
import sys
from agentbench_tui.experiments.stores.redis_client import RedisServer
server = RedisServer()
print(server.pid, server.folder, flush=True)
sys.stdin.read()
"""


@needs_redis
def test_a_server_ends_with_the_program_that_was_killed():
    with subprocess.Popen(
        [sys.executable, "-c", _STARTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        pid, folder = program.stdout.readline().split()
        server = psutil.Process(int(pid))
        assert server.name() == "redis-server"
        program.kill()
    until = time.monotonic() + 60
    while not has_ended(server):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert not Path(folder).exists()


def has_ended(server):
    try:
        return server.status() == psutil.STATUS_ZOMBIE  # where nobody reaps orphans
    except psutil.NoSuchProcess:
        return True


def test_entries_of_the_table_expire(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("agentbench_tui.experiments.stores.redis_client.monotonic", lambda: now[0])
    table = EmbeddedTable()
    table.execute(("SET", "a", b"1", "EX", 10))
    now[0] = 9.0
    assert table.execute(("GET", "a")) == [b"1"]
    now[0] = 11.0
    assert table.execute(("GET", "a")) == [None]
