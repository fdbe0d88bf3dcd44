"""The list of runs tells how far those are that go on."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentbench_tui.presentation.runs import answers_shown
from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.queries.progress import progress_of_run
from agentbench_tui.store.queries.runs import list_runs
from agentbench_tui.store.transaction import write_once
from agentbench_tui.verdicts.selection.listings import runs_document

_RUN = (
    "INSERT INTO runs (id, workspace_id, status, suite_ids, plan, seed, repeats, tags, notes,"
    " tool_version, started_at) VALUES (?,'w',?,'[]','{}',1,1,'[]','','0',?)"
)
_EXECUTION = (
    "INSERT INTO benchmark_executions (id, run_key, ordinal, suite_hash, suite_id, benchmark_id,"
    " agent_id, agent_version, workspace_id, seed, status, created_at, observed, answered, correct)"
    " VALUES (?,?,0,'h','s','b','a','1','w',1,?,'',?,?,?)"
)
_ANSWER = (
    "INSERT INTO answers (run_key, execution_key, case_key, repeat, iteration, attempt,"
    " failure_kind, sent_ms, waiting_ms, api_calls, correct) VALUES (?,?,?,0,0,0,?,0,0,1,?)"
)
CASES = 10


def fill(connection: sqlite3.Connection) -> None:
    """`over`, complete, and `on`, which goes on: an execution with figures (8 observed), one that
    is being asked again and has old figures, and one not begun."""
    connection.execute(
        "INSERT INTO benchmark_suites VALUES ('h','s','S','speed','1','','{}',NULL,'')"
    )
    connection.execute("INSERT INTO agents VALUES ('a','a','')")
    connection.execute("INSERT INTO datasets (hash, source, cases) VALUES ('d','',10)")
    for number in range(CASES):
        connection.execute(
            "INSERT INTO cases (dataset_key, case_id, body) VALUES (1,?,'{}')", (str(number),)
        )
    connection.execute(_RUN, ("over", "complete", "1"))
    connection.execute(_RUN, ("on", "running", "2"))
    connection.execute(_EXECUTION, ("o", 1, "complete", 5, 4, 3))
    connection.execute(_EXECUTION, ("e1", 2, "complete", 8, 7, 6))
    connection.execute(_EXECUTION, ("e2", 2, "running", 2, 2, 2))
    connection.execute(_EXECUTION, ("e3", 2, "planned", 0, 0, 0))
    for case in range(CASES):
        kind, correct = (None, case % 2) if case else ("timeout", None)
        connection.execute(_ANSWER, (2, 3, case + 1, kind, correct))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    create_or_migrate(path)
    write_once(path, [fill])
    return path


def test_what_was_committed_of_a_run_that_goes_on_is_counted(database: Path) -> None:
    with closing(connect_to_read(database)) as connection:
        on, over = list_runs(connection)
    assert [on[name] for name in ("observed", "answered", "correct")] == [8 + 10, 7 + 9, 6 + 5]
    assert [over[name] for name in ("observed", "answered", "correct")] == [5, 4, 3]
    assert (on["executions"], on["complete"]) == (3, 1)
    assert on.keys() == over.keys()


def test_how_much_is_planned_is_told_of_what_has_an_end(database: Path) -> None:
    """What is planned of stress is what its windows have asked that are over."""

    def plan(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE benchmark_executions SET planned=10, benchmark_id=id")
        for name, kind in (("e1", "task"), ("e2", "task"), ("e3", "stress")):
            connection.execute("INSERT INTO benchmarks VALUES ('h',?,'','',?,'')", (name, kind))

    write_once(database, [plan])
    with closing(connect_to_read(database)) as connection:
        progress = progress_of_run(connection, "on")
        assert progress is not None
        assert progress["planned"] == 20
        assert [run["planned"] for run in list_runs(connection)] == [None, 10]
    write_once(database, [lambda c: c.execute("UPDATE benchmarks SET kind='task'")])
    with closing(connect_to_read(database)) as connection:
        assert [run["planned"] for run in list_runs(connection)] == [30, 10]


def test_a_run_that_has_just_begun_counts_nothing(database: Path) -> None:
    write_once(database, [lambda c: c.execute(_RUN, ("new", "running", "3"))])
    with closing(connect_to_read(database)) as connection:
        new = list_runs(connection)[0]
    assert [new[name] for name in ("observed", "answered", "correct")] == [0, 0, 0]


@pytest.mark.parametrize(
    ("kinds", "judged"), [(["load"], False), (["load", "task"], True), (["task"], True)]
)
def test_answers_of_loads_are_not_judged(database: Path, kinds: list[str], judged: bool) -> None:
    plan = json.dumps({"groups": [{"benchmark": {"kind": kind}} for kind in kinds]})
    write_once(database, [lambda c: c.execute("UPDATE runs SET plan=?", (plan,))])
    with closing(connect_to_read(database)) as connection:
        assert [run["judged"] for run in list_runs(connection)] == [judged] * 2


def test_episodes_of_a_game_are_right_or_wrong(database: Path) -> None:
    plan = json.dumps({"groups": [{"benchmark": {"kind": "task", "game": "market"}}]})
    write_once(database, [lambda c: c.execute("UPDATE runs SET plan=?", (plan,))])
    with closing(connect_to_read(database)) as connection:
        document = runs_document(connection, database, 9)
    assert [answers_shown(run) for run in document.runs] == ["11/16/18", "3/4/5"]


def test_what_a_killed_run_committed_is_counted(database: Path) -> None:
    """Once it is marked as interrupted, as the next run does."""
    run = "UPDATE runs SET status='interrupted' WHERE id='on'"
    executions = (
        "UPDATE benchmark_executions SET status='interrupted', observed=0, answered=0, correct=0"
        " WHERE id IN ('e2', 'e3')"
    )
    write_once(database, [lambda c: c.execute(run), lambda c: c.execute(executions)])
    with closing(connect_to_read(database)) as connection:
        on, _ = list_runs(connection)
    assert [on[name] for name in ("observed", "answered", "correct")] == [8 + 10, 7 + 9, 6 + 5]


def test_a_total_is_unknown_while_one_price_is(database: Path) -> None:
    """Two executions of `on` were answered, of which one has no cost; code has none to know."""
    kinds = "INSERT INTO benchmarks VALUES ('h', 'code', '', '', 'experiment', '')"
    priced = "UPDATE benchmark_executions SET cost_usd=0.5 WHERE id IN ('o', 'e1')"
    code = "UPDATE benchmark_executions SET benchmark_id='code' WHERE id='e2'"

    def totals() -> list[tuple[float | None, int]]:
        with closing(connect_to_read(database)) as connection:
            return [(run["cost_usd"], run["unpriced"]) for run in list_runs(connection)]

    write_once(database, [lambda c: c.execute(priced)])
    assert totals() == [(None, 1), (0.5, 0)]
    write_once(database, [lambda c: c.execute(kinds), lambda c: c.execute(code)])
    assert totals() == [(0.5, 0), (0.5, 0)]
