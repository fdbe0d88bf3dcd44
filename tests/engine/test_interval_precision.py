"""How many iterations more a precision takes, told while a run goes on."""

import math
import sqlite3
import statistics
from contextlib import closing

import numpy as np
import pytest
from scipy import stats

from agentbench_tui.engine.run.interval_precision import share_outlook, time_outlook
from agentbench_tui.engine.run.stopping import Progress, end_pass
from agentbench_tui.model.suite import EarlyStop
from agentbench_tui.store.queries.progress import outlooks_of_run

MEDIANS = [100.0, 104.0, 97.0, 101.0, 95.0, 103.0]


def half_width(values: list[float]) -> float:
    """sinh(t s / √n) of the logs, by scipy."""
    logs = np.log(values)
    n = len(values)
    return math.sinh(stats.t.ppf(0.975, n - 1) * logs.std(ddof=1) / math.sqrt(n))


def test_times_say_what_is_reached_and_how_many_more_it_takes() -> None:
    now = half_width(MEDIANS)
    s = np.log(MEDIANS).std(ddof=1)
    n = next(
        n for n in range(2, 1000) if math.sinh(stats.t.ppf(0.975, n - 1) * s / math.sqrt(n)) <= 0.01
    )
    assert time_outlook(MEDIANS, 0.01) == (
        f"half-width now {100 * now:.2g}%, 1% needs {n - len(MEDIANS)} more"
    )


def test_enough_is_enough() -> None:
    assert time_outlook(MEDIANS, 0.05).endswith("%, within 5%")


def test_shares_are_told_in_points() -> None:
    shares = [0.8, 0.9, 0.7, 0.8]
    half = stats.t.ppf(0.975, 3) * statistics.stdev(shares) / 2
    said = share_outlook(shares, 0.02)
    assert said.startswith(f"half-width now {100 * half:.2g} points, 2 needs ")
    assert said.endswith(" more")


@pytest.mark.parametrize("values", [[], [1.0, 2.0], [0.0, 1.0, 2.0], [3.0, 3.0, 3.0]])
def test_nothing_is_said_of_few_values_zeros_and_constants(values: list[float]) -> None:
    assert time_outlook(values, 0.05) == ""


def test_all_wrong_and_all_right_say_nothing() -> None:
    assert share_outlook([0.0] * 4, 0.02) == ""
    assert share_outlook([1.0] * 4, 0.02) == ""


def measured(medians: list[float], rule: EarlyStop) -> list[str]:
    """What is said after each iteration."""
    progress, said = Progress(), []
    for median in medians:
        progress.note(None, 1.0, True, median)
        end_pass(progress, rule)
        said.append(progress.outlook)
    return said


def test_a_run_tells_it_from_the_third_iteration_on() -> None:
    said = measured(MEDIANS, EarlyStop(metric="e2e_ms.p50", half_width=0.02))
    assert said[:2] == ["", ""]
    assert all("2% needs" in one for one in said[2:])
    assert said[-1] == time_outlook(MEDIANS, 0.02)


def test_without_a_precision_asked_for_it_is_told_of_5_percent() -> None:
    assert measured(MEDIANS, EarlyStop())[-1] == time_outlook(MEDIANS, 0.05)


def test_a_precision_of_accuracy_is_told_of_accuracy() -> None:
    progress = Progress()
    rule = EarlyStop(metric="accuracy", half_width=0.02)
    for credit in (1.0, 0.0, 1.0, 1.0):
        progress.note(None, credit, credit == 1, 5.0)
        end_pass(progress, rule)
    assert "points, 2 needs" in progress.outlook


def test_only_what_goes_on_and_can_tell_is_told_of_a_run() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(
            "CREATE TABLE runs (key, id);"
            "CREATE TABLE benchmark_executions (key, run_key, ordinal, agent_id, benchmark_id,"
            " status);"
            "CREATE TABLE live (execution_key, state);"
            "INSERT INTO runs VALUES (1, 'r'), (2, 'other');"
            "INSERT INTO benchmark_executions VALUES (1, 1, 2, 'a', 'x', 'running'),"
            " (2, 1, 1, 'b', 'x', 'running'), (3, 1, 0, 'c', 'x', 'complete'),"
            " (4, 2, 0, 'd', 'x', 'running'), (5, 1, 3, 'e', 'x', 'running');"
            "INSERT INTO live SELECT key, '{\"outlook\": \"of ' || agent_id || '\"}'"
            " FROM benchmark_executions WHERE key < 5;"
            'INSERT INTO live VALUES (5, \'{"outlook": ""}\');'
        )
        found = [(one["agent_id"], one["outlook"]) for one in outlooks_of_run(connection, "r")]
    assert found == [("b", "of b"), ("a", "of a")]
