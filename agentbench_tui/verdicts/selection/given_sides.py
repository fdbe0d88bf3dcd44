"""Selectors of which some may be files: their metrics, and the database that the others need."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import reading
from agentbench_tui.verdicts.selection.selector import parse_selector
from agentbench_tui.verdicts.selection.side import is_of_files

if TYPE_CHECKING:
    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.model.figures.metric import Metric


def check_where(selectors: Sequence[str], where: Mapping[str, str], attempt: str = "") -> None:
    """Raise UsageError for conditions on rows without a file to which they could apply."""
    if any(parse_selector(text).kind == "file" for text in selectors):
        return
    for option, value in (("--where", where), ("--attempt", attempt)):
        if value:
            raise UsageError(f"{option} selects rows of files, but no file is given")


def file_columns(
    selectors: Sequence[str], metrics: Sequence[str], better: Better | None
) -> dict[str, Metric]:
    """Return the metrics that are columns of files, by name.

    Raises UsageError for one without a direction, and for a direction that nothing needs.
    """
    from agentbench_tui.verdicts.files.sample_columns import chosen_metric

    is_file = any(parse_selector(text).kind == "file" for text in selectors)
    if not is_file and better is None:
        return {}
    chosen = [one for name in metrics if (one := chosen_metric(name, better)) is not None]
    if not is_file and not chosen:
        raise UsageError(
            "--better is for columns of files and metrics that experiments return; name "
            "one with --metric"
        )
    return {one.name: one for one in chosen}


@contextmanager
def reading_sides(selectors: Sequence[str], database: Path) -> Iterator[sqlite3.Connection]:
    """Open the database to read; an empty one if every selector is a file."""
    if is_of_files(selectors):
        with closing(sqlite3.connect(":memory:")) as connection:
            yield connection
        return
    with reading(database) as connection:
        yield connection
