"""A viewer changes a load while its run goes on: answered, kept with the window, told."""

import asyncio
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from loads import Loaded, leave_calibration_out, load

from agentbench_tui.agents.mock.options import read_options
from agentbench_tui.agents.mock.process import start_server
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.transaction import write_once
from agentbench_tui.store.writes.control_requests import add_control_request

PATIENCE_S = 60.0


def value(database: Path, statement: str) -> Any:
    try:
        with closing(connect_to_read(database)) as connection:
            row = connection.execute(statement).fetchone()
    except StoreError:
        return None
    return None if row is None else row[0]


async def until(database: Path, statement: str) -> Any:
    """Poll the database, as a viewer does, until it gives something."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := value(database, statement)):  # noqa: ASYNC110  # all there is to watch
            await asyncio.sleep(0.005)
    return found


async def wished(
    folder: Path, block: dict[str, Any], wishes: list[tuple[str, str]]
) -> tuple[Loaded, list[str]]:
    """Put load on a server, make wishes once its window goes on; what was found and answered."""
    database = folder / "store.db"
    async with await start_server(
        read_options({"ttft": "1ms", "itl": "0ms", "tokens": "1"})
    ) as one:
        task = asyncio.create_task(load(folder, f"openai:{one.url}#mock", block))
        key = await until(database, "SELECT run_key FROM ticks WHERE sent>0")
        answers = []
        for wish, argument in wishes:
            ask = partial(add_control_request, run_key=key, wish=wish, argument=argument)
            await asyncio.to_thread(write_once, database, [ask])
            await until(database, "SELECT NOT EXISTS (SELECT 1 FROM wishes WHERE answer IS NULL)")
            answers.append(value(database, "SELECT answer FROM wishes ORDER BY seq DESC LIMIT 1"))
        return await task, answers


async def test_a_rate_can_be_changed_and_what_was_asked_counts_it_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_calibration_out(monkeypatch)
    block = {"rate": 50, "duration_s": 2.5, "warmup_requests": 0}
    wishes = [("rate", "3"), ("rate", "many"), ("concurrency", "4"), ("pause", "")]
    found, answers = await wished(tmp_path, block, wishes)

    assert answers[0] == "3 times the plan's rate from now on, in this window"
    assert [answer.split(":")[0] for answer in answers[1:]] == ["refused"] * 3
    change = value(
        tmp_path / "store.db", "SELECT json_extract(document, '$.changes[0]') FROM load_windows"
    )
    assert '"what":"pace","to":3' in change
    asked = value(
        tmp_path / "store.db", "SELECT json_extract(document, '$.asked') FROM load_windows"
    )
    # Everything that was asked was sent: some 50/s at first, then 150/s.
    assert 130 < asked < 375
    assert found.requests["sent"] == pytest.approx(asked, abs=2)
    assert "changed by hand" in found.told
