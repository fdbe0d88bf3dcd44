"""The public API type-checks as users will use it: mypy --strict, outside of this repository."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import agentbench_tui

USES = sorted(Path(__file__).parent.glob("uses_*.py"))


@pytest.mark.timeout(600)
def test_what_users_write_passes_strict_checks(tmp_path: Path) -> None:
    """An error that mypy should see and does not is an unused ignore, which is an error too."""
    copies = [shutil.copy(path, tmp_path) for path in USES]
    assert len(copies) == 3
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", *copies],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_says_that_it_has_types() -> None:
    assert Path(agentbench_tui.__file__).with_name("py.typed").is_file()
