"""One number for the state of the newest runs, and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agentbench_tui.analysis.runs.severity import BOUNDS
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.regression.finding import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.regression.finding import Finding
    from agentbench_tui.verdicts.regression.patterns import Pattern

Action = Literal["block", "re-run", "investigate", "accept as new baseline", "none"]


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice, and its reason."""

    action: Action
    reason: str


def dimension_of(metric: str) -> str:
    """Return the dimension of the overall score that a metric belongs to."""
    known = find_metric(metric)
    assert known is not None
    if known.unit == "tokens":
        return "efficiency"
    if known.unit == "USD":
        return "cost"
    if known.unit != "share":
        return "speed"
    return "reliability" if known.name in _OF_RELIABILITY else "accuracy"


_OF_RELIABILITY = {"reliability", "error_rate", "goodput_share", "sent_share"}


def weight_of(finding: Finding) -> float:
    """Return the weight of its dimension in the suite's overall score, as a share of all
    weights.
    """
    weights = finding.new[-1].weights
    total = sum(weights.values())
    return weights.get(dimension_of(finding.metric), 0.0) / total if total else 0.0


def health(findings: Sequence[Finding]) -> float | None:
    """Return 0 … 100 by the formula of `overall_health`; None if nothing could be judged."""
    losses: dict[Place, dict[str, float]] = {}
    weights: dict[Place, dict[str, float]] = {}
    for one in findings:
        if one.verdict in UNDECIDED:
            continue
        dimension = dimension_of(one.metric)
        loss = min(1.0, one.least_worsening / BOUNDS[one.scale.kind][1])
        of_place = losses.setdefault(one.place, {})
        of_place[dimension] = max(loss, of_place.get(dimension, 0.0))
        weights.setdefault(one.place, {})[dimension] = weight_of(one)
    if not losses:
        return None
    lost = [_weighted(of_place, weights[place]) for place, of_place in losses.items()]
    return 100 * (1 - sum(lost) / len(lost))


def _weighted(losses: Mapping[str, float], weights: Mapping[str, float]) -> float:
    total = sum(weights.values())
    if not total:
        return sum(losses.values()) / len(losses)
    return sum(loss * weights[dimension] for dimension, loss in losses.items()) / total


def advice(
    findings: Sequence[Finding],
    patterns: Sequence[Pattern],
    unmeasured: Sequence[str] = (),
    interrupted: str | None = None,
) -> Advice:
    """Return the advice for all findings together, with its reason.

    `unmeasured` are benchmarks that were measured before and are not now; `interrupted` is a newer
    run that did not finish.
    """
    worse = [one for one in findings if one.verdict == "regression"]
    if worse:
        return _about_regressions(worse, findings, patterns)
    suspects = [one for one in findings if one.verdict == "suspect"]
    if suspects:
        names = _names(suspects)
        if not any(one.is_decided_by_another_run for one in suspects):
            return Advice("re-run", f"{names}: {suspects[0].reason}")
        return Advice("re-run", f"{names}: outside what earlier runs predict; further runs decide "
                      "(--confirm)")  # fmt: skip
    undecided = [one for one in findings if one.verdict in UNDECIDED]
    if undecided:
        many = f"{len(undecided)} of {len(findings)} could not be judged"
        return Advice("re-run", f"{many}: {undecided[0].reason}")
    if interrupted is not None:
        return Advice(
            "re-run", f"the newest run was interrupted: `agentbench resume {interrupted}`"
        )
    if unmeasured:
        return Advice("re-run", f"nothing was measured of {_some(unmeasured)}")
    better = [one for one in findings if one.verdict == "improvement"]
    if better:
        return Advice("accept as new baseline", f"better, and nothing worse: {_names(better)}")
    return Advice("none", "no regression seen")


def _about_regressions(
    worse: Sequence[Finding], findings: Sequence[Finding], patterns: Sequence[Pattern]
) -> Advice:
    for pattern in patterns:
        if pattern.name == "host":
            return Advice("investigate", f"look at the machine first: {pattern.text}")
    trades = [one.text for one in patterns if one.name == "trade"]
    wanted = f"; if it is wanted, `agentbench baseline accept`: {trades[0]}" if trades else ""
    grave = [
        f"{severity}: {_names(found)}"
        for severity in ("critical", "major")
        if (found := [one for one in worse if one.severity == severity])
    ]
    answers = [one for one in worse if dimension_of(one.metric) in {"accuracy", "reliability"}]
    if grave:
        return Advice("block", f"{'; '.join(grave)}{wanted}")
    if answers:
        return Advice("block", f"fewer good answers: {_names(answers)}{wanted}")
    suspects = [one for one in findings if one.verdict == "suspect"]
    also = f"; {_names(suspects)} suspect" if suspects else ""
    return Advice("investigate", f"minor: {_names(worse)}{also}{wanted}")


def _names(findings: Sequence[Finding]) -> str:
    return _some([f"{one.metric} of {one.place.words}" for one in findings])


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown + (f" and {len(names) - 3} more" if names[3:] else "")
