"""State of the code under test: commit, branch, and a hash of uncommitted changes.

Git is asked so that nothing of the repository's configuration runs: no hooks, no file monitor,
no pager, no external diff, no prompt.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEADLINE_S = 2.0
"""For all of git's answers together."""

_CHUNK_BYTES = 1 << 16
_QUIET = (
    *("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "diff.external=", "-c", "core.quotePath=true"),
)
_DIFF = (
    # Every option that a user's configuration could change is given, so equal code has equal
    # hashes everywhere.
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--binary"),
    *("--full-index", "--unified=3", "--diff-algorithm=myers", "--ignore-submodules=dirty"),
    *("--src-prefix=a/", "--dst-prefix=b/", "HEAD", "--"),
)
_STATUS = (
    *("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"),
    "--ignore-submodules=dirty",
)
_MISLEADING = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE"}
    | {"GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS"}
)
"""Variables set inside hooks, which refer to another repository than the requested one."""


class Vcs(msgspec.Struct, frozen=True, kw_only=True):
    """Git facts of a folder. None with a reason in `missing` if unknown."""

    commit: str | None = None
    branch: str | None = None
    """None also when HEAD is on no branch."""
    dirty: bool | None = None
    """Whether anything differs from the commit, including untracked files, without ignored ones."""
    diff_hash: str | None = None
    """SHA-256 of the difference to the commit and of the names of untracked files; None when
    nothing differs."""
    missing: dict[str, str] = {}


class _Unanswered(Exception):
    """Raised with the reason if git did not answer."""


def capture_vcs(path: Path, *, deadline_s: float = DEADLINE_S) -> Vcs:
    """Query git about the folder of `path`. Takes at most `deadline_s` and never raises.

    Without git or a repository only `missing["commit"]` is filled.
    """
    git = _Git(path if path.is_dir() else path.parent, monotonic() + deadline_s)
    missing: dict[str, str] = {}
    try:
        git.lines("rev-parse", "--is-inside-work-tree")
    except _Unanswered as why:
        return Vcs(missing={"commit": str(why)})
    commit = branch = diff_hash = None
    dirty: bool | None = None
    try:
        branch = git.lines("symbolic-ref", "--short", "-q", "HEAD")
    except _Unanswered as why:
        missing["branch"] = str(why) or "HEAD is on no branch"
    try:
        commit = git.lines("rev-parse", "--verify", "-q", "HEAD^{commit}")
    except _Unanswered as why:
        missing["commit"] = str(why) or "no commit yet"
    try:
        status = git.output(*_STATUS)
        dirty = bool(status)
        if commit is not None:
            untracked = b"\0".join(sorted(e for e in status.split(b"\0") if e[:2] == b"??"))
            diff_hash = git.digest(*_DIFF, suffix=b"\0" + untracked) if dirty else None
    except _Unanswered as why:
        missing["dirty" if dirty is None else "diff_hash"] = str(why)
    return Vcs(commit=commit, branch=branch, dirty=dirty, diff_hash=diff_hash, missing=missing)


class _Git:
    """Runs git in one folder until a common deadline."""

    def __init__(self, folder: Path, deadline: float) -> None:
        self._folder = folder
        self._deadline = deadline
        self._environment = {k: v for k, v in os.environ.items() if k not in _MISLEADING}
        self._environment |= {
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PAGER": "cat",
            "LC_ALL": "C",
        }

    def lines(self, *arguments: str) -> str:
        """Return the output as text without its last newline."""
        return self.output(*arguments).decode("utf-8", "replace").rstrip("\n")

    def output(self, *arguments: str) -> bytes:
        collected = bytearray()
        self._run(arguments, collected.extend)
        return bytes(collected)

    def digest(self, *arguments: str, suffix: bytes) -> str:
        """Return the SHA-256 of the output, which may be larger than memory, and of `suffix`."""
        digest = hashlib.sha256()
        self._run(arguments, digest.update)
        digest.update(suffix)
        return digest.hexdigest()

    def _run(self, arguments: tuple[str, ...], take: Callable[[bytes], object]) -> None:
        left = self._deadline - monotonic()
        if left <= 0:
            raise _Unanswered("git took too long")
        try:
            process = subprocess.Popen(
                [*_QUIET, *arguments],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that its helpers end with it at the deadline
            )
        except OSError as error:
            raise _Unanswered(f"git cannot be started: {error.strerror}") from error
        expired = threading.Event()
        timer = threading.Timer(left, _end, (process, expired))
        timer.start()
        try:
            with process:
                assert process.stdout is not None
                assert process.stderr is not None
                while chunk := process.stdout.read(_CHUNK_BYTES):
                    take(chunk)
                complaint = process.stderr.read(_CHUNK_BYTES)
        finally:
            timer.cancel()
            timer.join()
        if expired.is_set():
            raise _Unanswered("git took too long")
        if process.returncode != 0:
            first = complaint.decode("utf-8", "replace").strip().partition("\n")[0]
            raise _Unanswered(first.removeprefix("fatal: "))


def _end(process: subprocess.Popen[bytes], expired: threading.Event) -> None:
    expired.set()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
