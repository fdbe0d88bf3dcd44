"""How well a judge agrees with the labels of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.analysis.intervals.interval import wilson
from agentbench_tui.contracts.judge import (
    AgreementFigure,
    JudgeCheckDocument,
    JudgeDisagreement,
)
from agentbench_tui.scoring.judge.agreement import cohen_kappa, kappa_interval
from agentbench_tui.scoring.reading import answer_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.engine.task.labeled_answers import JudgedAnswer

_LONGEST = 400


def judge_check(judge: str, judged: Sequence[JudgedAnswer]) -> JudgeCheckDocument:
    """Return the agreement of a judge with people, over the answers that it judged."""
    known = [one for one in judged if one.said_right is not None]
    failures = [one.reason for one in judged if one.said_right is None]
    human = [one.labeled.is_right for one in known]
    said = [bool(one.said_right) for one in known]
    pairs = list(zip(human, said, strict=True))
    interval = kappa_interval(human, said)
    return JudgeCheckDocument(
        judge=judge,
        answers=len(judged),
        judged=len(known),
        failed=len(failures),
        failure=failures[0] if failures else None,
        agreement=_share([a == b for a, b in pairs]),
        kappa=AgreementFigure(
            value=cohen_kappa(human, said),
            low=None if interval is None else interval.low,
            high=None if interval is None else interval.high,
        ),
        false_pass=_share([b for a, b in pairs if not a]),
        false_fail=_share([not b for a, b in pairs if a]),
        human_right=sum(human),
        judge_right=sum(said),
        both_right=sum(a and b for a, b in pairs),
        both_wrong=sum(not (a or b) for a, b in pairs),
        disagreements=tuple(
            JudgeDisagreement(
                case_id=one.labeled.case.id,
                human_right=one.labeled.is_right,
                judge_right=bool(one.said_right),
                value=one.value,
                reason=one.reason,
                answer=answer_text(one.labeled.answer)[:_LONGEST],
            )
            for one in known
            if one.labeled.is_right != one.said_right
        ),
    )


def _share(of: Sequence[bool]) -> AgreementFigure:
    """Return a share with Wilson's interval; nothing without any answer."""
    if not of:
        return AgreementFigure(value=None, low=None, high=None)
    found = wilson(float(sum(of)), len(of))
    assert found is not None
    return AgreementFigure(value=sum(of) / len(of), low=found.low, high=found.high)
