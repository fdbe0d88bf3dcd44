"""What several tests of experiments have in common."""

from __future__ import annotations

from pathlib import Path

import pytest
from measuring import Said

from agentbench_tui.cli.main import _run


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Said:
    """Runs a command in an empty folder; its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTBENCH_DB", str(tmp_path / "runs.db"))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = _run(list(arguments))
        out, err = capfd.readouterr()
        return code, out, err

    return run
