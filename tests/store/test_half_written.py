"""What a killed process left half is never taken for whole, and is taken away or mended."""

import hashlib
import multiprocessing
import os
import signal
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store import removal, run_copy
from agentbench_tui.store.archive import export_run, import_runs
from agentbench_tui.store.database import connect_to_read, connect_to_write, create_or_migrate
from agentbench_tui.store.locking import Lease
from agentbench_tui.store.queries.runs import list_agents
from agentbench_tui.store.removal import delete_run, remove_unfinished, unfinished_hash
from agentbench_tui.store.run_copy import IMPORTED_IN_PART
from agentbench_tui.store.transaction import write_once

NOW = "2026-01-31T12:00:00.000Z"
CASES = 7
RUN = "01a22610-af87-78fe-8a42-614fc91b3330"
EXECUTION = "01a22610-af87-78fe-8a42-614fc91b3331"
BODIES = [f'{{"id":"c{n}","input":"q"}}' for n in range(CASES)]
DATASET = hashlib.sha256("".join(f"{body}\n" for body in BODIES).encode()).hexdigest()
HALF = f"SELECT 1 FROM datasets WHERE hash='{DATASET}' AND cases > (SELECT COUNT(*) FROM cases)"
"""Finds the dataset where some of its cases are missing."""


def insert(table: str, **values: Any) -> tuple[str, tuple[Any, ...]]:
    names = ", ".join(values)
    return (
        f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(values))})",
        tuple(values.values()),
    )


def fill(path: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    create_or_migrate(path)
    write_once(path, [lambda c: [c.execute(*statement) for statement in statements]])


def rows(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(connect_to_read(path)) as connection:
        return [tuple(row) for row in connection.execute(statement).fetchall()]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """The file of a complete run `r1`: one execution, seven cases, each answered."""
    path = tmp_path / "source.db"
    suite = {"hash": "s", "suite_id": "s", "name": "s", "category": "accuracy", "version": "1"}
    suite |= {"description": "", "document": "{}", "source": ""}
    run = {"id": RUN, "workspace_id": "w", "status": "complete", "suite_ids": "[]", "plan": "{}"}
    execution = {"id": EXECUTION, "run_key": 1, "ordinal": 0, "suite_hash": "s", "suite_id": "s"}
    execution |= {"benchmark_id": "b", "agent_id": "a", "agent_version": "1", "workspace_id": "w"}
    answer = {"run_key": 1, "execution_key": 1, "repeat": 0, "iteration": 0, "attempt": 0}
    fill(
        path,
        insert("benchmark_suites", **suite, created_at=NOW),
        insert(
            "benchmarks", suite_hash="s", benchmark_id="b", name="b", description="", kind="task",
            test_type="synthetic",
        ),
        insert("agents", id="a", name="a", created_at=NOW),
        insert(
            "agent_versions", agent_id="a", version="1", created_at=NOW,
            specification='{"id":"a","version":"1","target":"mock"}',
        ),
        insert("datasets", hash=DATASET, source="x", cases=CASES),
        insert(
            "runs", **run, seed=1, repeats=1, tags="[]", notes="", tool_version="0", started_at=NOW
        ),
        insert(
            "benchmark_executions", **execution, seed=1, dataset_key=1, status="complete",
            created_at=NOW,
        ),
        *(
            insert("cases", dataset_key=1, case_id=f"c{n}", body=BODIES[n])
            for n in range(CASES)
        ),
        *(
            insert("answers", **answer, case_key=n + 1, sent_ms=0, waiting_ms=0, api_calls=1)
            for n in range(CASES)
        ),
    )  # fmt: skip
    export_run(path, RUN, tmp_path / "r1.db")
    return tmp_path / "r1.db"


def import_and_die(database: Path, exported: Path, transactions: int) -> None:
    """Import in chunks of two rows, and be killed after so many transactions."""
    removal.CHUNK = 2
    done = 0
    original = run_copy.in_transaction

    def counted(*arguments: Any) -> Any:
        nonlocal done
        if done == transactions:
            os.kill(os.getpid(), signal.SIGKILL)
        done += 1
        return original(*arguments)

    run_copy.in_transaction = counted
    import_runs(database, exported)


def killed_import(database: Path, exported: Path, transactions: int) -> int | None:
    """The exit code: 0 when it had ended before."""
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=import_and_die, args=(database, exported, transactions))
    process.start()
    process.join(30)
    return process.exitcode


def whole(database: Path) -> None:
    """The run is there, once, with everything."""
    assert rows(database, "SELECT id, status, error FROM runs") == [(RUN, "complete", None)]
    assert rows(database, "SELECT status FROM benchmark_executions") == [("complete",)]
    assert rows(database, "SELECT hash, cases FROM datasets") == [(DATASET, CASES)]
    assert rows(database, "SELECT COUNT(*) FROM cases") == [(CASES,)]
    joined = "SELECT COUNT(*) FROM answers a JOIN cases c ON c.key=a.case_key WHERE a.run_key=%d"
    (key,) = rows(database, "SELECT key FROM runs")
    assert rows(database, joined % key) == [(CASES,)]
    assert rows(database, "SELECT COUNT(*) FROM answers") == [(CASES,)]


@pytest.mark.parametrize("transactions", [6, 8, 11, 14, 16])
def test_an_import_killed_anywhere_is_no_result_and_is_mended_by_the_next(
    tmp_path: Path, exported: Path, transactions: int
) -> None:
    database = tmp_path / "store.db"
    assert killed_import(database, exported, transactions) == -signal.SIGKILL
    assert rows(database, "SELECT 1 FROM runs WHERE error IS NULL") == []
    assert rows(database, "SELECT 1 FROM latest_executions") == []
    with closing(connect_to_read(database)) as connection:
        assert [one for one in list_agents(connection) if one["last_complete_at"]] == []
    assert rows(database, HALF) == []
    assert import_runs(database, exported).new == (RUN,)
    whole(database)
    assert import_runs(database, exported).new == ()


def test_what_was_imported_in_part_says_so(tmp_path: Path, exported: Path) -> None:
    database = tmp_path / "store.db"
    assert killed_import(database, exported, 16) == -signal.SIGKILL
    assert rows(database, "SELECT id, error FROM runs") == [(RUN, IMPORTED_IN_PART)]


ENDINGS = ("", "-wal", "-shm", "-journal", ".lock", ".leases", ".leases/x")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("is_link", [False, True])
def test_no_export_replaces_a_file_of_the_database(
    tmp_path: Path, exported: Path, ending: str, is_link: bool
) -> None:
    database = tmp_path / "store.db"
    import_runs(database, exported)
    given = database
    if is_link:
        given = tmp_path / "link.db"
        given.symlink_to(database)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    for target in (f"{database}{ending}", f"{tmp_path}/../{tmp_path.name}/store.db{ending}"):
        with pytest.raises(UsageError, match="is a file of the database itself"):
            export_run(given, RUN, Path(target), force=True)
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    whole(database)


def test_no_export_replaces_a_database_that_is_called_like_its_hash(
    tmp_path: Path, exported: Path
) -> None:
    database = tmp_path / "x.db.sha256"
    import_runs(database, exported)
    with pytest.raises(UsageError, match="is a file of the database itself"):
        export_run(database, RUN, tmp_path / "x.db", force=True)
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize("name", ["x.db", "x.db.sha256"])
def test_an_export_replaces_nothing_unasked_and_follows_no_link(
    tmp_path: Path, exported: Path, name: str
) -> None:
    database, kept = tmp_path / "store.db", tmp_path / "kept"
    import_runs(database, exported)
    target, in_the_way = tmp_path / "x.db", tmp_path / name
    kept.write_text("kept")
    for make in (lambda: in_the_way.write_text("kept"), lambda: in_the_way.symlink_to(kept)):
        make()
        with pytest.raises(UsageError, match=f"{name}: exists; give --force to replace it"):
            export_run(database, RUN, target)
        assert in_the_way.read_text() == "kept"
        digest = export_run(database, RUN, target, force=True)
        assert not in_the_way.is_symlink()
        assert (tmp_path / "x.db.sha256").read_text() == f"{digest}  x.db\n"
        assert kept.read_text() == "kept"
        target.unlink()
        (tmp_path / "x.db.sha256").unlink()


@pytest.mark.parametrize(
    ("make", "what"), [(Path.mkdir, "a folder"), (os.mkfifo, "not a regular file")]
)
@pytest.mark.parametrize("name", ["x.db", "x.db.sha256"])
def test_an_export_looks_at_both_files_before_it_writes(
    tmp_path: Path, exported: Path, name: str, make: Any, what: str
) -> None:
    database = tmp_path / "store.db"
    import_runs(database, exported)
    make(tmp_path / name)
    with pytest.raises(UsageError, match=f"{name}: is {what}; export to another file"):
        export_run(database, RUN, tmp_path / "x.db", force=True)
    assert not (tmp_path / "x.db").is_file()


def test_a_run_that_is_being_written_is_left_alone(tmp_path: Path, exported: Path) -> None:
    database = tmp_path / "store.db"
    create_or_migrate(database)
    lease = Lease.take(database, RUN)
    assert lease is not None
    assert import_runs(database, exported).new == ()
    lease.release()
    assert import_runs(database, exported).new == (RUN,)
    whole(database)


def test_datasets_are_removed_when_their_writer_is_gone(tmp_path: Path) -> None:
    database = tmp_path / "store.db"
    datasets = [unfinished_hash("alive", "d1"), unfinished_hash("gone", "d1"), "d2"]
    fill(
        database,
        *(insert("datasets", hash=name, source="x", cases=0) for name in datasets),
        *(insert("cases", dataset_key=n, case_id="c", body="{}") for n in (1, 2, 3)),
    )
    lease = Lease.take(database, "alive")
    assert lease is not None
    remove_unfinished(database)
    assert rows(database, "SELECT hash FROM datasets ORDER BY key") == [(datasets[0],), ("d2",)]
    assert rows(database, "SELECT dataset_key FROM cases") == [(1,), (3,)]
    lease.release()


def test_deleting_a_run_takes_leftovers_along(tmp_path: Path, exported: Path) -> None:
    database = tmp_path / "store.db"
    import_runs(database, exported)
    fill(database, insert("datasets", hash=unfinished_hash("gone", "x"), source="x", cases=0))
    delete_run(database, RUN)
    for table in ("runs", "datasets", "cases", "answers"):
        assert rows(database, f"SELECT COUNT(*) FROM {table}") == [(0,)]


class Killed(Exception):
    pass


def test_a_delete_killed_anywhere_leaves_no_dataset_without_its_cases(
    tmp_path: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "store.db"
    original = removal.in_transaction
    monkeypatch.setattr(removal, "CHUNK", 2)
    left = 0

    def until(*arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return original(*arguments)

    monkeypatch.setattr(removal, "in_transaction", until)
    for transactions in range(0, 60, 3):
        left = 1_000
        if not import_runs(database, exported).new:
            delete_run(database, RUN)
            import_runs(database, exported)
        left = transactions
        try:
            delete_run(database, RUN)
        except Killed:
            half = HALF
            assert rows(database, half) == []
            listed = rows(database, "SELECT COUNT(*) FROM runs") == [(1,)]
            executions = "SELECT COUNT(*) FROM benchmark_executions"
            assert rows(database, executions) == [(1 if listed else 0,)]
            if listed:
                assert rows(database, "SELECT COUNT(*) FROM answers") == [(CASES,)]
            else:
                left = 1_000
                remove_unfinished(database)
                assert rows(database, "SELECT COUNT(*) FROM answers") == [(0,)]
                assert rows(database, "SELECT key FROM meta WHERE key GLOB 'deleted:*'") == []
        else:
            break
    assert transactions > 20
    for table in ("runs", "benchmark_executions", "benchmark_suites", "datasets", "cases"):
        assert rows(database, f"SELECT COUNT(*) FROM {table}") == [(0,)]


def test_what_is_unused_stays_while_another_run_may_be_about_to_use_it(
    tmp_path: Path, exported: Path
) -> None:
    database = tmp_path / "store.db"
    import_runs(database, exported)
    lease = Lease.take(database, "other")
    assert lease is not None
    delete_run(database, RUN)
    assert rows(database, "SELECT hash FROM datasets") == [(DATASET,)]
    assert rows(database, "SELECT hash FROM benchmark_suites") == [("s",)]
    lease.release()
    delete_run(database, RUN)
    assert rows(database, "SELECT hash FROM datasets") == []
    assert rows(database, "SELECT hash FROM benchmark_suites") == []


def test_no_run_looks_for_its_cases_between_the_look_at_leases_and_their_end(
    tmp_path: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "store.db"
    import_runs(database, exported)
    original, refused = removal._others_write, []

    def others_write(path: Path, run_id: str) -> bool:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN IMMEDIATE")
            refused.append(run_id)
        return original(path, run_id)

    monkeypatch.setattr(removal, "_others_write", others_write)
    delete_run(database, RUN)
    assert refused == [RUN]


def test_deleting_a_run_costs_no_more_in_a_store_of_many_answers(
    tmp_path: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0

    def counted(path: Path) -> sqlite3.Connection:
        def step() -> int:
            nonlocal steps
            steps += 1
            return 0

        connection = connect_to_write(path)
        connection.set_progress_handler(step, 100)
        return connection

    monkeypatch.setattr(removal, "connect_to_write", counted)
    taken = []
    for others in (1, 300):
        database = tmp_path / f"store-{others}.db"
        import_runs(database, exported)
        rename = "UPDATE runs SET id='other'"
        names = "run_key, execution_key, case_key, repeat, iteration, attempt, sent_ms, waiting_ms"
        more = (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?)"
            f" INSERT INTO answers ({names}, api_calls) SELECT 1, 1, key, 0, i, 0, 0, 0, 1"
            " FROM cases, n"
        )
        turns = (
            "INSERT INTO messages (run_key, execution_key, case_key, repeat, iteration, position,"
            " role, content) SELECT 1, 1, case_key, 0, iteration, 0, 'user', '' FROM answers"
        )
        fill(database, (rename, ()), ("UPDATE benchmark_executions SET id='e0'", ()))
        fill(database, (more, (others,)), (turns, ()))
        import_runs(database, exported)
        steps = 0
        delete_run(database, RUN)
        taken.append(steps)
    assert rows(database, "SELECT COUNT(*) FROM answers") == [(CASES * 301,)]
    assert taken[1] < 2 * taken[0]


def test_keys_of_other_runs_are_not_touched_by_a_repair(tmp_path: Path, exported: Path) -> None:
    database = tmp_path / "store.db"
    import_runs(database, exported)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE runs SET id='other'")
        connection.execute("UPDATE benchmark_executions SET id='e0'")
    assert killed_import(database, exported, 6) == -signal.SIGKILL
    assert import_runs(database, exported).new == (RUN,)
    counts = "SELECT id, (SELECT COUNT(*) FROM answers WHERE run_key=key) FROM runs ORDER BY key"
    assert rows(database, counts) == [("other", CASES), (RUN, CASES)]


def test_a_run_need_not_fit_into_memory(
    tmp_path: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    megabyte = 1 << 20
    with closing(connect_to_write(exported)) as connection:
        connection.execute("UPDATE answers SET answer=?", ('{"text": "' + "z" * megabyte + '"}',))
    exported.with_name(f"{exported.name}.sha256").unlink()  # of the answers as they were
    monkeypatch.setattr(removal, "CHUNK", 1)
    tracemalloc.start()
    try:
        import_runs(tmp_path / "other.db", exported)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * megabyte < CASES * megabyte


def test_a_file_may_have_a_name_that_is_no_text(tmp_path: Path, exported: Path) -> None:
    import_runs(tmp_path / "other.db", exported)
    target = tmp_path / os.fsdecode(b"r\xff.db")
    digest = export_run(tmp_path / "other.db", RUN, target)
    told = target.with_name(f"{target.name}.sha256").read_bytes()
    assert told == digest.encode() + b"  r\xff.db\n"
    import_runs(tmp_path / "third.db", target)
