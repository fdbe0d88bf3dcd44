"""Tutorials work as they are written: their files are made and their commands run, in order."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("own-data.md", "writing-an-agent.md", "writing-a-scorer.md", "judges.md")
_BLOCK = re.compile(
    r"(?:^<!-- run: (?P<status>\d+) -->\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_NAMED = re.compile(r"# (?P<name>[\w.-]+\.(?:py|yaml|csv|jsonl|toml))\n")


def install(project: str, folder: Path) -> None:
    """Write what an installer would: the entry points of a project whose modules are here."""
    found = tomllib.loads(project)["project"]
    info = folder / f"{found['name']}-{found['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {found['name']}\nVersion: {found['version']}\n"
    (info / "METADATA").write_text(head)
    lines = []
    for group, points in found["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.mark.parametrize("page", PAGES)
def test_files_and_commands_of_a_tutorial_work(page: str, tmp_path: Path) -> None:
    ran = 0
    for block in _BLOCK.finditer((DOCS / page).read_text(encoding="utf-8")):
        body, status = block["body"], block["status"]
        named = _NAMED.match(body)
        if named is not None:
            has_comments = not named["name"].endswith((".csv", ".jsonl"))
            (tmp_path / named["name"]).write_text(body if has_comments else body[named.end() :])
            if named["name"] == "pyproject.toml":
                install(body, tmp_path)
        if status is None:
            continue
        for line in re.findall(r"^\$ agentbench (.*)$", body, re.MULTILINE):
            done = subprocess.run(
                [sys.executable, "-m", "agentbench_tui", *shlex.split(line)],
                cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100,
            )  # fmt: skip
            assert done.returncode == int(status), f"$ {line}\n{done.stdout}{done.stderr}"
            ran += 1
    assert ran
