"""The verdict on a comparison in words: who wins, or why there is no winner."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import UNSET

from agentbench_tui.contracts.compare import CompareDocument
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.comparison.wording import change
from agentbench_tui.presentation.full_report.parts import Outcome, Verdict
from agentbench_tui.presentation.numbers import measure_of
from agentbench_tui.verdicts.evidence.comparability import DISTURBED, depends_on_machine

if TYPE_CHECKING:
    from agentbench_tui.contracts.compare import ComparedMetric, CompareMatrixDocument, Pair

_OUTCOMES: dict[str, Outcome] = {
    "better": "good", "worse": "bad", "trade-off": "open", "tie": "open",
}  # fmt: skip
_MOST_NAMED = 3
"""Decided metrics that a verdict names; more are counted."""


def comparison_verdict(compared: CompareDocument | CompareMatrixDocument) -> Verdict:
    """Name the winner, or say why there is none, with the metrics that decide."""
    if not isinstance(compared, CompareDocument):
        winner = compared.overall.winner
        words = (
            f"No single winner among {counted(len(compared.sides), 'contender')}."
            if winner is None
            else f"{winner} is the best of {counted(len(compared.sides), 'contender')}."
        )
        by_pair = [pair_verdict(pair).words for pair in compared.matrix]
        outcome: Outcome = "open" if winner is None else "good"
        return Verdict(words, outcome, [*by_pair, *compared.recommendations])
    return pair_verdict(compared)


def pair_verdict(pair: Pair) -> Verdict:
    """Say what the metrics of one pair come to."""
    overall = pair.overall
    if pair.identical:
        return Verdict(
            f"A {pair.a}, B {pair.b}: {pair.identical}, so there is nothing to compare.", "open"
        )
    if not pair.metrics:
        return Verdict(
            f"Nothing to compare: {pair.a} and {pair.b} share no measured metric.", "open"
        )
    if pair.why_unranked:
        words = f"No winner can be named between {pair.a} and {pair.b}: {pair.why_unranked}."
        return Verdict(words, "open", advice(pair))
    verdict: Outcome = _OUTCOMES[overall.verdict]
    if overall.verdict in {"better", "worse"}:
        words = f"{pair.b} is {overall.verdict} than {pair.a}: {_outcomes(pair)}."
    elif overall.verdict == "trade-off":
        words = f"No winner, a trade-off: {pair.b} is {_outcomes(pair)}."
    elif overall.settled:
        verdict = "plain"
        words = f"{pair.a} and {pair.b} are equivalent: {pair.b} is {_outcomes(pair)}."
    elif overall.worse and not overall.better:
        # Neither a loss nor a gain elsewhere is excluded, so there is no winner.
        verdict = "bad"
        words = f"{pair.b} is {_outcomes(pair, than=pair.a)}."
    else:
        words = f"No winner yet between {pair.a} and {pair.b}: {pair.b} is {_outcomes(pair)}."
    decided = [one for one in pair.metrics if one.verdict in {"worse", "better"} and one.comparable]
    decided.sort(key=lambda one: one.verdict == "better")
    reasons = [_metric_words(pair, one) for one in decided]
    return Verdict(words, verdict, [*reasons, *advice(pair)])


def advice(pair: Pair) -> list[str]:
    """Return the recommendations as sentences; the name of a side keeps its spelling."""
    return [
        words
        if words.startswith((f"{pair.a} ", f"{pair.b} "))
        else f"{words[:1].upper()}{words[1:]}"
        for words in (one if one.endswith(".") else f"{one}." for one in pair.recommendations)
    ]


def _outcomes(pair: Pair, than: str = "") -> str:
    """Name the metrics that are decided, and count the others. `than`: what B is worse than, if
    the sentence does not name it yet.
    """
    overall = pair.overall
    counts = (
        (overall.better, "better"), (overall.worse, "worse"),
        (overall.equivalent, "equivalent"), (overall.inconclusive, "inconclusive"),
    )  # fmt: skip
    compared = {"worse": f"worse than {than}"} if than else {}
    named = [
        f"{compared.get(verdict, verdict)} in {_which(pair, verdict, n)}"
        for n, verdict in counts
        if n
    ]
    return ", ".join(named) or "not judged in any metric"


def _which(pair: Pair, verdict: str, count: int) -> str:
    """Name up to three better or worse metrics, or the only one of another verdict; else count."""
    compared = [one for one in pair.metrics if one.comparable]
    places = Counter(one.metric for one in compared)
    names = [
        *dict.fromkeys(
            one.metric
            + (f" on {one.benchmark_id}" if places[one.metric] > 1 else "")
            + (" (noisy)" if _is_disturbed(pair, one) else "")
            for one in compared
            if one.verdict == verdict
        )
    ]
    most = _MOST_NAMED if verdict in {"better", "worse"} else 1
    if 0 < len(names) <= most:
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return counted(count, "metric")


def _is_disturbed(pair: Pair, metric: ComparedMetric) -> bool:
    """Return whether the machine or the harness disturbed the times that a metric compares."""
    return depends_on_machine(metric.metric, ()) and any(
        one.what == DISTURBED
        for at in pair.benchmarks
        if metric.benchmark_id in {UNSET, at.benchmark_id}
        for one in at.differences
    )


def _metric_words(pair: Pair, one: ComparedMetric) -> str:
    show = measure_of(one.unit)
    where = "" if one.benchmark_id is UNSET else f" on {one.benchmark_id}"
    return (
        f"{pair.b} is {one.verdict} in {one.metric}{where}: {show(one.b)} against {show(one.a)} "
        f"({change(one)})."
    )
