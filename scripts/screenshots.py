"""Makes the pictures of the README: runs commands as a user would and draws what they print, and
opens pages of the session on the recorded store.

python scripts/screenshots.py
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from contextlib import suppress
from pathlib import Path

import page_pictures
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "screenshots"
RECORDED = ROOT / "tests" / "tui" / "data" / "recorded.db.gz"
PAGES = ("leaders",)
WIDTH = 132
SHOTS = {
    "quickstart": "run quickstart --no-ui --quiet --runs 3",
    "compare": "compare rules planner --benchmark tool-calls",
    "leaderboard": "leaderboard",
    "load": "load mock?ttft=80ms&itl=12ms&tokens=24 --rate 40 --duration 8s --no-ui --quiet"
    " --slo ttft_ms=200",
}
"""Name of the picture → the command that it shows, one after the other in one database."""


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "AGENTBENCH_DB": f"{folder}/shots.db",
            "TERM": "xterm-256color",
        }
        for name, command in SHOTS.items():
            (TARGET / f"{name}.svg").write_text(picture(command, printed(command, environment)))
            if name == "quickstart":
                picture_of_report(Path(folder) / "report.html", environment)
    page_pictures.main([*PAGES, "--db", str(RECORDED), "--to", str(TARGET)])


def picture_of_report(page: Path, environment: dict[str, str]) -> None:
    """The top of the HTML report of the newest run, in the Chromium of this system."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "agentbench_tui", "report", "--html", str(page)]
    subprocess.run(command, env=environment, check=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1200, "height": 1150})
        opened.goto(page.as_uri())
        opened.screenshot(path=TARGET / "report.png")
        browser.close()


def printed(command: str, environment: dict[str, str]) -> str:
    """What the command prints on a terminal of our width."""
    ours, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "agentbench_tui", *command.split()],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    ) as child:
        os.close(terminal)
        text = b""
        with suppress(OSError):  # Linux tells so that the other side is closed
            while part := os.read(ours, 65536):
                text += part
    os.close(ours)
    if child.returncode:
        raise SystemExit(f"agentbench {command}: exit code {child.returncode}")
    return text.decode().replace("\r\n", "\n")


def picture(command: str, printed: str) -> str:
    """SVG of a terminal in which the command printed this."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    shown = " ".join(f"'{word}'" if "&" in word else word for word in command.split())
    console.print(f"$ agentbench {shown}", style="bold", highlight=False)
    console.print(Text.from_ansi(printed))
    drawn = console.export_svg(title="agentbench")
    # Rich names a web font; the picture must ask nobody for anything.
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)


if __name__ == "__main__":
    main()
