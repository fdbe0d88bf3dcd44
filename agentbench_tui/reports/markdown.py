"""A report as Markdown: the verdict in its first line, what supports it below, details folded."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from agentbench_tui.model.text.cells import passed_on_markdown
from agentbench_tui.presentation.report import list_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentbench_tui.presentation.full_report.parts import Chapter, FullReport
    from agentbench_tui.presentation.report import Section, Table

MOST_CHARACTERS = 60_000
"""Room of a comment on a pull request: GitHub takes 65,536 characters."""
_MOST_REASONS = 8
_MOST_ROWS = 50
_CELL = 160
"""Characters of a cell."""
_MARKS = {"good": "✅ ", "bad": "❌ ", "open": "⚠️ ", "plain": ""}


def markdown(report: FullReport, room: int = MOST_CHARACTERS) -> str:
    """Return the report in at most `room` characters; chapters that do not fit are named."""
    left_out_most = "\n".join(["", _left_out([one.title for one in report.chapters]), ""])
    room -= len(left_out_most)
    head = "\n".join(_head(report, room // 2)) + "\n"
    parts, left_out = [head], []
    used = len(head)
    for chapter in filter(_has_text, report.chapters):
        text = "\n".join(_chapter(chapter)) + "\n"
        if used + len(text) > room:
            left_out.append(chapter.title)
            continue
        parts.append(text)
        used += len(text)
    if left_out:
        parts.append(f"\n{_left_out(left_out)}\n")
    return "".join(parts)


def _left_out(titles: Sequence[str]) -> str:
    return f"Excluded because they do not fit: {_safe(', '.join(titles))}."


def _head(report: FullReport, room: int) -> list[str]:
    """Return the verdict with its reasons; those that exceed the room are counted."""
    verdict = report.verdict
    lines = [f"### {_MARKS[verdict.outcome]}{_safe(verdict.words)}", ""]
    reasons = [f"- {_safe(reason)}" for reason in verdict.reasons]
    ends = list(accumulate(len(reason) + 1 for reason in reasons))
    fitting = sum(end <= room for end in ends)
    lines += reasons[: min(fitting, _MOST_REASONS)]
    more = reasons[min(fitting, _MOST_REASONS) :]
    if more:
        shown = reasons[min(fitting, _MOST_REASONS) : fitting]
        uncounted = len(more) - len(shown)
        rest = [f"- … and {uncounted:,} more"] if uncounted else []
        lines += ["", *_folded(f"{len(more):,} more", [*shown, *rest])]
    facts = " · ".join(f"{_safe(name)} {_safe(value)}" for name, value in report.about)
    return [*lines, "", f"<sub>{_safe(report.title)} · {facts}</sub>", ""]


def _has_text(chapter: Chapter) -> bool:
    """Return False for a chapter of charts, which Markdown cannot show."""
    return any(one.tables or one.sentences for one in chapter.sections)


def _chapter(chapter: Chapter) -> list[str]:
    lines = [
        line for one in chapter.sections if one.tables or one.sentences for line in _section(one)
    ]
    if chapter.is_detail:
        return _folded(_safe(chapter.title), lines)
    return [f"#### {_safe(chapter.title)}", "", *lines]


def _folded(title: str, lines: Iterable[str]) -> list[str]:
    # Markdown inside HTML needs empty lines around it.
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]


def _section(section: Section) -> list[str]:
    lines = [f"**{_safe(section.title)}**", ""] if section.title else []
    for table in section.tables:
        lines += [*_table(table), ""]
    lines += [f"- {_safe(list_item(sentence))}" for sentence in section.sentences]
    return [*lines, ""]


def _table(table: Table) -> list[str]:
    head = " | ".join(_safe(column.title) or " " for column in table.columns)
    ruler = "|".join("---:" if column.right else "---" for column in table.columns)
    lines = [f"| {head} |", f"|{ruler}|"]
    for row in table.rows[:_MOST_ROWS]:
        shown = (column.show(row.get(column.key)) for column in table.columns)
        lines.append(f"| {' | '.join(_safe(cell, _CELL) for cell in shown)} |")
    more = len(table.rows) - _MOST_ROWS
    return [*lines, "", f"… {more:,} more rows"] if more > 0 else lines


def _safe(text: str, most: int = 2000) -> str:
    return passed_on_markdown(text, most)
