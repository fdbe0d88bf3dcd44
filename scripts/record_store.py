"""Records the store that tests and pictures of pages show: three short runs of the quickstart.

python scripts/record_store.py
"""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

TARGET = Path(__file__).parents[1] / "tests" / "tui" / "data" / "recorded.db.gz"
RUNS = 3


def main() -> None:
    TARGET.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store, packed = Path(folder) / "store.db", Path(folder) / "packed.db"
        for seed in range(RUNS):
            command = ["run", "quickstart", "--ui", "none", "--quiet", "--limit", "8"]
            command += ["--runs", "2", "--seed", str(seed), "--db", str(store)]
            subprocess.run(
                [sys.executable, "-m", "agentbench_tui", *command],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        with closing(sqlite3.connect(store)) as source:
            source.execute("VACUUM INTO ?", (str(packed),))
        TARGET.write_bytes(gzip.compress(packed.read_bytes(), mtime=0))


if __name__ == "__main__":
    main()
