"""Agreement of a judge with people, as a table and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import decimals, percent, with_interval
from agentbench_tui.presentation.report import Column, Report, Section, Table, raw_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.contracts.judge import AgreementFigure, JudgeCheckDocument

_FEW = 30
"""Labels below which the intervals are wide, whatever the judge is worth."""
_ENOUGH = 0.6
"""Kappa from which agreement is often called substantial (Landis & Koch 1977)."""
_FIGURES = (
    Column("figure", "figure", names_row=True),
    Column("shown", "value [95%]", right=True),
    Column("of", "of"),
)
_APART = (
    Column("case_id", "case", names_row=True),
    Column("human", "people"),
    Column("judge", "judge"),
    Column("answer", "answer", lambda text: text if len(text) <= 40 else f"{text[:39]}…"),
    Column("reason", "reason", lambda text: text if len(text) <= 60 else f"{text[:59]}…"),
)
_WORD = {True: "right", False: "wrong"}
_RECORDS = raw_columns(("case_id", "human_right", "judge_right", "value", "reason", "answer"))


def judge_report(document: JudgeCheckDocument, limit: int) -> Report:
    """Show the figures and the first disagreements; the records are all disagreements."""
    wrong = document.judged - document.human_right
    rows = [
        _row("agreement", document.agreement, f"{document.judged:,} answers", percent),
        _row("Cohen's kappa", document.kappa, "agreement beyond chance", decimals(2)),
        _row("wrong answers passed", document.false_pass, f"{wrong:,} wrong by people", percent),
        _row("right answers failed", document.false_fail,
             f"{document.human_right:,} right by people", percent),
    ]  # fmt: skip
    apart = [
        {
            "case_id": one.case_id,
            "human": _WORD[one.human_right],
            "judge": _WORD[one.judge_right],
            "human_right": one.human_right,
            "judge_right": one.judge_right,
            "value": one.value,
            "reason": one.reason,
            "answer": one.answer,
        }
        for one in document.disagreements
    ]
    sections = [Section(_verdict(document), [Table(_FIGURES, rows)], is_answer=True)]
    if apart:
        more = len(apart) - limit
        sections.append(
            Section(
                "Answers on which they disagree:",
                [Table(_APART, apart[:limit])],
                [f"… and {counted(more, 'more answer')} (--limit)."] if more > 0 else [],
            )
        )
    return Report(Table(_RECORDS, apart), sections, _notes(document))


def _row(
    name: str, found: AgreementFigure, of: str, show: Callable[[float | None], str]
) -> dict[str, str]:
    shown = with_interval(found.value, found.low, found.high, show)
    return {"figure": name, "shown": shown, "of": of}


def _verdict(document: JudgeCheckDocument) -> str:
    kappa = document.kappa
    if not document.judged:
        return "No verdict: the judge failed on every answer."
    if kappa.value is None or kappa.low is None:
        return (
            "No verdict: judge or people call every answer the same; label answers of both kinds."
        )
    if kappa.low >= _ENOUGH:
        return f"The judge agrees with people: kappa is at least {kappa.low:.2f}."
    if kappa.high is not None and kappa.high < _ENOUGH:
        return f"The judge does not agree well with people: kappa is at most {kappa.high:.2f}."
    return (
        f"Not yet clear whether the judge agrees with people: kappa may be {kappa.low:.2f} as well"
        f" as {kappa.high:.2f}; label more answers."
    )


def _notes(document: JudgeCheckDocument) -> list[str]:
    notes = []
    if document.failed:
        notes.append(
            f"The judge failed on {counted(document.failed, 'answer')}, left out of all figures:"
            f" {document.failure}"
        )
    if 0 < document.judged < _FEW:
        notes.append(f"{counted(document.judged, 'answer')}: label {_FEW} or more.")
    return notes
