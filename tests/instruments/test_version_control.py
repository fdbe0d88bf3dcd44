"""The state of the code, asked of real repositories."""

import subprocess
from pathlib import Path

import pytest

from agentbench_tui.instruments.version_control import Vcs, capture_vcs

PATIENCE_S = 60.0
"""Slow machines get more time than a run would give."""


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Tester", "-c", "user.email=tester@localhost")
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One commit on branch `trunk`, with `code.py` and an ignored `*.log`."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "trunk")
    (folder / "code.py").write_text("x = 1\n")
    (folder / ".gitignore").write_text("*.log\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def look(folder: Path) -> Vcs:
    return capture_vcs(folder, deadline_s=PATIENCE_S)


def test_clean(repository: Path) -> None:
    (repository / "ignored.log").write_text("noise")
    assert look(repository) == Vcs(
        commit=git(repository, "rev-parse", "HEAD"), branch="trunk", dirty=False
    )


def test_a_file_stands_for_its_folder(repository: Path) -> None:
    assert look(repository / "code.py") == look(repository)


def test_changed_code_is_dirty_and_equal_changes_have_equal_hashes(repository: Path) -> None:
    (repository / "code.py").write_text("x = 2\n")
    changed = look(repository)
    git(repository, "add", "code.py")
    staged = look(repository)
    (repository / "code.py").write_text("x = 3\n")
    other = look(repository)
    assert changed.dirty is staged.dirty is other.dirty is True
    assert changed.diff_hash is not None
    assert changed.diff_hash == staged.diff_hash != other.diff_hash
    assert changed.missing == {}


def test_an_untracked_file_is_dirty_and_its_name_counts(repository: Path) -> None:
    (repository / "new.py").write_text("")
    one = look(repository)
    (repository / "newer.py").write_text("")
    two = look(repository)
    assert one.dirty is True
    assert None not in {one.diff_hash, two.diff_hash}
    assert one.diff_hash != two.diff_hash


def test_the_user_s_own_settings_change_no_hash(repository: Path) -> None:
    (repository / "code.py").write_text("x = 2\n")
    before = look(repository)
    for name, value in (
        ("diff.noprefix", "true"),
        ("diff.context", "9"),
        ("diff.algorithm", "patience"),
        ("color.ui", "always"),
        ("status.showUntrackedFiles", "no"),
    ):
        git(repository, "config", name, value)
    assert look(repository) == before


def test_nothing_that_a_repository_configures_is_run(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "core.pager", "diff.evil.textconv"):
        git(repository, "config", name, str(trap))
    (repository / ".gitattributes").write_text("*.py diff=evil\n")
    (repository / "code.py").write_text("x = 2\n")
    assert look(repository).dirty is True
    assert not (tmp_path / "sprung").exists()


def test_no_branch(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    found = look(repository)
    assert found.commit is not None
    assert found.branch is None
    assert found.missing == {"branch": "HEAD is on no branch"}


def test_no_commit_yet(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk")
    assert look(tmp_path) == Vcs(branch="trunk", dirty=False, missing={"commit": "no commit yet"})


def test_no_repository(tmp_path: Path) -> None:
    found = look(tmp_path)
    assert found == Vcs(missing=found.missing)
    assert "not a git repository" in found.missing["commit"]


def test_no_git(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert look(repository) == Vcs(
        missing={"commit": "git cannot be started: No such file or directory"}
    )


def test_a_repository_named_by_the_environment_is_not_meant(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    assert look(tmp_path).commit is None


def test_git_that_takes_too_long_is_ended(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\nread line < /dev/zero\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    found = capture_vcs(repository, deadline_s=0.1)
    assert found == Vcs(missing={"commit": "git took too long"})
