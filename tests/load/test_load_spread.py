"""How far the repeats of a load lie apart: each one's own figures, and the interval from them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from samples import Execution, Sample, done, window
from scipy import stats

from agentbench_tui.contracts.load import MetricRepeats
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.verdicts.load.load_spread import between_repeats

ROW = {"key": 1, "agent_id": "a", "agent_version": "1"}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    create_or_migrate(tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        yield connection


def spread(
    connection: sqlite3.Connection, times: dict[int, list[float]]
) -> dict[str, MetricRepeats] | None:
    """Of repeats whose requests, each due when the one before has ended, take so many seconds."""
    samples = []
    for repeat, seconds in times.items():
        due = np.cumsum([0.0, *seconds[:-1]])
        samples += [Sample(at, one, repeat=repeat) for at, one in zip(due, seconds, strict=True)]
    windows = {
        repeat: window(done(offered=len(seconds), sent=len(seconds), window_s=sum(seconds)))
        for repeat, seconds in times.items()
    }
    Execution(samples, windows).write(connection, 1, 1)
    return between_repeats(connection, ROW)


def test_three_repeats_have_a_t_interval_on_the_logs_of_their_own_figures(
    connection: sqlite3.Connection,
) -> None:
    shape = np.linspace(0.5, 1.5, 301)
    found = spread(
        connection, {n: (shape * scale).tolist() for n, scale in enumerate((0.1, 0.12, 0.2))}
    )
    assert found is not None
    medians = [100.0, 120.0, 200.0]
    e2e = found["e2e_ms"]
    assert e2e.p50.values == pytest.approx(medians)
    assert e2e.p99.values == pytest.approx([1.49 * one for one in medians])
    logs = np.log(medians)
    low, high = stats.t.interval(0.95, 2, np.mean(logs), stats.sem(logs))
    for part in (e2e.mean, e2e.p50):
        assert part.low == pytest.approx(np.exp(low))
        assert part.high == pytest.approx(np.exp(high))
        assert part.method == "t on logs"
    assert e2e.part("p999") is None  # it needs 2,995 requests
    assert e2e.part("max") is None
    rates = found["throughput_per_s"].whole
    assert rates is not None
    assert rates.values == pytest.approx([10.0, 1 / 0.12, 5.0])
    assert rates.low < 5.0 < 10.0 < rates.high


def test_two_repeats_have_their_range(connection: sqlite3.Connection) -> None:
    found = spread(connection, {0: [0.1] * 9, 1: [0.3] * 9})
    assert found is not None
    p50 = found["e2e_ms"].p50
    assert (p50.low, p50.high, p50.method) == (100.0, 300.0, "range")


def test_a_percentile_that_one_repeat_cannot_support_is_left_out(
    connection: sqlite3.Connection,
) -> None:
    found = spread(connection, {0: [0.1] * 59, 1: [0.1] * 59, 2: [0.1] * 58})
    assert found is not None
    assert found["e2e_ms"].part("p90") is not None
    assert found["e2e_ms"].part("p95") is None


def test_zeros_and_shares_have_no_logs(connection: sqlite3.Connection) -> None:
    found = spread(connection, {n: [0.1] * 9 for n in range(3)})
    assert found is not None
    for nothing in (found["send_lag_ms"].p50, found["reliability"]):
        assert (nothing.low, nothing.high, nothing.method) == (None, None, None)
    assert found["reliability"].values == (1.0, 1.0, 1.0)


def test_sums_of_all_repeats_do_not_vary_between_them(connection: sqlite3.Connection) -> None:
    found = spread(connection, {0: [0.1] * 9, 1: [0.1] * 9})
    assert found is not None
    assert {"connections", "received_bytes"}.isdisjoint(found)


def test_one_repeat_lies_apart_from_none(connection: sqlite3.Connection) -> None:
    assert spread(connection, {0: [0.1] * 9}) is None
