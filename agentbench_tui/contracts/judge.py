"""How well a judge agrees with people: `agentbench judge check`."""

from __future__ import annotations

from agentbench_tui.contracts.document import Document, Part


class AgreementFigure(Part, frozen=True, kw_only=True):
    """A figure with the ends of its 95% interval."""

    value: float | None
    low: float | None
    high: float | None


class JudgeDisagreement(Part, frozen=True, kw_only=True):
    """An answer that the judge and the person who labeled it call differently."""

    case_id: str
    human_right: bool
    judge_right: bool
    value: float | None
    """Credit by the judge, 0..1."""
    reason: str
    answer: str
    """Its first 400 characters."""


class JudgeCheckDocument(Document, frozen=True, kw_only=True, tag="agentbench.judge-check/1"):
    """What `agentbench judge check` prints."""

    judge: str
    """Name of the scorer."""
    answers: int
    """Labeled answers."""
    judged: int
    failed: int
    """Answers on which the judge failed; they are in no other figure."""
    failure: str | None
    """Why, for the first of them."""
    agreement: AgreementFigure
    """Share of answers on which judge and people agree."""
    kappa: AgreementFigure
    """Cohen's: agreement beyond chance; None where one of them calls every answer the same."""
    false_pass: AgreementFigure
    """Share of the answers that people call wrong which the judge calls right."""
    false_fail: AgreementFigure
    """Share of the answers that people call right which the judge calls wrong."""
    human_right: int
    judge_right: int
    both_right: int
    both_wrong: int
    disagreements: tuple[JudgeDisagreement, ...]
