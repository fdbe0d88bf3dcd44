"""The course of an agent: values of runs, where levels changed, and how all agents stand."""

from contextlib import closing
from pathlib import Path

import pytest
from run_history import Measured, RunHistory, near, timed

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import connect_to_read, connect_to_write, reading
from agentbench_tui.store.queries.history import newest_agent, stamp_of_history
from agentbench_tui.store.writes.baselines import keep_accepted
from agentbench_tui.store.writes.executions import MetricRow, write_metrics
from agentbench_tui.store.writes.runs import RunEnd, end_run
from agentbench_tui.verdicts.regression.alarms import standings
from agentbench_tui.verdicts.regression.metric_series import (
    MOST_RUNS,
    AgentSeries,
    acceptable_at,
    series_of,
)


def course(path: Path, agent: str = "bot") -> AgentSeries:
    with reading(path) as connection:
        return series_of(connection, agent)


def a_store(path: Path, *levels: tuple[str, float, int]) -> RunHistory:
    """Runs of `bot`: version, level and how many."""
    store = RunHistory(path)
    for version, level, count in levels:
        store.times(near(level, count), version)
    return store


def test_a_change_of_level_lies_where_it_was_planted(tmp_path: Path) -> None:
    store = a_store(tmp_path / "a.db", ("1", 100.0, 20), ("2", 130.0, 4))
    store.close()
    (series,) = course(store.path).series
    assert [point.version for point in series.points] == ["1"] * 20 + ["2"] * 4
    (change,) = series.changes
    assert (change.first, change.last, change.worse) == (20, 20, True)
    assert change.severity == "critical"
    assert change.change == pytest.approx(1.3, rel=0.01)


def test_an_earlier_improvement_stays_beside_what_was_found_now(tmp_path: Path) -> None:
    store = a_store(tmp_path / "a.db", ("1", 130.0, 15), ("1", 100.0, 20), ("1", 120.0, 5))
    store.close()
    (series,) = course(store.path).series
    assert [(one.first, one.worse) for one in series.changes] == [(15, False), (35, True)]
    assert [one.severity for one in series.changes] == [None, "major"]


def test_no_change_has_none(tmp_path: Path) -> None:
    store = a_store(tmp_path / "a.db", ("1", 100.0, 30))
    store.close()
    (series,) = course(store.path).series
    assert series.changes == ()
    assert series.finding.verdict == "no change seen"
    assert (series.finding.smallest_seen or 0) > 0


def test_what_was_measured_on_another_machine_is_shown_as_not_comparable(tmp_path: Path) -> None:
    store = RunHistory(tmp_path / "a.db")
    store.run({"bot@1": {"b": timed(500.0)}}, machine="other")
    store.times(near(100.0, 20))
    store.close()
    (series,) = course(store.path).series
    assert [point.is_comparable for point in series.points] == [False] + [True] * 20
    assert series.changes == ()


def test_intervals_are_those_of_the_executions(tmp_path: Path) -> None:
    store = RunHistory(tmp_path / "a.db")
    store.run({"bot@1": {"b": Measured({"accuracy": 0.8})}})
    store.run({"bot@2": {"b": Measured({"accuracy": 0.9})}})
    store.close()
    with closing(connect_to_write(store.path)) as connection:
        connection.execute("UPDATE metrics SET low=0.75, high=0.84 WHERE value=0.8")
    (series,) = course(store.path).series
    assert [(one.low, one.high) for one in series.points] == [(0.75, 0.84), (None, None)]


def test_only_the_newest_runs_are_shown(tmp_path: Path) -> None:
    store = a_store(tmp_path / "a.db", ("1", 100.0, MOST_RUNS + 3))
    store.close()
    (series,) = course(store.path).series
    assert len(series.points) == MOST_RUNS
    assert series.earlier == 3


def test_an_accepted_change_is_told_and_no_longer_found(tmp_path: Path) -> None:
    store = a_store(tmp_path / "a.db", ("1", 100.0, 20), ("2", 130.0, 15))
    store.close()
    (series,) = course(store.path).series
    with reading(store.path) as connection:
        changes = acceptable_at(connection, "bot", series.place, series.metric)
        assert acceptable_at(connection, "bot", series.place, "accuracy") == []
    assert [one.since for one in changes] == [series.points[20].at]
    keep_accepted(store.path, changes)
    (series,) = course(store.path).series
    assert series.finding.verdict == "no change seen"
    assert series.accepted is not None
    assert series.accepted.after == pytest.approx(130.0, rel=0.01)


def test_the_worst_agent_stands_first(tmp_path: Path) -> None:
    store = RunHistory(tmp_path / "a.db")
    levels = near(1.0, 25)
    for number, level in enumerate(levels):
        late = number >= 20
        store.run(
            {
                "calm@1": {"b": timed(100 * level)},
                "slow@1": {"b": timed((150 if late else 100) * level)},
                "tired@1": {"b": timed((108 if late else 100) * level)},
            }
        )
    store.run({"fresh@1": {"b": timed(7.0)}})
    store.close()
    with closing(connect_to_read(store.path)) as connection:
        found = standings(connection)
        assert newest_agent(connection) == "fresh"
    assert [(one.agent, one.verdict, one.severity) for one in found] == [
        ("slow", "regression", "critical"),
        ("tired", "regression", "minor"),
        ("calm", "no regression", None),
        ("fresh", "not enough data", None),
    ]
    assert found[0].health == 0.0
    assert found[2].health == 100.0


def test_of_who_was_interrupted_nothing_can_be_judged(tmp_path: Path) -> None:
    store = RunHistory(tmp_path / "a.db")
    store.run({"bot@1": {"b": timed(7.0)}}, status="interrupted")
    store.close()
    with closing(connect_to_read(store.path)) as connection:
        (one,) = standings(connection)
        assert newest_agent(connection) is None
    assert one.verdict == ""
    assert "no complete execution" in one.reason
    with pytest.raises(UsageError, match="no agent 'bod'"):
        course(store.path, "bod")


def test_the_stamp_changes_with_what_judgments_rest_on_and_with_nothing_else(
    tmp_path: Path,
) -> None:
    store = a_store(tmp_path / "a.db", ("1", 100.0, 20), ("2", 130.0, 15))
    with closing(connect_to_read(store.path)) as connection:
        stamps = [stamp_of_history(connection)]
        with closing(connect_to_write(store.path)) as other:
            other.execute("UPDATE runs SET notes='a commit'")
        assert stamp_of_history(connection) == stamps[0]
        store.times([130.0], "2")
        stamps.append(stamp_of_history(connection))
        (series,) = course(store.path).series
        keep_accepted(store.path, acceptable_at(connection, "bot", series.place, series.metric))
        stamps.append(stamp_of_history(connection))
    store.close()
    assert len(set(stamps)) == 3


def test_the_stamp_changes_when_only_other_metrics_are_written(tmp_path: Path) -> None:
    """As `rescore` does with a further scorer, and as a run does that says how its machine was."""
    store = a_store(tmp_path / "a.db", ("1", 100.0, 2))
    with closing(connect_to_read(store.path)) as connection:
        stamps = [stamp_of_history(connection)]
        row = MetricRow(1, "own", 0.5, "share", None, None, 2, None, "higher")
        write_metrics(store.connection, 1, [row])
        stamps.append(stamp_of_history(connection))
        write_metrics(store.connection, 1, [row._replace(value=0.25)])
        stamps.append(stamp_of_history(connection))
        end = RunEnd("complete", None, None, None, "noisy", "2026-01-01T00:00:00.000Z")
        end_run(store.connection, 1, end)
        stamps.append(stamp_of_history(connection))
    store.close()
    assert len(set(stamps)) == 4
