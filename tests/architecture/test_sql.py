"""All SQL is in `store/`; the rest of the package calls named functions."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "agentbench_tui"

SQL = re.compile(
    r"""^\s*(
        SELECT | INSERT\s+(OR\s+\w+\s+)?INTO | REPLACE\s+INTO | UPDATE\s+\S+\s+SET | DELETE\s+FROM
        | WITH\s+(RECURSIVE\s+)?\w+\s*(\([^)]*\))?\s*AS
        | (CREATE|DROP|ALTER)\s+(TEMP\s+|TEMPORARY\s+|UNIQUE\s+)*(TABLE|INDEX|VIEW|TRIGGER)
        | PRAGMA | BEGIN | COMMIT | ROLLBACK | SAVEPOINT | RELEASE | VACUUM | ATTACH | DETACH
        | FROM | WHERE | (LEFT\s+|CROSS\s+|INNER\s+)?JOIN | (ORDER|GROUP)\s+BY | HAVING | UNION
        | (NOT\s+)?EXISTS | SET | VALUES | AND | OR | LIMIT
    )\s
    | ^\s*(BEGIN|COMMIT|ROLLBACK|VACUUM)\b
    | \bFROM\s+[\w{}.]+\s+(\w+\s+)?(WHERE|JOIN|LEFT|CROSS|ORDER|GROUP|LIMIT|USING)\b
    """,
    re.VERBOSE,
)
"""A statement, or a piece that is put into one. Keywords in capitals only, as we write them."""
MENTIONS = re.compile(
    r"\b(SELECT|INSERT|REPLACE|UPDATE|DELETE|WITH|CREATE|DROP|ALTER|PRAGMA|BEGIN|COMMIT|ROLLBACK"
    r"|SAVEPOINT|RELEASE|VACUUM|ATTACH|DETACH|FROM|WHERE|JOIN|BY|HAVING|UNION|EXISTS|SET|VALUES"
    r"|AND|OR|LIMIT)\b"
)
"""Without one of these words, a module holds no SQL."""

RUN_SQL = {"execute", "executemany", "executescript", "execute_fetchall"}
"""Methods of a connection that run a statement."""

MEASURE_SQLITE = {
    "experiments/farm/journal.py": "an experiment on how SQLite keeps a world, in its own file",
    "experiments/self/parts.py": "an experiment on our writer, with a table of its own",
    "experiments/stores/database_profiler.py": "an experiment on SQLite, in its own file",
    "experiments/stores/pragma_profile.py": "an experiment on SQLite's settings, in its own file",
}
"""Modules that may hold SQL: why. None of it is about a table of the store."""
MEASURE_REDIS = {"experiments/stores/redis_client.py", "experiments/stores/redis_memory.py"}
"""What they execute are commands of Redis."""


def sql_of(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every text of a module that is SQL, docstrings aside."""
    if not MENTIONS.search(source):  # most modules, and parsing takes long
        return
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    pieces = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if id(node) in prose | pieces:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (p.value if isinstance(p, ast.Constant) else "x" for p in node.values)
            text = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if SQL.search(text):
            yield node.lineno, text


@pytest.mark.parametrize(
    "source",
    [
        "c.execute('SELECT key FROM runs WHERE id=?', (run,))",
        "c.execute(f'DELETE FROM {table}')",
        "writer.apply(lambda c: c.execute('UPDATE runs SET status=? WHERE key=?', row))",
        "QUERY = '\\n  WITH newest AS (SELECT 1) SELECT * FROM newest'",
        "c.execute(QUERY + ' ORDER BY seq')",
        "c.execute('INSERT OR IGNORE INTO agents VALUES (?)', row)",
        "c.execute('PRAGMA data_version')",
    ],
)
def test_a_statement_is_seen(source: str) -> None:
    assert [*sql_of(source)]


@pytest.mark.parametrize(
    "source",
    [
        '"""Select the newest run, from all of them."""',
        "print('select an agent from the list')",
        "help = 'FROM..TO/TIME, such as 10..100/30s'",
        "help = 'Update the baseline, and set its name'",
        "labels = ['AND', 'OR', 'LIMIT', 'SET']",
    ],
)
def test_prose_is_no_statement(source: str) -> None:
    assert [*sql_of(source)] == []


def run_by(source: str) -> Iterator[int]:
    """Lines on which a module runs a statement, by whatever connection."""
    if not any(name in source for name in RUN_SQL):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in RUN_SQL:
            yield node.lineno


def outside_the_store() -> dict[str, str]:
    """Path in the package → source of each module that is not of `store/`."""
    paths = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
    return {name: path.read_text() for name, path in paths.items() if not name.startswith("store/")}


def test_sql_is_in_the_store_alone() -> None:
    found = {
        name: lines
        for name, source in outside_the_store().items()
        if (lines := [line for line, _ in sql_of(source)])
    }
    assert {name: lines for name, lines in found.items() if name not in MEASURE_SQLITE} == {}, (
        "name the statement in store/queries or store/writes, and call that"
    )
    assert MEASURE_SQLITE.keys() - found.keys() == set(), "these hold none any more"


def test_statements_are_run_by_the_store_alone() -> None:
    """Also those that were put together where no text of a statement is seen."""
    found = {
        name: lines
        for name, source in outside_the_store().items()
        if name not in MEASURE_SQLITE.keys() | MEASURE_REDIS and (lines := [*run_by(source)])
    }
    assert found == {}


def test_a_statement_that_is_run_is_seen() -> None:
    assert [*run_by("a = 1\nrows = connection.execute(statement)")] == [2]
    assert [*run_by("asyncio.run(execute(plan))")] == []


def test_queries_only_read() -> None:
    writes = re.compile(r"^\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)\b")
    found = {
        path.name: text
        for path in (PACKAGE / "store" / "queries").glob("*.py")
        for _, text in sql_of(path.read_text())
        if writes.search(text)
    }
    assert found == {}, "changes of rows are functions of store/writes"
