"""Rows of a file that are attempts at one case: which one counts, and its cost.

If a case is retried until it is right, the mean over all rows is neither the share that is right at
the first attempt nor at the last.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.files.sample_columns import ROLES

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from agentbench_tui.analysis.sample import Floats

CHOICE = re.compile(r"first|last|all|pass@[1-9]\d{0,3}")
"""Accepted values of `--attempt`."""
_WITHIN = "pass@"
_MOST_NAMES = 3
"""Names of a column that a note suggests."""
_ADDED_UP = {"USD", "tokens", "ms"}
"""Units of what several tries take together."""


class Tries(msgspec.Struct, frozen=True):
    """The rows that count, with a note on how they were chosen."""

    counts: NDArray[np.bool_]
    note: str


def choose_tries(
    keys: Sequence[Hashable],
    numbers: Floats,
    right: NDArray[np.bool_],
    values: Mapping[str, Floats],
    choice: str,
    path: Path,
) -> Tries | None:
    """Choose among the attempts of each observation; None if each has only one.

    `keys` says of each row which observation it is of, `numbers` which try, `right` whether it
    succeeded. With an empty choice the first try counts where tries end with the first success;
    otherwise they are independent of each other, and all count. Time, tokens and cost of the tries
    up to the one that counts are added up in `values`.

    Raises UsageError for pass@K where nothing was tried K times and something is not right yet:
    whether it would have been within K tries is not known.
    """
    rows_of: dict[Hashable, list[int]] = defaultdict(list)
    for row in np.argsort(numbers, kind="stable").tolist():
        rows_of[keys[row]].append(row)
    groups = list(rows_of.values())
    most = max(map(len, groups), default=0)
    if choice.startswith(_WITHIN):
        _check_within(int(choice.removeprefix(_WITHIN)), most, groups, right, path)
    if most < 2:
        return None
    ends_when_right = not any(right[row] for rows in groups for row in rows[:-1])
    chosen = choice or ("first" if ends_when_right else "all")
    counts = np.ones(len(keys), bool)
    if chosen != "all":
        counts[:] = False
        used = [_used(rows, right, chosen) for rows in groups]
        counts[[rows[-1] for rows in used]] = True
        _add_up(values, used)
    return Tries(counts, _note(groups, right, chosen, most))


def unused_words(choice: str, roles: Collection[str]) -> list[str]:
    """Say that a choice has no effect on a file without the columns (by role) that it needs."""
    lacking = next((role for role in ("attempt", "case") if role not in roles), None)
    if not choice or lacking is None:
        return []
    what = "which try a row is" if lacking == "attempt" else "which case a row answers"
    names = ", ".join(ROLES[lacking][:_MOST_NAMES])
    return [f"--attempt {choice} has no effect: no column says {what} ({names})"]


def _check_within(
    wanted: int,
    most: int,
    groups: Sequence[Sequence[int]],
    right: NDArray[np.bool_],
    path: Path,
) -> None:
    if wanted <= most or all(right[list(rows)].any() for rows in groups):
        return
    tries = f"{most} tries" if most > 1 else "1 try"
    raise UsageError(
        f"{path}: --attempt {_WITHIN}{wanted}: no case has more than {tries}, so how many are right"
        f" within {wanted} is not known; {_WITHIN}{most} is the largest"
    )


def _used(rows: Sequence[int], right: NDArray[np.bool_], choice: str) -> Sequence[int]:
    """Return the attempts of one observation up to the one that counts."""
    if choice == "first":
        return rows[:1]
    if choice == "last":
        return rows
    within = rows[: int(choice.removeprefix(_WITHIN))]
    first = next((at for at, row in enumerate(within) if right[row]), len(within) - 1)
    return within[: first + 1]


def _add_up(values: Mapping[str, Floats], used: Sequence[Sequence[int]]) -> None:
    for name, column in values.items():
        known = find_metric(name)
        if known is None or known.unit not in _ADDED_UP:
            continue
        for rows in used:
            taken = column[list(rows)]
            if len(rows) > 1 and not np.isnan(taken).all():
                column[rows[-1]] = np.nansum(taken)


def _note(groups: Sequence[Sequence[int]], right: NDArray[np.bool_], choice: str, most: int) -> str:
    def share(of: str) -> str:
        hits = sum(bool(right[_used(rows, right, of)[-1]]) for rows in groups)
        return f"{hits / len(groups):.3f}"

    tries = sum(map(len, groups))
    counted = {"first": "the first try counts", "last": "the last try counts", "all": "all count"}
    words = counted.get(choice, f"right within {choice.removeprefix(_WITHIN)} tries counts")
    return (
        f"{tries:,} tries of {len(groups):,} cases: {words} (--attempt first, last, all or"
        f" pass@K); right at the first {share('first')}, at the last {share('last')},"
        f" within {most} {share(f'pass@{most}')}"
    )
