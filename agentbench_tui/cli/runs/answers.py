"""`agentbench runs show --answers` and `--wrong`: the observations of a run, one per row."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_prose, print_rows
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import MISSING, decimals, duration, from_one, money
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.runs import AnswerLine

_BEGINNING = 40
_REASON = 160
"""Characters of a text, and of a reason, that a table shows."""


def _beginning(value: Any, most: int = _BEGINNING) -> str:
    """Return the beginning of a long text that fits into a table; `--case` shows all of it."""
    text = MISSING if value in {None, ""} else " ".join(str(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


_PLACE = (
    Column("benchmark_id", "benchmark", names_row=True),
    Column("agent_id", "agent", names_row=True),
    Column("case_id", "case", names_row=True),
    Column("repeat", "repeat", from_one, right=True),
    Column("iteration", "iteration", from_one, right=True),
)
_QUESTION = Column("question", "question", _beginning)
_EXPECTED = Column("expected", "expected", _beginning)
_ANSWER = Column("answer", "answer", _beginning)
_WHY = Column("why", "why", lambda text: _beginning(text, _REASON))
_ALL = (
    *_PLACE,
    Column("credit", "credit", decimals(2), right=True),
    Column("correct", "right", lambda value: {1: "yes", 0: "no"}.get(value, MISSING)),
    Column("wrong_by", "wrong by"),
    Column("failure_kind", "failure"),
    _QUESTION,
    _EXPECTED,
    _ANSWER,
    Column("e2e_ms", "e2e", duration, right=True),
    Column("cost_usd", "USD", money, right=True),
    _WHY,
)
_WRONG = (*_PLACE, _QUESTION, _EXPECTED, _ANSWER, _WHY)
"""Columns of a table of wrong answers."""


def show_answers(connection: Any, row: dict[str, Any], form: str, given: dict[str, Any]) -> int:
    """Print the observations of a run that the options choose."""
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.verdicts.runs.answers_document import answers_document

    document = answers_document(
        connection,
        row,
        agent=given["agent"],
        benchmark=given["benchmark"],
        wrong_only=given["wrong"],
        limit=given["limit"],
    )
    rows = [{**plain(one), "wrong_by": ", ".join(one.wrong_by)} for one in document.answers]
    columns = _columns(document.answers, form, wrong_only=given["wrong"])
    print_rows(rows, columns, form, plain(document))
    if document.more:
        click.echo(f"… {document.more} more (--limit)", err=form != "table")
    if form == "table" and rows:
        case = shlex.quote(document.answers[0].case_id)
        if case == one_line(case, 200):  # else it could not be copied
            command = f"agentbench runs show {row['id'][:13]} --case {case}"
            print_prose(f"\nSee one case in full: {command}")
    return 0


def _columns(answers: Sequence[AnswerLine], form: str, *, wrong_only: bool) -> Sequence[Column]:
    """Return all columns for scripts; for people, those that differ between these rows."""
    if form in {"csv", "jsonl"}:
        return _ALL
    needless = {
        name
        for name in ("benchmark_id", "agent_id", "repeat", "iteration")
        if len({getattr(one, name) for one in answers}) == 1
    }
    if all(_is_structure(one.expected) for one in answers):
        # The first characters of JSON rarely differ, and the reason names what does.
        needless.add("expected")
    if not any(one.scorers > 1 for one in answers):
        needless.add("wrong_by")
    return [one for one in (_WRONG if wrong_only else _ALL) if one.key not in needless]


def _is_structure(expected: Any) -> bool:
    if not isinstance(expected, str):
        return isinstance(expected, dict | list)
    try:
        return isinstance(json.loads(expected), dict | list)
    except ValueError:
        return expected.startswith(("{", "["))  # cut off
