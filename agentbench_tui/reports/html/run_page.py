"""The page of a run as a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from agentbench_tui.reports.html.answers import page_answers
from agentbench_tui.reports.html.document import html_page
from agentbench_tui.reports.sources import read_run
from agentbench_tui.store.queries.runs import file_of, find_run

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

    from agentbench_tui.presentation.full_report.parts import Chapter
    from agentbench_tui.reports.sources import RunSource


def write_page(
    connection: sqlite3.Connection, run_id: str, path: Path, more: Sequence[Chapter] = ()
) -> None:
    """Write the report of a stored run with its answers; `more` chapters precede the details.

    Raises OSError, and UsageError for an unknown run.
    """
    source = read_run(connection, file_of(connection), find_run(connection, run_id))
    chapters = source.report.chapters
    main = [one for one in chapters if not one.is_detail]
    details = [one for one in chapters if one.is_detail]
    report = structs.replace(source.report, chapters=[*main, *more, *details])
    write_source(connection, replace(source, report=report), path)


def write_source(connection: sqlite3.Connection, source: RunSource, path: Path) -> None:
    """Write the page of a run that has been read. Raises OSError."""
    text = html_page(source.report, page_answers(connection, source))
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
