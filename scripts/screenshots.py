"""Makes the pictures of the README: runs the quickstart suite and draws its result as SVG.

python scripts/screenshots.py
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from agentbench_tui.cli import output
from agentbench_tui.cli.result import print_run

TARGET = Path(__file__).parents[1] / "screenshots"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "agentbench_tui",
            "run",
            "quickstart",
            "--no-ui",
            "--quiet",
        ]
        command += ["--format", "json", "--db", f"{folder}/shot.db"]
        document = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    with Path("/dev/null").open("w") as nowhere:
        console = Console(record=True, width=132, file=nowhere, force_terminal=True)
        output.console = lambda **_: console
        console.print("$ agentbench run quickstart", style="bold")
        print_run(document, "table")
        TARGET.mkdir(exist_ok=True)
        picture = console.export_svg(title="agentbench")
        # Rich names a web font; the picture must ask nobody for anything.
        picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
        (TARGET / "quickstart.svg").write_text(picture)


if __name__ == "__main__":
    main()
