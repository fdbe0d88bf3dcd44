"""Damaged and crafted runs: refused by an import, and no hindrance to reading the others."""

import hashlib
import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.model.errors import StoreError
from agentbench_tui.model.identity import content_hash
from agentbench_tui.store import damage
from agentbench_tui.store.archive import export_run, import_runs
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.run_copy import IMPORTED_IN_PART
from agentbench_tui.verdicts.evidence.stored_documents import stored_soundness

SUITE = """
suite_id: small
benchmarks:
  - benchmark_id: sums
    dataset: {cases: [{input: 1, expected: "1"}, {input: 2, expected: "2"}]}
    scorers: [exact]
    iterations: {warmup: 0, measured: 2}
"""
PARTS = 8
READERS = (
    ("runs", "list"),
    ("runs", "list", "--format", "json"),
    ("leaderboard", "--format", "json"),
    ("compare", "right", "wrong", "--format", "json"),
    ("regressions", "--agent", "right", "--format", "json"),
    ("cost", "--format", "json"),
    ("stats", "summary", "right", "--format", "json"),
)
"""Commands that read every run, or the newest of each agent."""
AFTER_IMPORT = (
    *READERS,
    ("rescore", "latest"),
    ("rescore", "latest", "--trust"),
    ("resume", "latest", "--no-ui", "-q"),
)
BAD: tuple[Any, ...] = (
    "", "{", "[]", "{}", "null", "5", '"x"', "[1]", '{"a": 1}', "\x00\x1b[2J", "../../../etc/x",
    "x" * 500, "2026-13-45", -1, 2**62, 10**12, 1e308, float("inf"), -5.5, b"\xff\xfe", None,
)  # fmt: skip


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of one complete run of two agents."""
    folder = tmp_path_factory.mktemp("exported")
    (folder / "small.yaml").write_text(SUITE)
    (folder / "agents.py").write_text("def right(q): return str(q)\ndef wrong(q): return 'no'\n")
    agents = [f"--agent={name}=python:{folder}/agents.py:{name}" for name in ("right", "wrong")]
    database = ["--db", str(folder / "runs.db")]
    assert _run(["run", str(folder / "small.yaml"), *agents, "--no-ui", "-q", *database]) == 0
    assert _run(["runs", "export", "latest", str(folder / "run.db"), *database]) == 0
    (folder / "run.db.sha256").unlink()
    return folder / "run.db"


@pytest.fixture(autouse=True)
def nothing_excluded() -> Iterator[None]:
    """What one test excludes is no concern of the next, which has other databases."""
    yield
    damage._opened.clear()
    damage._excluded.clear()


def columns_of(path: Path) -> list[tuple[str, str]]:
    """Every column of every table that has rows, also the keys that join them."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type='table' AND name NOT GLOB 'sqlite_*'"
        ).fetchall()
        return [
            (table, row[1])
            for (table,) in tables
            if table != "meta" and connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
            for row in connection.execute(f"PRAGMA table_info({table})")
        ]


def spoilt(path: Path, source: Path, table: str, column: str, value: Any) -> bool:
    """A copy of a file with another value in one column; False where SQLite refuses it."""
    path.write_bytes(source.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute("PRAGMA foreign_keys=OFF")
        (one_row,) = connection.execute(f"SELECT MIN({column}) FROM {table}").fetchone()
        for rows, values in (("1", (value,)), (f"{column} IS ?", (value, one_row))):
            try:  # A unique column takes a value once.
                connection.execute(f"UPDATE {table} SET {column}=? WHERE {rows}", values)
            except (sqlite3.IntegrityError, OverflowError):
                continue
            connection.commit()
            return True
    return False


@pytest.mark.parametrize("part", range(PARTS))
def test_no_value_of_any_column_makes_a_command_fail(
    tmp_path: Path, exported: Path, capfd: pytest.CaptureFixture[str], part: int
) -> None:
    """Each column once with some bad value, a part of the columns in each test."""
    draw = random.Random(part)
    for table, column in columns_of(exported)[part::PARTS]:
        for value in draw.sample(BAD, 1):
            if not spoilt(tmp_path / "bad.db", exported, table, column, value):
                continue
            for words in draw.sample(READERS, 1):
                code = _run([*words, "--db", str(tmp_path / "bad.db")])
                told = capfd.readouterr().err
                assert code != 70, (table, column, value, words, told)
                assert "Traceback" not in told
            fresh = tmp_path / f"{table}-{column}.db"
            code = _run(["runs", "import", str(tmp_path / "bad.db"), "--db", str(fresh)])
            assert code in (0, 2), (table, column, value, capfd.readouterr().err)
            for words in draw.sample(AFTER_IMPORT, 1 + (code == 0)):
                code = _run([*words, "--db", str(fresh)])
                assert code != 70, (table, column, value, words, capfd.readouterr().err)
            for file in tmp_path.glob(f"{fresh.name}*"):
                if file.is_file():
                    file.unlink()


@pytest.mark.parametrize(
    ("table", "column", "value", "told"),
    [
        ("runs", "environment_hash", "x", "runs.environment_hash"),
        ("environments", "hash", "x", "runs.environment_hash"),
        ("agents", "id", "x", "agent_id"),
        ("benchmark_executions", "agent_id", "x", "agent_id"),
        ("benchmark_executions", "suite_hash", "x", "suite_hash"),
        ("benchmark_executions", "benchmark_id", "x", "suite_hash and benchmark_id"),
        ("benchmark_executions", "agent_version", "x", "agent_id and agent_version"),
        ("agent_versions", "version", "x", "agent_id and agent_version"),
        ("benchmark_executions", "dataset_key", 99, "dataset_key"),
        ("cases", "dataset_key", 99, "case_key"),
        ("datasets", "key", 99, "dataset_key"),
        ("datasets", "hash", "x", "datasets.hash"),
        ("cases", "body", '{"id":"c","input":"other"}', "datasets.hash"),
        ("answers", "run_key", 99, "answers.run_key"),
        ("answers", "case_key", 99, "answers.case_key"),
        ("iterations", "run_key", 99, "iterations.run_key"),
        ("runs", "plan", "another run's", "runs.plan"),
        ("iterations", "asking_s", 1e308, "iterations.asking_s"),
        ("benchmark_executions", "answered", 2**63 - 1, "benchmark_executions.answered"),
    ],
)
def test_what_refers_to_nothing_is_refused_by_name(
    tmp_path: Path,
    exported: Path,
    capfd: pytest.CaptureFixture[str],
    table: str,
    column: str,
    value: Any,
    told: str,
) -> None:
    if (table, column) == ("runs", "plan"):
        with closing(sqlite3.connect(exported)) as connection:
            plan = json.loads(connection.execute("SELECT plan FROM runs").fetchone()[0])
        value = json.dumps({**plan, "run_id": "01a22610-af87-78fe-8a42-614fc91b3330"})
    assert spoilt(tmp_path / "bad.db", exported, table, column, value)
    capfd.readouterr()

    assert _run(["runs", "import", str(tmp_path / "bad.db"), "--db", str(tmp_path / "t.db")]) == 2

    (_, line) = capfd.readouterr().err.splitlines()
    assert "not imported: run " in line
    assert told in line


def test_a_chunk_of_samples_of_no_execution_is_refused(tmp_path: Path, exported: Path) -> None:
    path = tmp_path / "bad.db"
    path.write_bytes(exported.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute(
            "INSERT INTO sample_chunks (run_key, execution_key, repeat, worker, rows, samples,"
            " gaps) VALUES (1, 99, 0, 0, 0, x'', x'')"
        )
        connection.commit()
    (line,) = import_runs(tmp_path / "t.db", path).refused
    assert "sample_chunks.execution_key: refers to nothing in the run" in line


def test_an_execution_that_another_run_has_here_is_refused(tmp_path: Path, exported: Path) -> None:
    database, path = tmp_path / "t.db", tmp_path / "twin.db"
    assert import_runs(database, exported).new
    path.write_bytes(exported.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE runs SET id='01a22610-af87-78fe-8a42-614fc91b3330'")
        connection.commit()
    imported = import_runs(database, path)
    assert imported.new == ()
    assert "benchmark_executions.id" in imported.refused[0]
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM runs").fetchone() == (1,)


def test_a_run_that_was_imported_in_part_is_not_scored_again(
    tmp_path: Path, exported: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "t.db"
    assert import_runs(database, exported).new
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE runs SET error=?", (IMPORTED_IN_PART,))
        connection.commit()
    assert _run(["rescore", "latest", "--trust", "--db", str(database)]) == 2
    assert IMPORTED_IN_PART in capfd.readouterr().err


def test_a_schema_that_is_no_text_is_told(
    tmp_path: Path, exported: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    content = exported.read_bytes()
    for old in (b"CREATE TABLE cases", b"CREATE INDEX cases_dataset", b"cases_dataset"):
        path = tmp_path / "bad.db"
        path.write_bytes(content.replace(old, old[:-3] + b"\xff" + old[-2:], 1))
        database = ["--db", str(tmp_path / "t.db")]
        assert _run(["runs", "import", str(path), *database]) == 2
        assert _run(["runs", "list", "--db", str(path)]) in (0, 2)
        assert "a bug in agentbench" not in capfd.readouterr().err


def test_a_damaged_run_is_named_and_the_others_are_read(
    tmp_path: Path, exported: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "two.db"
    assert _run(["runs", "import", str(exported), "--db", str(database)]) == 0
    (tmp_path / "small.yaml").write_text(SUITE)
    (tmp_path / "agents.py").write_text("def third(q): return str(q)\n")
    agent = f"--agent=third=python:{tmp_path}/agents.py:third"
    run = ["run", str(tmp_path / "small.yaml"), agent, "--no-ui", "-q", "--db", str(database)]
    assert _run(run) == 0
    with closing(sqlite3.connect(database)) as connection:
        (first,) = connection.execute("SELECT id FROM runs ORDER BY key LIMIT 1").fetchone()
        connection.execute("UPDATE runs SET tags='{' WHERE id=?", (first,))
        connection.commit()
    capfd.readouterr()

    assert _run(["runs", "list", "--format", "json", "--db", str(database)]) == 0

    out, err = capfd.readouterr()
    assert len(json.loads(out)["runs"]) == 1
    assert f"run {first} is damaged and excluded: runs.tags" in err


def test_a_run_whose_gate_meets_a_damaged_run_is_measured_once(
    tmp_path: Path, exported: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "runs.db"
    assert _run(["runs", "import", str(exported), "--db", str(database)]) == 0
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE benchmark_executions SET parameters='{'")
        connection.commit()
    (tmp_path / "small.yaml").write_text(SUITE)
    (tmp_path / "agents.py").write_text("def right(q): return str(q)\n")
    agent = f"--agent=right=python:{tmp_path}/agents.py:right"
    capfd.readouterr()

    run = ["run", str(tmp_path / "small.yaml"), agent, "--no-ui", "-q", "--db", str(database)]
    assert _run([*run, "--fail-on", "no-regression"]) == 3

    err = capfd.readouterr().err
    assert "is damaged and excluded: benchmark_executions.parameters" in err
    assert "kept and were not repeated" in err
    with closing(sqlite3.connect(database)) as connection:
        statuses = connection.execute("SELECT status FROM runs ORDER BY key").fetchall()
    assert statuses == [("complete",), ("complete",)]


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("runs", "id", "../../precious"),
        ("runs", "tags", "{}"),
        ("runs", "plan", "[]"),
        ("benchmark_executions", "agent_id", "../a"),
        ("benchmark_executions", "benchmark_id", "a/b"),
        ("answers", "scores", "5"),
        ("answers", "credit", 7.0),
        ("cases", "body", "{}"),
    ],
)
def test_an_import_refuses_what_does_not_hold_and_touches_no_other_file(
    tmp_path: Path, exported: Path, table: str, column: str, value: Any
) -> None:
    database = tmp_path / "inner" / "inner" / "runs.db"
    database.parent.mkdir(parents=True)
    precious = tmp_path / "precious"
    precious.write_text("keep")
    with closing(sqlite3.connect(exported)) as connection:
        (run_id,) = connection.execute("SELECT id FROM runs").fetchone()
    assert spoilt(tmp_path / "bad.db", exported, table, column, value)

    imported = import_runs(database, tmp_path / "bad.db", stored_soundness())

    assert imported.new == ()
    (line,) = imported.refused
    assert f"{table}.{column}" in line
    assert precious.read_text() == "keep"
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM runs").fetchone() == (0,)
    assert run_id is not None


def test_an_id_with_line_breaks_is_refused_in_one_line(tmp_path: Path, exported: Path) -> None:
    assert spoilt(tmp_path / "bad.db", exported, "runs", "id", "a\nagentbench: all is well\n")
    (line,) = import_runs(tmp_path / "runs.db", tmp_path / "bad.db", stored_soundness()).refused
    assert line.startswith("run a")
    assert line.endswith(": runs.id: is no UUID")
    assert "\n" not in line


def test_a_log_that_the_checksum_does_not_cover_is_refused(tmp_path: Path, exported: Path) -> None:
    """A write-ahead log beside an exported file changes what is read from it."""
    crafted = tmp_path / "run.db"
    with closing(sqlite3.connect(crafted, isolation_level=None)) as connection:
        with closing(sqlite3.connect(exported)) as source:
            source.backup(connection)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        digest = hashlib.sha256(crafted.read_bytes()).hexdigest()
        connection.execute("UPDATE runs SET notes='changed since'")
        log = (tmp_path / "run.db-wal").read_bytes()
        content = crafted.read_bytes()
    (tmp_path / "run.db").write_bytes(content)
    (tmp_path / "run.db-wal").write_bytes(log)
    (tmp_path / "run.db.sha256").write_text(f"{digest}  run.db\n")

    with pytest.raises(StoreError, match=r"run.db-wal: changes run.db, and run.db.sha256 does not"):
        import_runs(tmp_path / "runs.db", crafted, stored_soundness())
    (tmp_path / "run.db-wal").write_bytes(b"")  # as reading leaves one
    assert len(import_runs(tmp_path / "runs.db", crafted, stored_soundness()).new) == 1
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        assert connection.execute("SELECT notes FROM runs").fetchone() == ("",)


AS_EXPERIMENT = (
    f"UPDATE datasets SET source='experiment sums', hash='{content_hash(['experiment', 'sums'])}'"
)


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        (["UPDATE datasets SET cases=7"], "datasets.cases: is not the number"),
        (["UPDATE cases SET case_id=case_id || 'x'"], "datasets.hash: is not that of its cases"),
        ([AS_EXPERIMENT], "datasets.hash: is not that of its cases"),
        (
            [AS_EXPERIMENT, "DELETE FROM answers", "DELETE FROM cases"],
            "datasets.hash: is not that of its cases",
        ),
    ],
)
def test_a_dataset_that_is_not_the_one_of_its_hash_is_refused(
    tmp_path: Path, exported: Path, statements: list[str], problem: str
) -> None:
    """Runs that are made here later would take it for their own."""
    path = tmp_path / "crafted.db"
    path.write_bytes(exported.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()

    imported = import_runs(tmp_path / "runs.db", path, stored_soundness())

    assert imported.new == ()
    assert problem in imported.refused[0]


def test_what_an_import_says_of_a_suite_does_not_outlast_a_run_of_it(
    tmp_path: Path, exported: Path
) -> None:
    path, database = tmp_path / "crafted.db", tmp_path / "runs.db"
    path.write_bytes(exported.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE benchmarks SET kind='load', name='forged'")
        connection.execute("UPDATE benchmark_suites SET category='safety', name='forged'")
        connection.commit()
    assert len(import_runs(database, path, stored_soundness()).new) == 1

    suite, agent = exported.with_name("small.yaml"), exported.with_name("agents.py")
    command = ["run", str(suite), f"--agent=right=python:{agent}:right", "--no-ui", "-q"]
    assert _run([*command, "--db", str(database)]) == 0

    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT kind, name FROM benchmarks").fetchall() == [
            ("task", "sums")
        ]
        rows = connection.execute("SELECT category, name FROM benchmark_suites").fetchall()
        assert [name for _, name in rows] == ["small"]
        assert rows[0][0] != "safety"


def test_a_plan_whose_suite_gives_only_what_it_must_is_resumed(
    tmp_path: Path, exported: Path
) -> None:
    path, database = tmp_path / "crafted.db", tmp_path / "runs.db"
    path.write_bytes(exported.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        (text,) = connection.execute("SELECT plan FROM runs").fetchone()
        plan = json.loads(text)
        document = plan["suites"][0]["document"]
        for name in ("gates", "prices", "output_dir", "parallelism"):
            del document[name]
        connection.execute("UPDATE runs SET plan=?, status='interrupted'", (json.dumps(plan),))
        connection.execute("UPDATE benchmark_executions SET status='interrupted'")
        connection.commit()
    assert len(import_runs(database, path, stored_soundness()).new) == 1

    assert _run(["resume", "latest", "--trust", "--no-ui", "-q", "--db", str(database)]) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM answers; END",
        "CREATE VIEW v AS SELECT load_extension('x')",
        "CREATE TABLE more (x, y GENERATED ALWAYS AS (1))",
        "ALTER TABLE runs ADD COLUMN more TEXT",
    ],
)
def test_a_file_with_a_schema_of_its_own_is_refused(
    tmp_path: Path, exported: Path, statement: str
) -> None:
    path = tmp_path / "crafted.db"
    path.write_bytes(exported.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()

    with pytest.raises(StoreError, match="is not one of agentbench's"):
        import_runs(tmp_path / "runs.db", path)


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("DROP TABLE baselines", "index 'baselines_target'"),
        ("DROP VIEW benchmark_leaderboard", "view 'benchmark_leaderboard'"),
    ],
)
def test_a_file_that_lacks_a_part_of_the_schema_is_refused(
    tmp_path: Path, exported: Path, statement: str, part: str
) -> None:
    path = tmp_path / "crafted.db"
    path.write_bytes(exported.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()

    with pytest.raises(StoreError, match=f"its {part} is missing"):
        import_runs(tmp_path / "runs.db", path)


def test_every_run_that_is_exported_is_sound(tmp_path: Path, exported: Path) -> None:
    with closing(sqlite3.connect(exported)) as connection:
        assert stored_soundness().damaged(connection) == {}
    create_or_migrate(tmp_path / "again.db")
    imported = import_runs(tmp_path / "again.db", exported, stored_soundness())
    export_run(tmp_path / "again.db", imported.new[0], tmp_path / "out.db")
    assert import_runs(tmp_path / "third.db", tmp_path / "out.db", stored_soundness()).new
