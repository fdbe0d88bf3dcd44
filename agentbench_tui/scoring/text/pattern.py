"""Regular expressions with a time limit.

A pattern such as `(a+)+$` takes time exponential in the text, and the text is the agent's. On the
main thread a timer of the process's CPU time breaks the search off; elsewhere (signals reach
only the main thread) the search runs in a child process that is killed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial

from agentbench_tui.model.answer import GraderFailure
from agentbench_tui.model.errors import UsageError
from agentbench_tui.scoring.code.cpu_limit import OutOfTime, can_limit, limited

SEARCH_LIMIT_S = 1.0
"""CPU seconds one search may take."""

_CHILD = """
import json, re, sys
pattern, flags, text = json.load(sys.stdin)
match = re.search(pattern, text, flags)
json.dump(None if match is None else [match.group(0), *match.groups()], sys.stdout)
"""


def compile_pattern(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """Compile a pattern. Raises UsageError with the position of the error."""
    try:
        return re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"pattern {pattern!r} is not a regular expression: {error}") from error


def search(pattern: re.Pattern[str], text: str) -> list[str | None] | None:
    """Return the first match as [whole, group 1, …], or None.

    Raises GraderFailure when the search takes more than `SEARCH_LIMIT_S`.
    """
    try:
        if can_limit():
            return limited(partial(_search_here, pattern, text), SEARCH_LIMIT_S)
        return _search_in_child(pattern, text)
    except (OutOfTime, subprocess.TimeoutExpired):
        raise GraderFailure(
            f"pattern {pattern.pattern!r} took more than {SEARCH_LIMIT_S:g} s on this answer; "
            "write it without nested repetition"
        ) from None


def _search_here(pattern: re.Pattern[str], text: str) -> list[str | None] | None:
    match = pattern.search(text)
    return None if match is None else [match.group(0), *match.groups()]


def _search_in_child(pattern: re.Pattern[str], text: str) -> list[str | None] | None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _CHILD],
        input=json.dumps([pattern.pattern, pattern.flags, text]),
        capture_output=True,
        text=True,
        timeout=SEARCH_LIMIT_S + 1,  # one second for the start of the interpreter
        check=False,
    )
    if done.returncode:
        raise GraderFailure(f"the search in a child process failed: {done.stderr.strip()[-200:]}")
    groups: list[str | None] | None = json.loads(done.stdout)
    return groups
