"""Other rules for old answers: at the parameters that the run had."""

import asyncio
import json
import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from carried_out import Result, run, suite

from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.task.rescoring import rescore
from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.queries.runs import find_run

# Off by one tenth from whatever is asked.
NEAR = "def near(prompt): return str(float(prompt) + 0.1)\n"


def numbers(**changes: Any) -> dict[str, Any]:
    return suite(
        3,
        scorers=[{"numeric": {"tolerance": "${tolerance}"}}],
        sweep={"parameters": {"tolerance": [0.01, 0.5]}},
        **changes,
    )


async def rescored(result: Result, document: dict[str, Any], *settings: str) -> list[int]:
    path = result.database.parent / "new.json"
    path.write_text(json.dumps(document))
    with closing(connect_to_read(result.database)) as connection:
        row = find_run(connection, result.outcome.run_id)
    await rescore(result.database, row, load_suite(path), settings)
    return [one["cases"]["correct"] for one in result.document["executions"]]


async def test_each_point_of_a_sweep_keeps_its_own_value(tmp_path: Path) -> None:
    result = await run(tmp_path, numbers(), NEAR, "near")
    assert [one["cases"]["correct"] for one in result.document["executions"]] == [0, 3]
    new = numbers()
    new["benchmarks"][0]["sweep"] = {"parameters": {"tolerance": [0.5, 0.01]}}
    assert await rescored(result, new) == [0, 3]
    assert await rescored(result, new, "tolerance=0.5") == [3, 3]


async def test_what_was_set_holds_and_defaults_are_those_of_the_new_suite(tmp_path: Path) -> None:
    def document(tolerance: float) -> dict[str, Any]:
        return suite(
            3,
            suite={"parameters": {"tolerance": tolerance, "factor": 1.0}},
            scorers=[{"numeric": {"tolerance": "${tolerance}"}}],
        )

    result = await run(tmp_path, document(0.01), NEAR, "near")
    assert await rescored(result, document(0.5)) == [3]
    strict = await run(tmp_path, document(0.5), NEAR, "near", settings=("tolerance=0.01",))
    with closing(connect_to_read(strict.database)) as connection:
        assert find_run(connection, "latest")["id"] == strict.outcome.run_id
    assert await rescored(strict, document(0.5)) == [0]
    assert await rescored(strict, document(0.5), "tolerance=0.5") == [3]


async def test_a_required_parameter_is_taken_from_the_run_or_asked_for(tmp_path: Path) -> None:
    required = {"tolerance": {"type": "number", "required": True}}
    document = suite(
        3,
        suite={"parameters": required},
        scorers=[{"numeric": {"tolerance": "${tolerance}"}}],
    )
    result = await run(tmp_path, document, NEAR, "near", settings=("tolerance=0.5",))
    assert await rescored(result, document) == [3]
    document["parameters"] = {**required, "other": {"type": "number", "required": True}}
    with pytest.raises(UsageError, match="needs --set other="):
        await rescored(result, document)


THINKS = "def thinks(prompt): return f'<think>maybe 99</think>{prompt}'\n"


async def test_reasoning_is_stored_whole_and_left_out_when_scored_again(tmp_path: Path) -> None:
    kept = suite(2, scorers=[{"exact": {"keep_reasoning": True}}])
    result = await run(tmp_path, kept, THINKS, "thinks")
    assert [one["cases"]["correct"] for one in result.document["executions"]] == [0]
    assert await rescored(result, suite(2)) == [2]
    stored = result.column("SELECT json_extract(answer, '$.text') FROM answers ORDER BY seq")
    assert stored == ["<think>maybe 99</think>0", "<think>maybe 99</think>1"]


KILLER = """
import os, signal

calls = 0

def score(case, answer):
    global calls
    calls += 1
    if calls == int(os.environ["KILL_AT"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return 0.0
"""


def stored(database: Path) -> list[tuple[Any, ...]]:
    """Everything that rescoring may change."""
    tables = {
        "answers": "seq, credit, correct, scores, failure_kind",
        "failures": "*",
        "metrics": "*",
        "runs": "*",
        "benchmark_executions": "*",
    }
    with closing(connect_to_read(database)) as connection:
        return [
            (table, *row)
            for table, columns in tables.items()
            for row in connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()
        ]


@pytest.mark.parametrize("kill_at", [1, 2, 6, 7, 12])
async def test_a_killed_rescore_leaves_every_score_as_it_was(tmp_path: Path, kill_at: int) -> None:
    points = {"sweep": {"parameters": {"x": [1, 2]}}}
    result = await run(tmp_path, suite(6, scorers=["exact"], **points), NEAR, "near")
    before = stored(result.database)
    (tmp_path / "killer.py").write_text(KILLER)
    document = suite(6, scorers=["python:killer.py:score"], **points)
    (tmp_path / "new.json").write_text(json.dumps(document))

    command = (sys.executable, "-m", "agentbench_tui", "rescore", result.outcome.run_id)
    options = ("--suite", str(tmp_path / "new.json"), "--db", str(result.database))
    killed = await asyncio.create_subprocess_exec(
        *command,
        *options,
        env={**os.environ, "KILL_AT": str(kill_at)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await asyncio.wait_for(killed.communicate(), 60)

    assert killed.returncode == 128 + signal.SIGKILL, errors.decode()
    assert stored(result.database) == before


async def test_rescoring_changes_answers_and_metrics_together(tmp_path: Path) -> None:
    result = await run(
        tmp_path, suite(6, scorers=["exact"]), "def right(p): return str(p)\n", "right"
    )
    (tmp_path / "killer.py").write_text("def score(case, answer): return 0.0\n")

    assert await rescored(result, suite(6, scorers=["python:killer.py:score"])) == [0]

    with closing(connect_to_read(result.database)) as connection:
        credit = connection.execute("SELECT SUM(credit), COUNT(*) FROM answers").fetchone()
        query = "SELECT value FROM metrics WHERE name='accuracy'"
        assert tuple(credit) == (0.0, 6)
        assert connection.execute(query).fetchone()[0] == 0


@pytest.mark.parametrize("settings", [(), ("scorer=normalised",), ("scorer=normalized",)])
async def test_a_run_with_the_former_name_of_a_scorer_is_rescored(
    tmp_path: Path, settings: tuple[str, ...]
) -> None:
    """By its own rules, by those of a suite with the current name, and with either name set."""
    code = "def loud(prompt): return f'{prompt}!'\n"
    old = suite(3, scorers=["${scorer}"], suite={"parameters": {"scorer": "normalised"}})
    result = await run(tmp_path, old, code, "loud", settings=settings)
    assert [one["cases"]["correct"] for one in result.document["executions"]] == [3]

    with closing(connect_to_read(result.database)) as connection:
        row = find_run(connection, result.outcome.run_id)
    await rescore(result.database, row)
    assert [one["cases"]["correct"] for one in result.document["executions"]] == [3]
    assert await rescored(result, suite(3, scorers=["exact"])) == [0]
    assert await rescored(result, suite(3, scorers=["normalized"])) == [3]
