"""Ids of 19 digits and more are the same in the store, on screens and in an exported file."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from carried_out import Result, run, suite

from agentbench_tui.store.archive import export_run, import_runs
from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.queries.answer_pages import Wanted, answer_page

ID = 9512292042121000001
ECHO = "def echo(prompt): return {'data': int(prompt)}\n"


async def ids(folder: Path) -> Result:
    cases = [{"id": str(said), "input": str(said), "expected": ID} for said in (ID, ID - 1)]
    (folder / "ids.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    document = suite(scorers=["json_subset"], dataset={"data_source": "ids.jsonl"})
    return await run(folder, document, ECHO, "echo")


async def test_wrong_id_is_wrong_and_both_are_shown_with_every_digit(tmp_path: Path) -> None:
    result = await ids(tmp_path)
    with closing(connect_to_read(result.database)) as connection:
        (key,) = connection.execute("SELECT key FROM benchmark_executions").fetchone()
        rows = answer_page(connection, key, Wanted()).rows
    assert [(row["said"], row["expected"], row["correct"]) for row in rows] == [
        (str(ID), str(ID), 1),
        (str(ID - 1), str(ID), 0),
    ]


async def test_exported_and_imported_run_keeps_every_digit(tmp_path: Path) -> None:
    result = await ids(tmp_path)
    exported, imported = tmp_path / "run.db", tmp_path / "other.db"
    export_run(result.database, result.outcome.run_id, exported)
    create_or_migrate(imported)
    import_runs(imported, exported)
    with closing(sqlite3.connect(imported)) as connection:
        said = connection.execute("SELECT answer FROM answers ORDER BY seq").fetchall()
        expected = connection.execute("SELECT body FROM cases ORDER BY key").fetchall()
    assert [json.loads(text)["data"] for (text,) in said] == [ID, ID - 1]
    assert [json.loads(text)["expected"] for (text,) in expected] == [ID, ID]
