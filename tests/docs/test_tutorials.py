"""Tutorials work as they are written: their files are made and their commands run, in order."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(
    r"(?:^<!-- run: (?P<status>\d+) -->\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_NAMED = re.compile(r"# (?P<name>[\w.-]+\.(?:py|yaml|csv|jsonl))\n")


@pytest.mark.parametrize("page", ["writing-an-agent.md", "judges.md"])
def test_files_and_commands_of_a_tutorial_work(page: str, tmp_path: Path) -> None:
    ran = 0
    for block in _BLOCK.finditer((DOCS / page).read_text(encoding="utf-8")):
        body, status = block["body"], block["status"]
        named = _NAMED.match(body)
        if named is not None:
            is_csv = named["name"].endswith(".csv")  # which has no comments
            (tmp_path / named["name"]).write_text(body[named.end() :] if is_csv else body)
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
