"""The page Cases: answers chosen, sorted, searched, a page at a time, and one of them in full."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from known_stores import copied
from stores import HOSTILE, screen_text, session, settle, shows, told
from textual.pilot import Pilot

from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.answer_pages import (
    Wanted,
    answer_page,
    count_wanted,
    observation_at,
)
from agentbench_tui.store.queries.answers import answers_of
from agentbench_tui.tui.pages.cases.detail import CaseDetail
from agentbench_tui.tui.pages.execution_page import Looked
from agentbench_tui.tui.widgets.grid import Grid

STEADY, MOODY = 1, 2
"""Keys of the executions."""


def ids(database: Path, execution: int, wanted: Wanted) -> list[str]:
    with reading(database) as connection:
        return [row["case_id"] for row in answer_page(connection, execution, wanted).rows]


def test_answers_are_chosen_by_how_they_were_judged(varied: Path) -> None:
    assert ids(varied, MOODY, Wanted("wrong")) == ["echo-5"]
    assert sorted(ids(varied, MOODY, Wanted("failed"))) == ["echo-3", "echo-3", "echo-4", "echo-4"]
    assert ids(varied, MOODY, Wanted("failed", "limit")) == ["echo-4", "echo-4"]
    assert sorted(ids(varied, MOODY, Wanted("apart"))) == ["echo-5", "echo-5"]
    assert ids(varied, MOODY, Wanted("slow", slow_ms=1e9)) == []


def test_words_are_looked_for_in_id_input_and_answer(varied: Path) -> None:
    assert set(ids(varied, MOODY, Wanted(words="ECHO-7"))) == {"echo-7"}
    assert ids(varied, MOODY, Wanted(words="wrong")) == ["echo-5"]
    assert ids(varied, MOODY, Wanted(words="%")) == [], "no wildcard"


@pytest.mark.parametrize(
    ("said", "shown"),
    [("yes\0no", "yes␀no"), (r"\u0000", r"\u2400"), ("yes", "yes")],
    ids=["a NUL", "one written out", "none"],
)
def test_an_answer_does_not_end_at_a_nul(
    varied: Path, tmp_path: Path, said: str, shown: str
) -> None:
    store = copied(varied, tmp_path)
    with closing(sqlite3.connect(store)) as connection, connection:
        sql = "UPDATE answers SET answer=? WHERE execution_key=? AND seq="
        first = "(SELECT MIN(seq) FROM answers WHERE execution_key=?)"
        connection.execute(sql + first, (json.dumps({"text": said}), STEADY, STEADY))
    with reading(store) as connection:
        found = answer_page(connection, STEADY, Wanted()).rows
        assert found[0]["said"] == answers_of(connection, STEADY)[0]["answer"] == shown
    assert ids(store, STEADY, Wanted(words=shown)) == [found[0]["case_id"]]


@pytest.mark.parametrize(
    "written",
    ["12345678901234567890123", "9007199254740993", "0.30000000000000004", "1.5", "true", "false"],
)
def test_what_was_expected_is_shown_as_it_was_written(
    varied: Path, tmp_path: Path, written: str
) -> None:
    store = copied(varied, tmp_path)
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(f"UPDATE cases SET body=json_set(body, '$.expected', json('{written}'))")
        sql = "UPDATE answers SET answer=? WHERE execution_key=?"
        connection.execute(sql, (f'{{"text":"","data":{written}}}', STEADY))
    with reading(store) as connection:
        on_page = answer_page(connection, STEADY, Wanted()).rows[0]
        printed = answers_of(connection, STEADY)[0]
    assert on_page["expected"] == printed["expected"] == written
    assert on_page["said"] == printed["answer"] == written


@pytest.mark.parametrize("sort", ["order", "time", "credit", "tokens", "cost"])
def test_pages_together_have_every_answer_once_in_order(varied: Path, sort: str) -> None:
    wanted = Wanted(sort=sort)  # type: ignore[arg-type]
    with reading(varied) as connection:
        whole = answer_page(connection, MOODY, wanted).rows
        seen, after = [], None
        while True:
            page = answer_page(connection, MOODY, wanted, after, limit=3)
            seen += page.rows
            if (after := page.after) is None:
                break
        assert [row["seq"] for row in seen] == [row["seq"] for row in whole]
        assert len(seen) == count_wanted(connection, MOODY, wanted) == 16
        places = [row["place"] for row in whole]
        assert places == sorted(places)


def test_an_observation_has_everything_that_is_kept_of_it(varied: Path) -> None:
    with reading(varied) as connection:
        rows = answer_page(connection, MOODY, Wanted("failed", "agent")).rows
        found = observation_at(connection, rows[0]["seq"])
        assert found is not None
        assert "cannot answer" in found["failures"][0]["detail"]
        assert found["case"]["input"] == "3"
        assert observation_at(connection, 10**9) is None


def answers(pilot: Pilot[None]) -> Grid:
    return pilot.app.screen.query_one("#answers", Grid)


async def test_a_key_that_can_do_nothing_says_why(varied: Path) -> None:
    app = session(varied, "cases")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "moods/echo, steady")
        for key, words in (
            ("f", "nothing failed"),
            ("b", "p95"),
            ("greater_than_sign", "no further page"),
            ("less_than_sign", "first page"),
        ):
            await pilot.press(key)
            await settle(pilot, lambda words=words: words in told(app)[-1])  # type: ignore[misc]


async def test_small_terminals_show_the_answer_at_the_cursor_behind_a_key(varied: Path) -> None:
    app = session(varied, "cases")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "moods/echo, steady")
        assert "at the cursor" not in screen_text(app)
        await pilot.press("v")
        await shows(pilot, "at the cursor", "expected", "15 tokens")
        await pilot.press("escape")
        await shows(pilot, "moods/echo, steady")


async def test_a_failure_in_full_says_what_happened_and_does_nothing_else(varied: Path) -> None:
    app = session(varied, "cases")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "moods/echo, steady")
        await pilot.press("right_square_bracket")
        await shows(pilot, "moods/echo, moody")
        await pilot.press("f")
        await shows(pilot, "failures 1–4")
        await pilot.press("f", "f")
        await shows(pilot, "of kind agent")
        await pilot.press("enter")
        await settle(pilot, lambda: isinstance(app.screen, CaseDetail))
        await shows(pilot, "cannot answer [b]3[/b]", "\\x1b]52")
        await pilot.press("v")
        await shows(pilot, "in answer")
        await pilot.press("v")
        await shows(pilot, "time since it was first sent")
        assert HOSTILE not in screen_text(app)
        await pilot.press("y")
        assert "has none" in told(app)[-1]


async def test_without_a_run_it_says_what_to_do(tmp_path: Path) -> None:
    app = session(tmp_path / "none.db", "cases")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "Press 2 to choose one")
        await pilot.press("enter", "x", "right_square_bracket", "y", "s", "w")
        await settle(pilot, lambda: len(told(app)) >= 3)


async def test_of_a_load_the_slowest_requests_and_its_failures_are_shown(loaded: Path) -> None:
    app = session(loaded, "cases")
    async with app.run_test(size=(120, 40)) as pilot:
        shown = await shows(pilot, "the slowest 33 of 33 requests", "server", "1 request ")
        rows = [line for line in shown.splitlines() if "900 ms" in line]
        assert "32" in rows[0], "it was stored as the 32nd"
        await pilot.press("f")
        shown = await shows(pilot, "the slowest 1 that ended server of 33 requests")
        assert "5.00 ms" in shown
        await pilot.press("f")
        await shows(pilot, "the slowest 33 of 33 requests")
        for key, words in (
            ("enter", "nothing to open"),
            ("w", "not judged"),
            ("s", "the slowest first"),
            ("slash", "no words"),
        ):
            await pilot.press(key)
            await settle(pilot, lambda words=words: words in told(app)[-1])  # type: ignore[misc]
        await pilot.press("e")
        await shows(pilot, "agentbench runs samples", "this request, and failures by kind")
        await pilot.press("right_square_bracket")
        assert "this request" not in await shows(pilot, "moods/echo, moody", "at the cursor")


def test_a_benchmark_that_is_called_as_its_suite_is_named_once() -> None:
    one = {"suite_id": "load", "benchmark_id": "load", "agent_id": "a", "simulated": 0,
           "parameters": {"rate": 5}}  # fmt: skip
    assert Looked({}, [one], 0, None).title == "load, a, rate=5"
    assert Looked({}, [one | {"suite_id": "s"}], 0, None).title == "s/load, a, rate=5"
