"""Errors that callers treat differently, with the exit code of each.

AgentbenchError
├── UsageError        2   wrong option, name or value on the command line
├── SuiteError        2   a suite that cannot be read; carries every problem found, with its place
├── StoreError        2   a database that cannot be opened, or that a newer version wrote
├── MissingExtra      2   a feature whose optional dependency is not installed
├── GateFailed        1   a threshold that was asked for does not hold
├── Unmeasured        3   the run ended, but part of it could not be measured
└── Interrupted     130   stopped by a signal; what was measured is kept
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class AgentbenchError(Exception):
    """Base of errors with one line that says what is wrong, where, and what to do."""

    exit_code = 70


class UsageError(AgentbenchError):
    """A wrong option, name or value."""

    exit_code = 2


class StoreError(AgentbenchError):
    """A database that cannot be opened or written."""

    exit_code = 2


class MissingExtra(AgentbenchError):
    """An optional dependency is not installed."""

    exit_code = 2

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs an extra: install it with `pip install 'agentbench-tui[{extra}]'`"
        )


class GateFailed(AgentbenchError):
    """A requested threshold does not hold."""

    exit_code = 1


class Unmeasured(AgentbenchError):
    """The run ended, but part of it could not be measured."""

    exit_code = 3


class Interrupted(AgentbenchError):
    """Stopped by a signal; the measurements are kept."""

    exit_code = 130


ENVIRONMENT_ERRORS = frozenset({
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
})  # fmt: skip
"""System errors of the environment: the command was right, and its output could not be written."""


def write_error(path: object, error: OSError) -> AgentbenchError:
    """Return the error for a file that cannot be written: exit code 3 for a full disk, else 2."""
    kind = Unmeasured if error.errno in ENVIRONMENT_ERRORS else UsageError
    return kind(f"{path} cannot be written: {error.strerror or error}")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a file that a person wrote."""

    message: str
    path: str = ""
    """Key path inside the file, such as `benchmarks.0.constraints.time_limit_ms`."""
    file: str = ""
    line: int | None = None
    """1-based."""
    column: int | None = None
    """1-based."""

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f":{self.line}:{self.column or 1}"
        parts = [part for part in (place, self.path, self.message) if part]
        return ": ".join(parts)


class SuiteError(AgentbenchError):
    """A suite that cannot be read, with all its problems at once."""

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def message_of(error: BaseException) -> str:
    """Return the message of an exception of user code, which may lack one."""
    try:
        return str(error)
    except BaseException as fault:  # noqa: BLE001  # its `__str__` is the user's code as well
        return f"(its message cannot be shown: {type(fault).__name__})"


def named(error: BaseException) -> str:
    """Return `TypeName: message` of an exception with any message."""
    message = message_of(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean "x"?)` for a near miss, else an empty string.

    Among similar names, the closest that begins with the word is preferred, because the word may be
    an incomplete name.
    """
    from difflib import get_close_matches

    names = list(known)
    near = get_close_matches(word, names, n=max(1, len(names)), cutoff=0.6)
    if not near:
        return ""
    meant = next((name for name in near if name.startswith(word)), near[0])
    return f' (did you mean "{meant}"?)'
