"""What comes before the window: runs that are called off there, and targets that refuse."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))

from loads import leave_calibration_out, load_each
from processes import INTERRUPT, Place

AGENT = """
from pathlib import Path
here = Path(__file__).parent
def wait(prompt):
    (here / "arrived").write_text("x")
    return (here / "go").read_text()
"""
KEY = "hush-4711-nobody-knows"
WATCHED = """
import sys
from agentbench_tui.cli.main import run
from agentbench_tui.load.calibration import calibration
from agentbench_tui.load.sending.measurement import Measurement

carry_out = Measurement.carry_out

async def watched(*args):
    window = await carry_out(*args)
    print("imported", sorted({"numpy", "scipy"} & set(sys.modules)), file=sys.stderr)
    return window

async def none(*args):
    return None

Measurement.carry_out = watched
calibration.calibrated = none
run()
"""


def test_a_signal_during_the_warm_up_ends_the_run_without_a_window(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(AGENT)
    place = Place(tmp_path)
    place.doors()
    command = ("load", "python:agents.py:wait", "--rate", "10", "--warmup", "1", "--no-ui")
    with place.started(*command, "--max-in-flight", "1") as process:
        place.someone_at_the_door()
        process.send_signal(INTERRUPT)
        process.communicate()

    assert process.returncode == 130
    assert place.rows("SELECT status FROM runs") == [("interrupted",)]
    assert place.rows("SELECT * FROM load_windows") == []


def test_what_takes_long_to_import_is_left_until_the_window_is_over(tmp_path: Path) -> None:
    """Ticks are written in it, gaps and queueing in them."""
    command = "load mock --rate 40 --requests 45 --no-ui --quiet --format json --db runs.db"
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "imported []" in done.stderr.splitlines()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        (told,) = connection.execute("SELECT COUNT(itl_histogram) FROM ticks").fetchone()
    assert told >= 1


async def _stored_of(answer: str, folder: Path, block: dict[str, object]) -> str:
    """The store, as SQL, of a load on a server that answers nothing else."""

    async def give(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert KEY.encode() in head
        writer.write(answer.encode())
        writer.close()

    async with await asyncio.start_server(give, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        agent = {"target": f"openai:http://127.0.0.1:{port}/v1#m?key_env=MY_KEY"}
        await load_each(folder, {"a": agent}, block)
    with closing(sqlite3.connect(folder / "store.db")) as connection:
        return "\n".join(connection.iterdump())


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_calibration_out(monkeypatch)
    monkeypatch.setenv("MY_KEY", KEY)


@pytest.mark.usefixtures("key")
async def test_what_a_server_says_of_a_key_before_the_window_is_masked(tmp_path: Path) -> None:
    body = json.dumps({"error": {"message": f"{KEY} is not known"}})
    refused = f"HTTP/1.1 401 No\r\ncontent-length: {len(body)}\r\n\r\n{body}"
    kept = await _stored_of(refused, tmp_path, {"rate": 10, "warmup_requests": 1})

    assert "the load could not be measured: HTTP 401 from" in kept
    assert "is not known (the key was taken from $MY_KEY)" in kept
    assert "hush" not in kept


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("before", range(90, 121, 10))
async def test_a_key_is_masked_also_near_where_its_text_is_cut_off(
    before: int, tmp_path: Path
) -> None:
    text = f"HTTP/1.1 200 OK\r\n\r\n{'x' * before}{KEY}{'y' * 1000}"
    kept = await _stored_of(text, tmp_path, {"rate": 10, "requests": 1, "warmup_requests": 0})

    assert "the answer cannot be read" in kept
    assert "xxxx***yyyy" in kept
    assert "hush" not in kept
