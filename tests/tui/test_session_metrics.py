"""Metrics of scorers and suites in the session: as the command line's table has them."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from stores import session, settle, shows

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.queries.runs import executions_of, find_run
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.verdicts.runs.defined_metrics import DefinedMetricReader
from agentbench_tui.verdicts.runs.live_document import LiveReader
from tests.engine.carried_out import run, suite

if TYPE_CHECKING:
    from pathlib import Path

    from agentbench_tui.tui.app import AgentbenchApp

# A name of its own: what the first benchmark says of a metric counts in the whole process.
METRICS = """
def word_count(case, answer):
    return len(answer.text.split())
"""
AGENTS = """
def brief(prompt):
    return prompt
def chatty(prompt):
    return f"{prompt} it is" if int(prompt) % 2 else prompt
"""
CASES = 40


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    (folder / "metrics.py").write_text(METRICS)
    document = suite(
        CASES,
        scorers=[{"contains": {}, "as": "answer"}, {"regex": {"pattern": "it is"}, "as": "style",
                                                    "counts": False}],
        metrics=[{"python:metrics.py:word_count": {"unit": "words", "direction": "lower"}}],
    )  # fmt: skip
    return asyncio.run(run(folder, document, AGENTS, "brief", "chatty")).database


def rows(app: AgentbenchApp, widget: str) -> list[list[str]]:
    """The cells of a table, without the cursor."""
    lines = text_of(getattr(app.screen.query_one(widget, Grid), "_rows", []))
    return [line.replace("▸", " ").replace("│", " ").replace("█", " ").split() for line in lines]


def plan_of(connection: sqlite3.Connection) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Execution id → benchmark, and the rows of the executions."""
    found = executions_of(connection, find_run(connection, "latest")["key"])
    benchmark = {
        "scorers": [{"contains": {}, "as": "answer"}, {"regex": {}, "as": "style"}],
        "metrics": [{"python:metrics.py:word_count": {"unit": "words", "direction": "lower"}}],
    }
    return {row["id"]: benchmark for row in found}, found


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_live_has_each_metric_with_unit_and_interval(
    database: Path, size: tuple[int, int]
) -> None:
    app = session(database, "live")
    async with app.run_test(size=size) as pilot:
        if size[0] < 100:
            await shows(pilot, "latency end to end")
            await pilot.press("v")
        await shows(pilot, "metrics of scorers and suites", "statistically tied")
        found = {(row[0], row[1]): row[2:] for row in rows(app, "#own")[1:]}
        metrics = [row[0] for row in rows(app, "#own")[1:]]
        assert metrics == sorted(metrics)  # the agents of one metric next to each other
        # Half of 40 answers say "it is": Wilson's interval of 20 in 40, by hand.
        assert found["style", "chatty"][:3] == ["50.0%", "[35.2,", "64.8]"]
        assert found["answer", "brief"][:3] == ["100%", "[91.2,", "100]"]
        app.screen.query_one("#own").focus()
        await pilot.press("end")
        await settle(pilot, lambda: rows(app, "#own")[-1][0] == "word_count")
        # One word, or three: their mean is 2 words.
        assert rows(app, "#own")[-1][1:4] == ["chatty", "2", "words"]


async def test_the_board_of_a_run_draws_the_intervals(database: Path) -> None:
    app = session(database, "live")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "statistically tied")
        await settle(pilot, lambda: any("brief" in line for line in rows(app, "#board")))
        found = {row[2]: row for row in rows(app, "#board")[1:]}
        # 40 of 40 right, for both: the same interval, and the same drawing of it.
        assert found["brief"][3:7] == found["chatty"][3:7] == ["1.000", "0.912", "–", "1.000"]
        assert found["brief"][7] == found["chatty"][7]
        assert "├" in found["brief"][7]


async def test_the_leaderboard_ranks_by_them(database: Path) -> None:
    app = session(database, "leaders")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "agents by accuracy on 40 cases")
        board = app.screen.query_one("#measured", Grid)
        seen: list[str] = []
        while "agents by word_count" not in (title := str(board.border_title)):
            assert title not in seen, "\n".join(seen)  # it went around
            seen.append(title)
            await pilot.press("o")
            await settle(pilot, lambda: str(board.border_title) != seen[-1])
        text = await shows(pilot, "word_count, words [95%]")
        brief = next(line for line in text.splitlines() if " brief " in line)
        assert brief.split()[3:5] == ["1", "brief"]  # fewer words are better
        assert {"answer", "style"} <= {line.split("agents by ")[1].split()[0] for line in seen}


async def test_a_benchmark_without_any_has_no_panel(measured: Path) -> None:
    app = session(measured, "live")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "progress by benchmark and agent", "statistically tied")
        assert not app.screen.query_one("#own").display


def test_values_so_far_are_those_of_the_end_once_all_is_there(database: Path) -> None:
    with closing(connect_to_read(database)) as connection:
        run_id = find_run(connection, "latest")["id"]
        found = LiveReader(connection, database, run_id).read(connection, None)
        assert found.result is not None
        for one in found.defined_metrics:
            execution = next(e for e in found.result.executions if e.agent_id == one.agent_id)
            stored = execution.metrics[one.metric]
            assert (one.value, one.low, one.high, one.n, one.unit) == (
                stored.value, stored.low, stored.high, stored.n, stored.unit,
            )  # fmt: skip
    assert [one.metric for one in found.defined_metrics] == sorted(
        [*["answer", "style", "word_count"] * 2]
    )


def test_values_so_far_follow_the_answers(database: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.db"
    with closing(connect_to_read(database)) as connection, closing(sqlite3.connect(part)) as copy:
        connection.backup(copy)
        benchmarks, found = plan_of(connection)
        going_on = [row | {"status": "running"} for row in found]
        half = "DELETE FROM answers WHERE case_key > (SELECT MIN(key) + ? FROM cases)"
        reader = DefinedMetricReader(benchmarks)
        with copy:
            copy.execute(half, (19,))
        with closing(connect_to_read(part)) as some:
            first = {(one.agent_id, one.metric): one for one in reader.read(some, going_on)}
        assert first["chatty", "word_count"].n == 20
        # Cases 0 … 19: ten of one word, ten of three.
        assert first["chatty", "word_count"].value == 2
        assert first["chatty", "style"].value == 0.5
        later = {(one.agent_id, one.metric): one for one in reader.read(connection, going_on)}
        assert later["chatty", "word_count"].n == CASES
        assert not [one for one in later.values() if one.value is None or math.isnan(one.value)]


def test_a_few_more_answers_are_not_read_until_the_end(database: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.db"
    with closing(connect_to_read(database)) as connection, closing(sqlite3.connect(part)) as copy:
        connection.backup(copy)
        benchmarks, found = plan_of(connection)
        going_on = [row | {"status": "running"} for row in found]
        reader = DefinedMetricReader(benchmarks)
        with copy:
            copy.execute("DELETE FROM answers WHERE case_key=(SELECT MAX(key) FROM cases)")
        with closing(connect_to_read(part)) as some:
            assert {one.n for one in reader.read(some, going_on)} == {CASES - 1}
        assert {one.n for one in reader.read(connection, going_on)} == {CASES - 1}
        assert {one.n for one in reader.read(connection, found)} == {CASES}


def test_one_scorer_alone_is_accuracy(database: Path) -> None:
    with closing(connect_to_read(database)) as connection:
        benchmarks, found = plan_of(connection)
        alone = {name: {"scorers": ["exact"], "metrics": []} for name in benchmarks}
        assert DefinedMetricReader(alone).read(connection, found) == []
