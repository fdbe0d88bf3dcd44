"""GPUs the whole way, with a library in the place of NVIDIA's: from its calls to the page Live."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from live_runs import suite
from stores import session, settle, shows, told

from agentbench_tui.store.database import reading

LIBRARY = Path(__file__).parents[1] / "instruments" / "nvml_stand_in.c"
ROWS = {
    "GPU 0 !": "87%  69/80 GB  698/700 W  74 °C  1,410 MHz  power cap",
    "GPU 1  ": "–   5/24 GB          –  41 °C    210 MHz",
    "1.0  ": "4.5/6 GB",
}
"""How a line begins, and what stands in it."""
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


@pytest.mark.parametrize("size", [(200, 60), (120, 40), (80, 24)])
async def test_the_page_live_shows_each_on_one_line(
    watched: tuple[Path, str], size: tuple[int, int]
) -> None:
    app = session(watched[0], "live")
    async with app.run_test(size=size) as pilot:
        await shows(pilot, "at the end")
        if size == (80, 24):
            await pilot.press("v", "v")
        lines = (await shows(pilot, "GPU 0 !", "GPU 1")).splitlines()
        for label, words in ROWS.items():
            (row,) = [line for line in lines if f" {label}" in line and "GB" in line]
            # Where there is less room than for all, the use and the memory stay.
            assert (words if size == (200, 60) else words.split("  ")[0].strip()) in row
            assert size == (200, 60) or "GB" in row


async def test_without_sampled_processes_the_key_says_so(watched: tuple[Path, str]) -> None:
    app = session(watched[0], "live")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "GPU 0 !")
        await pilot.press("G")
        await settle(pilot, lambda: "no processes on GPUs" in told(app)[-1])
