"""One question under several ids is one draw, and is reported."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers

TABLES = """
CREATE TABLE datasets (key INTEGER, cases INTEGER);
CREATE TABLE cases (key INTEGER, dataset_key INTEGER, case_id TEXT, body TEXT);
"""


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    found = sqlite3.connect(":memory:")
    found.executescript(TABLES)
    yield found
    found.close()


def add(connection: sqlite3.Connection, *cases: Mapping[str, object]) -> np.ndarray:
    rows = [(key, 1, case["id"], json.dumps(case)) for key, case in enumerate(cases)]
    connection.executemany("INSERT INTO cases VALUES (?, ?, ?, ?)", rows)
    connection.execute("INSERT INTO datasets VALUES (1, ?)", (len(rows),))
    return np.arange(len(cases))


def test_copies_are_one_cluster_and_counted(connection: sqlite3.Connection) -> None:
    cases = add(
        connection,
        *({"id": f"q{n}", "input": "Capital of Japan?", "expected": "Tokyo"} for n in range(3)),
        {"id": "q3", "input": "Capital of Peru?", "expected": "Lima"},
        {"id": "q4", "input": "Capital of Peru?", "expected": "Lima", "metadata": {"world": 2}},
    )
    numbers = CaseNumbers(connection)
    clusters = numbers.clusters(numbers.of(1, cases))
    assert len(set(clusters[:3].tolist())) == 1
    assert len(set(clusters.tolist())) == 3
    assert numbers.copies(numbers.of(1, cases)) == (3, 1)


def test_a_declared_cluster_is_kept(connection: sqlite3.Connection) -> None:
    same = {"input": "1 + 1", "expected": "2"}
    cases = add(
        connection,
        {"id": "a", **same, "cluster": "sums"},
        {"id": "b", **same, "cluster": "sums"},
        {"id": "c", "input": "2 + 2", "expected": "4", "cluster": "sums"},
    )
    numbers = CaseNumbers(connection)
    assert len(set(numbers.clusters(numbers.of(1, cases)).tolist())) == 1
