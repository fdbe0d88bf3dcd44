"""GPUs the whole way, with a library in the place of NVIDIA's: from its calls to the page Live."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from live_runs import suite
from stores import screen_text, session, settle, shows

from agentbench_tui.store.database import reading

LIBRARY = Path(__file__).parents[1] / "instruments" / "nvml_stand_in.c"
ROWS = {
    "GPU 0 ": "87%",
    "GPU 1 ": "– not reported in slices",
    "GPU 0 memory": "69/80 GB",
    "GPU 1 memory": "5/24 GB",
    "GPU 1.0 memory": "4.5/6 GB",
    "GPU 0 power": "698/700 W",
    "GPU 1 power": "– not reported by driver",
    "GPU 0 heat": "74/90 °C",
    "GPU 1 heat": "41/90 °C",
    "GPU 0 clock": "1,410 MHz",
    "GPU 1 clock": "210 MHz",
}
"""Label, and what stands in its row."""
BOTH = """
import sys
from agentbench_tui.cli.main import main
for words in sys.argv[1:]:
    try:
        main(words.split())
    except SystemExit as ended:
        assert words.startswith("doctor") or not ended.code, words
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The store of a run that two GPUs were watched in, and what `doctor` says of the machine."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("gpus")
    library = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, LIBRARY], check=True)
    (folder / "suite.json").write_text(suite("one"))
    run = "run suite.json --agent a=reference:perfect --no-ui --quiet --db s.db"
    said = subprocess.run(
        [sys.executable, "-c", BOTH, "doctor --format json --db s.db", run],
        cwd=folder,
        env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    (finding,) = [
        check["finding"]
        for check in json.JSONDecoder().raw_decode(said.stdout)[0]["checks"]
        if check["name"] == "GPU"
    ]
    return folder / "s.db", finding


def test_doctor_names_them_with_their_memory(watched: tuple[Path, str]) -> None:
    assert watched[1] == "NVIDIA Stand-in A, 80 GB; NVIDIA Stand-in B, 24 GB, in MIG slices"


def test_the_store_keeps_what_they_told_and_nothing_else(watched: tuple[Path, str]) -> None:
    with reading(watched[0]) as connection:
        rows = connection.execute("SELECT DISTINCT scope, reading FROM gauges").fetchall()
    found = {row[0]: json.loads(row[1]) for row in rows if row[0].startswith("gpu:")}
    assert found == {
        "gpu:0": {
            "index": 0, "name": "NVIDIA Stand-in A", "uuid": "GPU-a", "utilisation_percent": 87,
            "memory_used_mb": 69_000, "memory_total_mb": 80_000, "power_w": 698,
            "power_limit_w": 700, "temperature_c": 74, "sm_clock_mhz": 1410,
            "memory_clock_mhz": 2619, "throttle_reasons": ["power cap"], "throttled": 1,
            "idle": False,
        },
        "gpu:1": {
            "index": 1, "name": "Stand-in B", "uuid": "GPU-b", "memory_used_mb": 5_000,
            "memory_total_mb": 24_000, "temperature_c": 41, "sm_clock_mhz": 210,
            "memory_clock_mhz": 405, "throttle_reasons": [], "throttled": 0, "idle": True,
        },
        "gpu:1.0": {
            "index": 1, "slice": 0, "name": "Stand-in B MIG 1g", "uuid": "MIG-b",
            "memory_used_mb": 4_500, "memory_total_mb": 6_000,
        },
    }  # fmt: skip


async def test_the_page_live_shows_each_by_its_number(watched: tuple[Path, str]) -> None:
    app = session(watched[0], "live")
    async with app.run_test(size=(200, 60)) as pilot:
        await shows(pilot, "GPU 0", "held: power cap")
        lines = screen_text(app).splitlines()
        for label, words in ROWS.items():
            (row,) = [line for line in lines if f" {label} " in line]
            assert words in row


async def test_what_finds_no_room_is_counted_and_comes_with_the_arrow_keys(
    watched: tuple[Path, str],
) -> None:
    app = session(watched[0], "live")
    # So low that the GPUs alone find no room, whatever else this machine tells of itself.
    async with app.run_test(size=(120, 34)) as pilot:
        await shows(pilot, " more ", "GPU 0 memory")
        assert "clock" not in screen_text(app)
        await pilot.press("v")
        await settle(pilot, lambda: app.focused is not None and app.focused.id == "machine")
        await pilot.press(*["down"] * 20)
        await shows(pilot, "GPU 1 clock")
        assert " more " not in screen_text(app)
