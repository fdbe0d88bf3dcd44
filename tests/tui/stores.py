"""Stores made by real runs, and what tests of pages ask of a session that shows them."""

import asyncio
import json
import sqlite3
import time
from array import array
from collections.abc import Callable
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from agentbench_tui.engine.run.coordinator import carry_out
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.load.sending.sample import FIELDS as SAMPLE_FIELDS
from agentbench_tui.load.sending.sample import NONE, ROW, STATUS_CODE, pack_gaps, pack_rows
from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.shared import Shared

PATIENCE_S = 60.0
HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2J[bold red]?"
"""Reaches for the clipboard, clears the screen, and is markup."""
AGENTS = f"""
from agentbench_tui.model.answer import Answer, Usage
def said(prompt, right, tokens):
    text = prompt if right else {HOSTILE!r} + prompt
    return Answer(text, usage=Usage(7, tokens), cost_usd=tokens * 1e-5)
def good(prompt):
    return said(prompt, int(prompt) % 10 != 0, 100 + int(prompt))
def fair(prompt):
    return said(prompt, int(prompt) % 10 != 1, 50 + int(prompt))
def bad(prompt):
    return said(prompt, int(prompt) % 4 == 0, 100 + int(prompt))
"""
MEASURED = tuple(f"{name}=python:agents.py:{name}" for name in ("good", "fair", "bad"))
SIMULATED = ("perfect=reference:perfect", "noop=reference:noop")


def suite(name: str, category: str, **benchmarks: int) -> dict[str, Any]:
    """Benchmarks with so many cases: the answer to `n` is `n`."""
    return {
        "suite_id": name,
        "category": category,
        "weights": {"accuracy": 3, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 1},
        "benchmarks": [
            {
                "benchmark_id": benchmark,
                "dataset": {
                    "cases": [
                        {"id": f"{benchmark}-{n}", "input": str(n), "expected": str(n)}
                        for n in range(count)
                    ]
                },
                "scorers": ["exact"],
                "iterations": {"warmup": 0, "measured": 1},
                "retries": 0,
            }
            for benchmark, count in benchmarks.items()
        ],
    }


@lru_cache
def _measured(folder: Path) -> Path:
    """Three measured and two simulated agents on two benchmarks, twice; then another version of
    `good`, and `fair`, on a suite of another category."""
    folder.mkdir()
    database = folder / "store.db"
    create_or_migrate(database)

    (folder / "agents.py").write_text(AGENTS)
    (folder / "later.py").write_text(AGENTS)

    def run(document: dict[str, Any], *agents: str, **options: Any) -> None:
        (folder / "suite.json").write_text(json.dumps(document))
        given = RunOptions(agents=agents, folder=folder, **options)
        asyncio.run(carry_out(make_plan([str(folder / "suite.json")], given), database))

    first = suite("echoes", "accuracy", echo=40, brief=12)
    run(first, *MEASURED, *SIMULATED, repeats=2, tags=("first",))
    newer = ("good=python:later.py:good", MEASURED[1])
    run(suite("quick", "speed", dash=8), *newer, tags=("later",))
    return database


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of `_measured`; nobody writes to it."""
    return _measured(tmp_path_factory.getbasetemp() / "measured")


WORKERS = """
import asyncio
from agentbench_tui.model.answer import (
    Answer, AgentFailure, FailureKind, Message, Span, ToolCall, Usage,
)
asked = {}
HOSTILE = %r
def steady(prompt):
    calls = (ToolCall("look_up", {"what": prompt}, result=HOSTILE),)
    spans = (Span("plan", 0.0, 0.02), Span("tool:look_up", 0.005, 0.01))
    return Answer(
        prompt, usage=Usage(10, 5, 2), cost_usd=1e-4, spans=spans,
        messages=(Message("assistant", "", calls),),
    )
def moody(prompt):
    number = int(prompt)
    asked[number] = asked.get(number, 0) + 1
    if number == 3:
        raise ValueError("cannot answer [b]3[/b] " + HOSTILE)
    if number == 4:
        raise AgentFailure(FailureKind.LIMIT, "too large")
    return Answer(prompt if number != 5 or asked[number] > 1 else HOSTILE + " wrong")
"""


@lru_cache
def _varied(folder: Path) -> Path:
    """Two agents on one benchmark, twice: `steady` with spans and calls of tools, and `moody`,
    which fails in two ways and is wrong about `echo-5` the first time."""
    folder.mkdir()
    database = folder / "store.db"
    create_or_migrate(database)
    (folder / "workers.py").write_text(WORKERS % HOSTILE)
    (folder / "suite.json").write_text(json.dumps(suite("moods", "accuracy", echo=8)))
    agents = ("steady=python:workers.py:steady", "moody=python:workers.py:moody")
    options = RunOptions(agents=agents, folder=folder, repeats=2)
    asyncio.run(carry_out(make_plan([str(folder / "suite.json")], options), database))
    return database


@pytest.fixture(scope="session")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of `_varied`; nobody writes to it."""
    return _varied(tmp_path_factory.getbasetemp() / "varied")


@pytest.fixture(scope="session")
def loaded(varied: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of `varied` with requests of a load in place of the answers of `steady`: 30 of
    100 ms, one after 50 ms of waiting, one of 900 ms, and a failure after 5 ms."""
    path = tmp_path_factory.mktemp("loaded") / "store.db"
    answered = {"due_us": 10**6, "lag_us": 0, "ttft_us": 40_000, "e2e_us": 100_000, "chunks": 1}
    failed = answered | {
        "ttft_us": NONE,
        "e2e_us": 5_000,
        "chunks": NONE,
        "status": STATUS_CODE["server"],
    }
    rows = [answered] * 30 + [
        answered | {"lag_us": 50_000},
        answered | {"e2e_us": 900_000, "output_tokens": 7},
        failed,
    ]
    packed = b"".join(
        ROW.pack(*(row.get(name, NONE if code == "I" else 0) for name, code in SAMPLE_FIELDS))
        for row in rows
    )
    with closing(connect_to_read(varied)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)
        target.execute("DELETE FROM answers WHERE execution_key=1")
        target.execute(
            "UPDATE runs SET plan=json_set(plan, '$.groups[0].benchmark.load', json('{}'))"
        )
        target.execute(
            "INSERT INTO sample_chunks"
            " (run_key, execution_key, repeat, worker, rows, samples, gaps)"
            " VALUES (1, 1, 0, 0, ?, ?, ?)",
            (len(rows), pack_rows(packed), pack_gaps(array("I"))),
        )
        target.commit()
    return path


def session(database: Path, page: str, *marked: str) -> AgentbenchApp:
    """A session that begins with this page, with selectors marked for a comparison."""
    return AgentbenchApp(Shared(database, marked=list(marked)), first=page)


async def settle(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Let the app work until `condition()` holds."""
    deadline = time.monotonic() + PATIENCE_S
    pause_s = 0.02
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"the screen did not get there:\n{screen_text(pilot.app)}")
        await pilot.pause(pause_s)
        pause_s = min(pause_s * 1.5, 0.2)  # to read the screen takes longer than to wait for it


def screen_text(app: App[None]) -> str:
    """What is on the screen, as plain text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(part.text for part in strip) for strip in strips)


async def shows(pilot: Pilot[None], *words: str) -> str:
    """The screen once all these words are on it."""
    await settle(pilot, lambda: all(word in screen_text(pilot.app) for word in words))
    return screen_text(pilot.app)


def told(app: App[None]) -> list[str]:
    """The notices so far, the oldest first."""
    return [one.message for one in app._notifications]
